// Starts the launcher on Linux, with a socket pair as its way to the broker.

import type { ChildProcess } from 'node:child_process';
import childProcess from 'node:child_process';
import { Socket } from 'node:net';

import { CordonError } from '../base/errors.js';
import type { AbsolutePath } from '../policy/paths.js';

/** The descriptor after standard input, output and error. */
const BROKER_FD = 3;

export interface SpawnOptions {
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly stdio?: 'inherit' | 'ignore';
}

export interface SpawnedLauncher {
  readonly child: ChildProcess;
  readonly socket: Socket;
}

/** A launcher that cannot be executed reports so by the child's `error` event; other failures throw CordonError. */
export function spawnLauncher(
  launcher: AbsolutePath,
  command: readonly string[],
  options: SpawnOptions,
): SpawnedLauncher {
  const stdio = options.stdio ?? 'inherit';
  const environment = options.environment ?? process.env;
  const child = childProcess.spawn(launcher, ['--', ...command], {
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
    env: { ...environment, CORDON_BROKER: `fd:${BROKER_FD}` },
    // Node makes a pipe(…) of its own from a socket pair, which is what the launcher wants.
    stdio: [stdio, stdio, stdio, 'pipe'],
  });
  const socket = child.stdio[BROKER_FD];
  if (socket instanceof Socket) return { child, socket };
  child.once('error', () => undefined); // the failure is told by the throw
  throw new CordonError('launcherFailed', `${launcher} could not be started`);
}

/** A launcher that finds its broker by itself: the window that its working directory belongs to. */
export function spawnUnderWindow(launcher: AbsolutePath, command: readonly string[]): ChildProcess {
  return childProcess.spawn(launcher, ['--', ...command], { stdio: 'inherit' });
}
