// A real ssh-agent and a real gpg-agent of the test's own, with one key each, and runs in which a program uses them.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { launch, planFor } from './launcherPeer.js';
import type { TestContext } from 'node:test';
import type { Ended, Frame } from './launcherPeer.js';

export interface AgentScene {
  readonly folder: string;
  readonly workspace: string;
  readonly socket: string;
  readonly environment: Readonly<Record<string, string>>;
  /** On the host. */
  host(command: readonly string[], input?: string): string;
  /** Inside, with that answer to every question. */
  inside(command: readonly string[], reply: (frame: Frame) => Frame | undefined): Promise<Ended>;
}

function createScene(
  t: TestContext,
  kind: 'ssh' | 'gpg',
  socketOf: (folder: string) => string,
): AgentScene {
  const folder = mkdtempSync(path.join(os.homedir(), 'a-'));
  const workspace = path.join(folder, 'ws');
  mkdirSync(workspace);
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const socket = socketOf(folder);
  const environment = { HOME: folder, PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
  return {
    folder,
    workspace,
    socket,
    environment,
    host(command, input = '') {
      const [program = '', ...args] = command;
      const result = spawnSync(program, args, {
        cwd: workspace,
        env: { ...environment, SSH_AUTH_SOCK: socket, GNUPGHOME: path.join(folder, 'gnupg') },
        input,
        encoding: 'utf8',
      });
      assert.equal(result.status, 0, `${command.join(' ')}: ${result.stderr}`);
      return result.stdout;
    },
    inside: (command, reply) =>
      launch(command, {
        cwd: workspace,
        plan: planFor(workspace, { sockets: { rules: [], agents: [{ kind, path: socket }] } }),
        environment: {
          ...environment,
          SSH_AUTH_SOCK: socket,
          GNUPGHOME: path.join(folder, 'gnupg'),
        },
        reply,
      }),
  };
}

export async function sshAgent(
  t: TestContext,
): Promise<AgentScene & { readonly fingerprint: string }> {
  const scene = createScene(t, 'ssh', (folder) => path.join(folder, 'agent.sock'));
  const agent = spawn('ssh-agent', ['-D', '-a', scene.socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => agent.kill());
  await new Promise((resolve) => agent.stdout.once('data', resolve));
  scene.host(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'ada@here', '-f', path.join(scene.folder, 'key')]); // prettier-ignore
  scene.host(['ssh-add', '-q', path.join(scene.folder, 'key')]);
  scene.host(['cp', path.join(scene.folder, 'key.pub'), scene.workspace]);
  const [, fingerprint = ''] = scene.host(['ssh-keygen', '-lf', 'key.pub']).split(' ');
  return { ...scene, fingerprint };
}

export function gpgAgent(t: TestContext): AgentScene & { readonly keygrip: string } {
  const scene = createScene(t, 'gpg', (folder) => path.join(folder, 'gnupg', 'S.gpg-agent'));
  mkdirSync(path.join(scene.folder, 'gnupg'), { mode: 0o700 });
  t.after(() =>
    spawnSync('gpgconf', ['--kill', 'all'], {
      env: { ...scene.environment, GNUPGHOME: path.join(scene.folder, 'gnupg') },
    }),
  );
  scene.host(['gpg', '--batch', '--quiet', '--passphrase', '', '--quick-gen-key', 'Ada <ada@example.com>', 'ed25519', 'sign']); // prettier-ignore
  scene.host(['gpgconf', '--launch', 'gpg-agent']);
  const keys = scene.host(['gpg', '--with-keygrip', '--with-colons', '-K']);
  const keygrip = /^grp:+([0-9A-F]{40}):/mu.exec(keys)?.[1] ?? '';
  return { ...scene, keygrip };
}

/** gpg keeps its own files in a copy: they are not what is tried here. */
export const gpg = (...words: readonly string[]): readonly string[] => [
  'sh', '-c',
  'cp -r "$GNUPGHOME" /tmp/gnupg; rm -f /tmp/gnupg/S.*; ln -s "$GNUPGHOME/S.gpg-agent" /tmp/gnupg/S.gpg-agent; ' +
  'export GNUPGHOME=/tmp/gnupg; "$@"', 'sh', ...words,
]; // prettier-ignore
