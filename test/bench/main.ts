// `npm run bench [-- --json] [-- --quick]`: what a launch costs, what a command costs once it runs inside, and what gets
// out, against the bare system and against other sandboxes. Prints; decides nothing. Compare figures of one run only.

import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { listen } from './broker.js';
import { run } from './command.js';
import type { Command } from './command.js';
import { attemptAll, escapeTable } from './escapes.js';
import { clone, install, singleCalls } from './files.js';
import type { FileBenches } from './files.js';
import { measureInside } from './inside.js';
import type { Boundaries } from './inside.js';
import { medians, table, type Row } from './rows.js';

const root = path.resolve(import.meta.dirname, '../..');
const launcher = path.join(root, 'dist/native', `linux-${process.arch}`, 'cordon-launch');
const cli = path.join(root, 'dist/cli.js');

/** As much of a plan as is changed here. */
interface BenchPlan {
  readonly kind: string;
  readonly mounts: readonly { readonly op: string; readonly path: string }[];
  readonly files: { readonly git: string };
}

/** Label → command; the first is what the others are compared with. */
type Rows = Readonly<Record<string, Command>>;

async function time(
  timer: string,
  rounds: number,
  rows: Rows,
  cwd: string,
): Promise<readonly Row[]> {
  const args = Object.entries(rows).flatMap(([label, command], at) => [
    ...(at === 0 ? [] : ['---']),
    label,
    ...command,
  ]);
  return medians(await run([timer, String(rounds), ...args], cwd), Object.keys(rows));
}

function isOnPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => {
    try {
      accessSync(path.join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false; // not in this folder
    }
  });
}

function whenFound(name: string, command: Command): Rows {
  return isOnPath(name) ? { [name]: command } : {};
}

function bwrap(workspace: string, command: Command): Command {
  return [
    ...['bwrap', '--ro-bind', '/', '/', '--bind', workspace, workspace, '--dev', '/dev'],
    ...['--proc', '/proc', '--unshare-all', '--die-with-parent', ...command],
  ];
}

/** What a command through the launcher looks like with that broker. */
function launched(socket: string, command: Command): Command {
  return [`CORDON_BROKER=${socket}`, launcher, '--', ...command];
}

function makeWorkspace(workspace: string): void {
  mkdirSync(path.join(workspace, 'c'), { recursive: true });
  for (let folder = 0; folder < 50; folder += 1) {
    const name = path.join(workspace, `tree/d${folder}`);
    mkdirSync(name, { recursive: true });
    for (let file = 0; file < 100; file += 1) {
      writeFileSync(path.join(name, `f${file}.txt`), `${folder} ${file}\n`);
    }
    writeFileSync(
      path.join(workspace, `c/f${folder}.c`),
      `#include <stdio.h>\n#include <stdlib.h>\nint f${folder}(int n) { return printf("%d", abs(n)); }\n`,
    );
  }
  const git = (...args: Command) => execFileSync('git', args, { cwd: workspace, stdio: 'ignore' });
  git('init', '--quiet');
  git('add', 'tree');
  git('-c', 'user.name=b', '-c', 'user.email=b@localhost', 'commit', '--quiet', '-m', 'bench');
}

