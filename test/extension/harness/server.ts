// A VS Code server of one's own: fresh settings, extensions and user data in a scratch folder, ended as a whole.

import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { installCodeServer } from '../../setup/codeServer.mjs';
import { until } from './until.js';

export const ROOT = path.join(import.meta.dirname, '..', '..', '..');

/** A quiet workbench whose terminal is text in the page. */
const QUIET_SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden', // the Chat view would be open
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on', // screenshots would catch half-faded notifications
  'workbench.editor.useModal': 'off', // F1 does nothing in a modal editor
  'workbench.enableExperiments': false,
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'git.autofetch': false,
  'terminal.integrated.gpuAcceleration': 'off', // the DOM renderer: rows are text in .xterm-rows
  'remote.autoForwardPorts': false, // it would search /proc over and over
  'window.confirmBeforeClose': 'never',
};

export type Settings = Readonly<Record<string, unknown>>;

export interface ServerOptions {
  readonly settings?: Settings;
  /** Folders of unpacked extensions. */
  readonly extensions?: readonly string[];
  /** Packaged extensions, installed as a user would. */
  readonly packages?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** VS Code's own test mode (runs a mocha entry, shows no notification); see hostTests.ts. */
  readonly testMode?: boolean;
  /** Default: a free one. */
  readonly port?: number;
  /** Without one, everybody who reaches the port gets in. */
  readonly password?: string;
  /** Default: what installCodeServer says goes nowhere. */
  readonly say?: (line: string) => void;
}

export interface Server {
  readonly url: string;
  /** The scratch folder, which is also the server's HOME. */
  readonly home: string;
  /** An empty folder to open. */
  readonly workspace: string;
  readonly settingsFile: string;
  readonly log: string;
  /** Where XDG_RUNTIME_DIR points. */
  readonly runtime: string;
  /** The processes below the server whose command line holds this text. */
  processes(text: string): readonly number[];
  /** The user's settings; undefined at a moment when VS Code is writing them. */
  readSettings(): Readonly<Record<string, unknown>> | undefined;
  /** Settings of the machine; unlike the user's file, VS Code sees a change in it at once. */
  writeMachineSettings(values: Settings): void;
  /** Ends the server with all its processes and removes its folder. */
  stop(): Promise<void>;
}

