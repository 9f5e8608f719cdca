// A place to run `cordon` in, for tests of guarantees: a home, a repository as workspace and a folder outside, on the
// host's disk, and the commands to run there. It must not look inside Cordon: what it knows is the command line.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ChildProcess } from 'node:child_process';

const repository = path.resolve(import.meta.dirname, '../..');
const cli = path.join(repository, 'dist/cli.js');

export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Default: the workspace. */
  readonly cwd?: string;
  /** On top of the place's own; `undefined` removes a variable. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly timeoutMs?: number;
}

/** The words that run `command` inside, from any folder. */
export function cordonCommand(
  flags: readonly string[],
  command: readonly string[],
): readonly string[] {
  return [process.execPath, cli, 'run', ...flags, '--', ...command];
}

/** What a place needs of node:test: something to end it with the test. */
interface Owner {
  after(end: () => void): void;
}

export interface Place {
  /** Holds everything else; not below /tmp, which is private inside. */
  readonly folder: string;
  /** $HOME of everything that runs here. */
  readonly home: string;
  /** A git repository with one commit, below the home. */
  readonly workspace: string;
  /** A folder of the user's beside the workspace, with one `file` in it. */
  readonly outside: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Calls when the place ends, last added first, while the folder is still there. */
  atEnd(end: () => void): void;
  /** `cordon run FLAGS -- COMMAND`, to its end. */
  cordon(
    flags: readonly string[],
    command: readonly string[],
    options?: CommandOptions,
  ): Promise<Finished>;
  /** `cordon WORDS`, to its end. */
  face(words: readonly string[], options?: CommandOptions): Promise<Finished>;
  /** A command on the host, to its end. */
  host(command: readonly string[], options?: CommandOptions): Promise<Finished>;
  /** Starts `cordon run …` and leaves it running; its end belongs to the test. */
  start(flags: readonly string[], command: readonly string[], options?: CommandOptions): Started;
}

export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** Standard output so far holds `text`; rejects when the command ends before. */
  said(text: string): Promise<void>;
}

/** Makes a place that ends with the test. */
export function createPlace(owner: Owner): Place {
  const scratch = path.join(os.homedir(), '.cache', 'cordon-test');
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(path.join(scratch, 'place-'));
  const ends: (() => void)[] = [
    // what was killed a moment ago may still be writing
    () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  ];
  owner.after(() => {
    for (const end of ends.reverse()) end();
  });
  const home = path.join(folder, 'home');
  const workspace = path.join(home, 'workspace');
  const outside = path.join(home, 'outside');
  for (const each of [workspace, outside, path.dirname(path.join(home, OWN_STATE))]) {
    mkdirSync(each, { recursive: true });
  }
  writeFileSync(path.join(outside, 'file'), 'original\n');
  const environment = placeEnvironment(folder, home);
  git(workspace, environment, ['init', '-q', '-b', 'main']);
  git(workspace, environment, ['commit', '-q', '--allow-empty', '-m', 'Begin']);

  const start = (argv: readonly string[], options: CommandOptions = {}): Started =>
    startCommand(argv, { cwd: workspace, ...options }, environment);
  return {
    folder,
    home,
    workspace,
    outside,
    environment,
    atEnd: (end) => ends.push(end),
    cordon: (flags, command, options) => start(cordonCommand(flags, command), options).finished,
    face: (words, options) => start([process.execPath, cli, ...words], options).finished,
    host: (command, options) => start(command, options).finished,
    start: (flags, command, options) => start(cordonCommand(flags, command), options),
  };
}

function placeEnvironment(folder: string, home: string): Readonly<Record<string, string>> {
  const runtime = path.join(folder, 'runtime');
  mkdirSync(runtime, { mode: 0o700 });
  return {
    PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    USER: os.userInfo().username,
    LANG: 'C.UTF-8',
    HISTFILE: '/dev/null',
    XDG_RUNTIME_DIR: runtime,
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };
}

function git(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): void {
  const result = spawnSync('git', args, { cwd, env, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
}

function startCommand(
  argv: readonly string[],
  options: CommandOptions,
  environment: Readonly<Record<string, string>>,
): Started {
  const [program, ...args] = argv;
  if (program === undefined) throw new Error('no command');
  if (argv.includes(cli) && !existsSync(cli)) throw new Error(`${cli} is missing: npm run build`);
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...environment, ...options.environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 60_000,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined); // the command need not read it: EPIPE
  child.stdin.end(options.input ?? '');
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout, stderr });
    });
  });
  return {
    child,
    finished,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!stdout.includes(text)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        finished.then(
          (end) => reject(new Error(`ended without saying ${text}: ${JSON.stringify(end)}`)),
          reject,
        );
      }),
  };
}

/** Cordon's own record and caches, which a run may write. */
const OWN_STATE = '.local/state/cordon';

/**
 * Everything below a folder but Cordon's own state, as text lines: a change of name, kind, mode, content or link target
 * shows.
 */
export function snapshot(folder: string): readonly string[] {
  const lines: string[] = [];
  const visit = (relative: string): void => {
    const full = path.join(folder, relative);
    const stat = lstatSync(full);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isDirectory()) {
      lines.push(`${relative}/ ${mode}`);
      for (const name of readdirSync(full).sort()) {
        const below = path.join(relative, name);
        if (!below.endsWith(OWN_STATE)) visit(below);
      }
    } else if (stat.isSymbolicLink()) lines.push(`${relative} -> ${readlinkSync(full)}`);
    else if (stat.isFile()) lines.push(`${relative} ${mode} ${digest(readFileSync(full))}`);
    else lines.push(`${relative} special ${mode}`);
  };
  visit('.');
  return lines;
}

/** What is different now, one line each: `+ name …` came, `- name …` went. */
export function changes(folder: string, before: readonly string[]): readonly string[] {
  const after = snapshot(folder);
  return [
    ...before.filter((line) => !after.includes(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `+ ${line}`),
  ];
}

function digest(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

/** Compiles test/sandbox/NAME.c once for this source; returns the program's path. */
export function compiled(name: string): string {
  const source = path.join(repository, 'test/sandbox', `${name}.c`);
  const folder = path.join(os.homedir(), '.cache', 'cordon-test', 'bin');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sources = [source, path.join(path.dirname(source), 'attempts.h')];
  const version = digest(Buffer.concat(sources.map((file) => readFileSync(file))));
  const program = path.join(folder, `${name}-${version}`);
  if (existsSync(program)) return program;
  const fresh = `${program}.${process.pid}`;
  const result = spawnSync(
    'gcc',
    ['-std=gnu17', '-O1', '-Wall', '-Werror', '-pthread', '-o', fresh, source],
    {
      encoding: 'utf8',
    },
  );
  if (result.status !== 0) throw new Error(`gcc ${source}: ${result.stderr}`);
  renameSync(fresh, program); // another test file may be compiling it too
  return program;
}