/** What `cordon run` would send here, with private layers that are new, made below `layers`. */
function planFor(workspace: string, network: string, layers: string): BenchPlan {
  const text = execFileSync(
    process.execPath,
    [cli, 'plan', '--json', '--root', workspace, '--network', network],
    { cwd: workspace, encoding: 'utf8' },
  );
  const plan = JSON.parse(text) as BenchPlan;
  const folder = (...names: readonly string[]): string => {
    const made = path.join(layers, network, ...names);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const mounts = plan.mounts.map((mount, at) => {
    if (mount.op === 'writable') mkdirSync(mount.path, { recursive: true });
    return mount.op === 'copyOnWrite'
      ? { ...mount, upper: folder(`${at}`, 'upper'), work: folder(`${at}`, 'work') }
      : mount;
  });
  return { ...plan, kind: 'plan', mounts, files: { ...plan.files, git: 'allow' } };
}

function withoutLayers(plan: BenchPlan): BenchPlan {
  return { ...plan, mounts: plan.mounts.filter(({ op }) => op !== 'copyOnWrite') };
}

async function main(args: readonly string[]): Promise<void> {
  const quick = args.includes('--quick');
  const place = mkdtempSync(path.join(os.tmpdir(), 'bench-'));
  const workspace = path.join(place, 'ws');
  const timer = path.join(workspace, 'timer');
  makeWorkspace(workspace);
  execFileSync('gcc', ['-O2', '-o', timer, path.join(import.meta.dirname, 'timer.c')]);
  const layers = path.join(place, 'layers');
  const askPlan = planFor(workspace, 'ask', layers);
  const ask = await listen(path.join(place, 'ask'), askPlan);
  const bare = await listen(path.join(place, 'bare'), withoutLayers(askPlan));
  const off = await listen(path.join(place, 'off'), planFor(workspace, 'off', layers));
  try {
    const groups: Record<string, readonly Row[]> = {};
    groups['launch of true'] = await time(
      timer,
      quick ? 20 : 200,
      {
        bwrap: bwrap(workspace, ['true']),
        native: ['true'],
        'launcher, network off': launched(off.socket, ['true']),
        'launcher, network asked': launched(ask.socket, ['true']),
        'the same, caches not private': launched(bare.socket, ['true']),
        ...whenFound('codex', ['codex', 'sandbox', 'linux', 'true']),
        ...whenFound('srt', ['srt', 'true']),
      },
      workspace,
    );
    groups['launch through Node'] = await time(
      timer,
      quick ? 5 : 40,
      {
        'node -e 0': [process.execPath, '-e', '0'],
        'cordon --version': [process.execPath, cli, '--version'],
        'cordon run -- true': [process.execPath, cli, 'run', '--', 'true'],
      },
      workspace,
    );
    const at = boundaries(workspace, ask.socket);
    Object.assign(groups, await wholeCommands(at, timer, quick ? 2 : 7));
    Object.assign(groups, await fileCosts(at, timer, quick ? 2 : 7));
    const attempts = quick ? [] : await attemptAll();
    const machine = { kernel: os.release(), cpus: os.cpus().length, node: process.version };
    const text = args.includes('--json')
      ? JSON.stringify({ machine, load: os.loadavg()[0], groups, attempts }, null, 2)
      : [table(groups), ...(quick ? [] : [escapeTable(attempts)])].join('\n\n');
    console.log(text);
  } finally {
    for (const broker of [off, ask, bare]) broker.close();
    rmSync(place, { recursive: true, force: true });
  }
}

function boundaries(workspace: string, socket: string): Boundaries {
  return {
    workspace,
    bwrap: (command) => bwrap(workspace, command),
    launcher: (command) => ['env', ...launched(socket, command)],
  };
}

/** Programs that write: on disk, and in memory where run.mjs could mount some. */
async function fileCosts(
  at: Boundaries,
  timer: string,
  rounds: number,
): Promise<Record<string, readonly Row[]>> {
  const calls = path.join(at.workspace, 'call');
  execFileSync('gcc', ['-O2', '-o', calls, path.join(import.meta.dirname, 'calls.c')]);
  const benches = { calls, timer, rounds };
  return {
    ...(await singleCalls(at, benches)),
    'git clone, 5000 files, on disk': await clone(at, benches),
    ...(await inMemory(benches)),
    'npm ci, 6000 files': await install(at, benches),
  };
}

async function inMemory({ timer, ...rest }: FileBenches): Promise<Record<string, readonly Row[]>> {
  const memory = path.join(os.tmpdir(), 'memory');
  if (!existsSync(memory)) return {};
  const workspace = path.join(memory, 'ws');
  makeWorkspace(workspace);
  const plan = planFor(workspace, 'ask', path.join(memory, 'layers'));
  const broker = await listen(path.join(memory, 'broker'), withoutLayers(plan));
  try {
    const own = path.join(workspace, 'timer');
    copyFileSync(timer, own);
    const at = boundaries(workspace, broker.socket);
    return { 'git clone, 5000 files, in memory': await clone(at, { ...rest, timer: own }) };
  } finally {
    broker.close();
  }
}

/** Programs that read, or compile. */
async function wholeCommands(
  at: Boundaries,
  timer: string,
  rounds: number,
): Promise<Record<string, readonly Row[]>> {
  const search = isOnPath('rg') ? ['rg', '-c', 'struct'] : ['grep', '-rc', 'struct'];
  const commands: Rows = {
    [`${search[0] ?? ''} over /usr/include`]: [...search, '/usr/include'],
    'git status, 5000 files': ['git', '--no-optional-locks', 'status', '--short'],
    'gcc, 50 files': ['sh', '-c', 'cd c && gcc -c *.c'],
  };
  const groups: Record<string, readonly Row[]> = {};
  for (const [name, command] of Object.entries(commands)) {
    groups[name] = await measureInside(at, (label) => [timer, '2', label, ...command], rounds);
  }
  return groups;
}

await main(process.argv.slice(2));