export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const codeServer = installCodeServer(options.say);
  // Below the home folder, because /tmp is private inside the sandbox.
  const home = mkdtempSync(path.join(os.homedir(), '.cordon-window-'));
  const folder = (...names: readonly string[]): string => {
    const made = path.join(home, ...names);
    mkdirSync(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const userData = folder('user-data');
  const extensions = folder('extensions');
  const runtime = folder('runtime');
  const settingsFile = path.join(folder('user-data', 'User'), 'settings.json');
  writeFileSync(settingsFile, JSON.stringify({ ...QUIET_SETTINGS, ...options.settings }, null, 2));
  const config = path.join(home, 'code-server.yaml');
  writeFileSync(config, 'cert: false\n');
  for (const each of options.extensions ?? []) linkExtension(extensions, each);

  const environment: NodeJS.ProcessEnv = {
    ...withoutEditor(process.env),
    PATH: `${path.dirname(codeServer.node)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    SHELL: '/bin/bash',
    ...(options.password === undefined ? {} : { PASSWORD: options.password }),
    ...options.environment,
  };
  const entry = path.join(codeServer.folder, 'out', 'node', 'entry.js');
  const places = ['--config', config, '--user-data-dir', userData, '--extensions-dir', extensions];
  for (const each of options.packages ?? []) {
    execFileSync(codeServer.node, [entry, ...places, '--install-extension', each, '--force'], {
      env: environment,
      stdio: 'pipe',
    });
  }

  const port = options.port ?? (await freePort());
  const log = path.join(home, 'code-server.log');
  const output = openSync(log, 'a');
  const child = spawn(
    codeServer.node,
    [
      entry,
      ...places,
      ...['--bind-addr', `127.0.0.1:${port}`],
      ...['--auth', options.password === undefined ? 'none' : 'password'],
      ...['--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'],
      ...['--disable-getting-started-override', '--ignore-last-opened'],
      ...(options.testMode === true ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
    ],
    // A process group of its own, so that stop() ends the server with all its children and nothing else.
    { env: environment, stdio: ['ignore', output, output], detached: true, cwd: home },
  );
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  await until('the VS Code server', 30_000, async () => {
    if (child.exitCode !== null)
      throw new Error(`the VS Code server ended:\n${readFileSync(log, 'utf8')}`);
    return isAnswering(`${url}/healthz`);
  });
  return {
    url,
    home,
    workspace: folder('workspace'),
    settingsFile,
    log,
    runtime,
    processes: (text) =>
      descendants(child.pid ?? 0).filter((pid) => commandLineOf(pid).includes(text)),
    readSettings: () => parseWhole(readFileSync(settingsFile, 'utf8')),
    writeMachineSettings(values) {
      const file = path.join(folder('user-data', 'Machine'), 'settings.json');
      writeFileSync(file, JSON.stringify(values, null, 2));
    },
    async stop() {
      await endGroup(child);
      // overlayfs leaves a working folder without any permission, which its owner must open before removing it.
      execFileSync('chmod', ['-R', 'u+rwX', home]);
      rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** The address of a folder's workbench. `payload` is VS Code's own: pairs such as extensionTestsPath. */
export function workbenchUrl(
  server: Pick<Server, 'url'>,
  folder: string | undefined,
  payload?: readonly (readonly [string, string])[],
): string {
  const query = new URLSearchParams();
  if (folder !== undefined) query.set('folder', folder);
  if (payload !== undefined) query.set('payload', JSON.stringify(payload));
  return `${server.url}/?${query.toString()}`;
}

/** The extension as a user gets it: its manifest, bundle, launcher and pictures, without the rest of the tree. */
export function stageExtension(target: string): string {
  const staged = path.join(target, 'cordon');
  mkdirSync(staged, { recursive: true });
  for (const name of ['package.json', 'dist', 'media']) {
    cpSync(path.join(ROOT, name), path.join(staged, name), { recursive: true });
  }
  return staged;
}

function linkExtension(extensions: string, folder: string): void {
  const manifest = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    readonly publisher: string;
    readonly name: string;
    readonly version: string;
  };
  const name = `${manifest.publisher}.${manifest.name}-${manifest.version}`;
  symlinkSync(path.resolve(folder), path.join(extensions, name));
}

/** The environment without what an editor around this process left in it. */
function withoutEditor(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) =>
        !/^(VSCODE|CODE_SERVER|CORDON|ELECTRON|XDG|NODE_TEST|TSX)_/.test(name) &&
        name !== 'NODE_OPTIONS',
    ),
  );
}

function parseWhole(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // half written
    throw error;
  }
}

/** All processes below one, by /proc (proc_pid_stat(5)). */
function descendants(root: number): readonly number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const);
  const below = (pid: number): readonly number[] =>
    parents.filter(([, parent]) => parent === pid).flatMap(([child]) => [child, ...below(child)]);
  return below(root);
}

function parentOf(pid: number): number {
  // The name in parentheses may hold anything, so count from its end.
  const stat = readProc(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
}

function commandLineOf(pid: number): string {
  return readProc(pid, 'cmdline');
}

/** Empty when the process is gone. */
function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** A port that nothing listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'));
        else resolve(address.port);
      });
    });
  });
}

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch (error) {
    if (error instanceof TypeError) return false; // fetch's word for "not yet listening"
    throw error;
  }
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<boolean>((resolve) => child.once('exit', () => resolve(true)));
  process.kill(-child.pid, 'SIGTERM');
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 8000).unref());
  if (await Promise.race([ended, late])) return;
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}
