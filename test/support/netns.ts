// A world for network tests: user, network and mount namespaces of our own with servers under public-looking addresses
// (servers.ts). To a sandbox started in it this is the host. Needs no root, and nothing in it can reach the outside.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createDeferred } from '../../src/base/deferred.js';
import type { Deferred } from '../../src/base/deferred.js';
import { script } from './programs.js';
import { cordonCommand } from './sandbox.js';
import type { CommandOptions, Finished } from './sandbox.js';
import type { Answers, Command, Report, Seen } from './worldMessages.js';

export const REPOSITORY = path.resolve(import.meta.dirname, '../..');

/** Set to see the tests of a guarantee fail: every command then runs without Cordon. */
const UNPROTECTED = process.env['CORDON_TEST_UNPROTECTED'] !== undefined;

export interface Running {
  /** On the real host too: there is no pid namespace around the world. */
  readonly pid: number;
  readonly finished: Promise<Finished>;
}

export interface Answered extends Finished {
  /** How often the terminal asked. */
  readonly questions: number;
}

export interface World {
  /** Holds all of it; removed by `close`. Outside every writable root of a run. */
  readonly folder: string;
  /** Where commands start, and the root of `cordon`. */
  readonly workspace: string;
  readonly home: string;
  /** PEM file of the servers' authority; the usual variables point at it. */
  readonly authority: string;
  run(argv: readonly string[], options?: CommandOptions): Promise<Finished>;
  start(argv: readonly string[], options?: CommandOptions): Promise<Running>;
  /** `cordon run FLAGS -- COMMAND`. */
  cordon(
    flags: readonly string[],
    command: readonly string[],
    options?: CommandOptions,
  ): Promise<Finished>;
  startCordon(
    flags: readonly string[],
    command: readonly string[],
    options?: CommandOptions,
  ): Promise<Running>;
  /** `cordon run --ask tty FLAGS -- COMMAND` on a terminal where every question gets `answer`, `delay` seconds later. */
  answering(
    answer: 'o' | 'r' | 's' | 'a' | 'd' | '-',
    delay: number,
    flags: readonly string[],
    command: readonly string[],
    options?: CommandOptions,
  ): Promise<Answered>;
  /** Says what a name resolves to from now on. */
  resolve(name: string, answers: Answers): Promise<void>;
  seen(): Promise<Seen>;
  /** Empties the servers' notebook. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

function commandFor(flags: readonly string[], command: readonly string[]): readonly string[] {
  return UNPROTECTED ? command : cordonCommand(flags, command);
}

function environment(home: string, runtime: string, authority: string): Record<string, string> {
  const trust = [
    'SSL_CERT_FILE',
    'CURL_CA_BUNDLE',
    'GIT_SSL_CAINFO',
    'NODE_EXTRA_CA_CERTS',
    'REQUESTS_CA_BUNDLE',
    'PIP_CERT',
    'npm_config_cafile',
  ];
  return {
    PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
    HOME: home,
    USER: os.userInfo().username,
    LANG: 'C.UTF-8',
    XDG_RUNTIME_DIR: runtime,
    npm_config_update_notifier: 'false',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    ...Object.fromEntries(trust.map((name) => [name, authority])),
  };
}

/** What the agent says, as promises. */
function createLine(agent: ReturnType<typeof spawn>) {
  const up = createDeferred<undefined>();
  const calls = new Map<number, Deferred<Report>>();
  const runs = new Map<number, Deferred<Finished>>();
  let last = 0;

  agent.on('message', (report: Report) => {
    switch (report.kind) {
      case 'up':
        up.resolve(undefined);
        return;
      case 'finished':
        runs.get(report.run)?.resolve(report.finished);
        runs.delete(report.run);
        return;
      case 'started':
      case 'done':
      case 'seen':
      case 'failed':
        calls.get(report.id)?.resolve(report);
        calls.delete(report.id);
    }
  });
  agent.on('exit', (code) => {
    const gone = new Error(`the world ended with ${code ?? 'a signal'}`);
    for (const waiting of [up, ...calls.values(), ...runs.values()]) waiting.reject(gone);
  });

  return {
    up: up.promise,
    nextRun(): { readonly run: number; readonly finished: Promise<Finished> } {
      last += 1;
      const deferred = createDeferred<Finished>();
      deferred.promise.catch(() => undefined); // reported to whoever awaits the run
      runs.set(last, deferred);
      return { run: last, finished: deferred.promise };
    },
    async call(command: Command): Promise<Report> {
      last += 1;
      const deferred = createDeferred<Report>();
      calls.set(last, deferred);
      agent.send({ id: last, command });
      const report = await deferred.promise;
      if (report.kind === 'failed') throw new Error(report.message);
      return report;
    },
  };
}

export async function createWorld(): Promise<World> {
  if (!UNPROTECTED && !existsSync(path.join(REPOSITORY, 'dist/cli.js'))) {
    throw new Error('dist/cli.js is missing: npm run build');
  }
  // below the home folder, because /tmp is private inside a run
  const folder = await mkdtemp(path.join(os.homedir(), 'cordon-world-'));
  const at = (name: string) => path.join(folder, name);
  for (const name of ['workspace', 'home', 'runtime']) await mkdir(at(name), { mode: 0o700 });
  const { uid, gid } = os.userInfo();
  const agent = spawn(
    'unshare',
    ['--user', '--map-root-user', '--net', '--mount', '--', process.execPath, '--import', 'tsx',
      path.join(import.meta.dirname, 'netnsAgent.ts'), folder, `${uid}`, `${gid}`], // prettier-ignore
    { cwd: REPOSITORY, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const line = createLine(agent);
  const authority = at('content/ca.pem');
  const base = environment(at('home'), at('runtime'), authority);

  const world: World = {
    folder,
    workspace: at('workspace'),
    home: at('home'),
    authority,
    async start(argv, options = {}) {
      const { run, finished } = line.nextRun();
      const merged = Object.entries({ ...base, ...options.environment });
      const report = await line.call({
        kind: 'start',
        run,
        argv,
        cwd: options.cwd ?? at('workspace'),
        environment: Object.fromEntries(
          merged.filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
        input: options.input ?? '',
        timeoutMs: options.timeoutMs ?? 30_000,
      });
      if (report.kind !== 'started') throw new Error(`unexpected report ${report.kind}`);
      return { pid: report.pid, finished };
    },
    run: async (argv, options) => (await world.start(argv, options)).finished,
    cordon: (flags, command, options) => world.run(commandFor(flags, command), options),
    startCordon: (flags, command, options) => world.start(commandFor(flags, command), options),
    async answering(answer, delay, flags, command, options) {
      const person = ['/usr/bin/python3', script('answer.py'), answer, `${delay}`];
      const argv = [...person, ...commandFor(['--ask', 'tty', ...flags], command)];
      const finished = await world.run(argv, options);
      const questions = /^questions (\d+)$/mu.exec(finished.stderr)?.[1];
      return { ...finished, questions: Number(questions) };
    },
    async resolve(name, answers) {
      await line.call({ kind: 'zone', name, answers });
    },
    async seen() {
      const report = await line.call({ kind: 'seen' });
      if (report.kind !== 'seen') throw new Error(`unexpected report ${report.kind}`);
      return report.seen;
    },
    async forget() {
      await line.call({ kind: 'forget' });
    },
    async close() {
      if (agent.exitCode === null && agent.signalCode === null) {
        const ended = once(agent, 'exit');
        agent.disconnect();
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await line.up;
  } catch (error) {
    await world.close();
    throw error;
  }
  return world;
}
