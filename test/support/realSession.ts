// A session in this process with the real launcher, in a folder on the host's disk: the test is the person who is asked,
// and types into shells that run inside.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { AbsolutePath } from '../../src/policy/paths.js';
import { parseLayerValue, resolveLayers } from '../../src/session/layers.js';
import type { Session, SessionNotice, SessionOptions } from '../../src/session/session.js';
import { createSession } from '../../src/session/session.js';
import type { Answer } from '../../src/broker/prompter.js';
import type { FakePrompter } from './fakePrompter.js';
import { createFakePrompter } from './fakePrompter.js';

export const dist = path.resolve(import.meta.dirname, '../../dist') as AbsolutePath;
export const program = path.join('native', `${process.platform}-${process.arch}`, 'cordon-launch');

export type AnswerKind = Answer['kind'];

type Test = { after(call: () => Promise<void> | void): void };

export interface RealPlace {
  readonly folder: AbsolutePath;
  readonly workspace: AbsolutePath;
  readonly state: AbsolutePath;
  readonly runtime: AbsolutePath;
  /** Of a launcher that looks for its broker by itself. */
  readonly environment: NodeJS.ProcessEnv;
}

/** Not in the temporary folder, which is private in the sandbox. */
export function createRealPlace(t: Test): RealPlace {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.homedir(), 'session-')));
  t.after(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const at = (name: string): AbsolutePath => path.join(folder, name) as AbsolutePath;
  for (const name of ['ws', 'state', 'run']) fs.mkdirSync(at(name), { mode: 0o700 });
  return {
    folder: folder as AbsolutePath,
    workspace: at('ws'),
    state: at('state'),
    runtime: path.join(at('run'), 'cordon') as AbsolutePath,
    environment: { PATH: process.env['PATH'], HOME: os.homedir(), XDG_RUNTIME_DIR: at('run') },
  };
}

export interface RealSession {
  readonly session: Session;
  readonly prompter: FakePrompter;
  readonly notices: readonly SessionNotice[];
}

export async function openRealSession(
  t: Test,
  place: RealPlace,
  options: Partial<SessionOptions> & { readonly settings?: object } = {},
): Promise<RealSession> {
  const { settings = {}, ...rest } = options;
  const prompter = createFakePrompter();
  const notices: SessionNotice[] = [];
  const written = { network: { mode: 'ask' }, filesystem: { caches: 'off' }, ...settings };
  const session = await createSession({
    policyFor: () =>
      resolveLayers([parseLayerValue({ kind: 'user', file: '/settings.json' }, written)], {
        home: os.homedir() as AbsolutePath,
        uid: os.userInfo().uid,
        roots: [place.workspace],
        state: place.state,
        own: [],
      }),
    roots: [place.workspace],
    prompter,
    wording: { howToAllow: () => '' },
    notices: (notice) => notices.push(notice),
    state: place.state,
    runtime: place.runtime,
    dist,
    brokerLoss: 'wait',
    ...rest,
  });
  t.after(() => session.close());
  return { session, prompter, notices };
}

export interface Shell {
  readonly pid: number;
  /** Runs a line to its end; gives its exit code and all that it printed. */
  run(line: string): Promise<{ readonly code: number; readonly output: string }>;
  /** Types a line and does not wait. */
  type(line: string): void;
  close(): Promise<void>;
}

/** A shell inside, of a run of its own that finds the session of its folder. */
export function openShell(t: Test, place: RealPlace, command: readonly string[] = ['bash']): Shell {
  const child = spawn(path.join(dist, program), ['--', ...command], {
    cwd: place.workspace,
    env: place.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  let look: (() => void) | undefined;
  const take = (text: string): void => {
    printed += text;
    look?.();
  };
  child.stdout.setEncoding('utf8').on('data', take);
  child.stderr.setEncoding('utf8').on('data', take);
  child.stdin.on('error', () => undefined); // the shell may have ended
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      resolve();
    });
  });
  let count = 0;
  const close = async (): Promise<void> => {
    child.stdin.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  };
  t.after(close);
  return {
    pid: child.pid ?? 0,
    type(line) {
      child.stdin.write(`${line}\n`);
    },
    run(line) {
      count += 1;
      const mark = `--${count}-done:`;
      const from = printed.length;
      child.stdin.write(`${line}\necho "${mark}$?."\n`);
      return new Promise((resolve, reject) => {
        look = () => {
          const found = new RegExp(`${mark}(\\d+)\\.`, 'u').exec(printed.slice(from));
          if (found === null) return;
          look = undefined;
          resolve({ code: Number(found[1]), output: printed.slice(from, from + found.index) });
        };
        look();
        void ended.then(() => {
          reject(new Error(`the shell ended: ${printed.slice(from)}`));
        });
      });
    },
    close,
  };
}
