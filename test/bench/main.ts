// `npm run bench [-- --json] [-- --quick]`: what a launch costs, what a command costs once it runs inside, and what gets
// out, against the bare system and against other sandboxes. Prints; decides nothing. Compare figures of one run only.

import { execFileSync, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { listen } from './broker.js';
import { attemptAll, escapeTable } from './escapes.js';
import { medians, table, type Row } from './rows.js';

const root = path.resolve(import.meta.dirname, '../..');
const launcher = path.join(root, 'dist/native', `linux-${process.arch}`, 'cordon-launch');
const cli = path.join(root, 'dist/cli.js');

type Command = readonly string[];

/** As much of a plan as is changed here. */
interface BenchPlan {
  readonly kind: string;
  readonly mounts: readonly { readonly op: string; readonly path: string }[];
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

function run(command: Command, cwd: string): Promise<string> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(output);
      else reject(new Error(`${command.join(' ')}: status ${status ?? 'none'}`));
    });
  });
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
  return { ...plan, kind: 'plan', mounts };
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
    Object.assign(groups, await wholeCommands(timer, workspace, ask.socket, quick ? 2 : 7));
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

/** Measured by a timer that runs inside, so that the launch is not in it; one round of each in turn. */
async function wholeCommands(
  timer: string,
  workspace: string,
  socket: string,
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
    const inner = (label: string): Command => [timer, '2', label, ...command];
    const labels = ['native', 'bwrap', 'launcher, network asked'] as const;
    let output = '';
    for (let round = 0; round < rounds; round += 1) {
      output += await run(inner(labels[0]), workspace);
      output += await run(bwrap(workspace, inner(labels[1])), workspace);
      output += await run(['env', ...launched(socket, inner(labels[2]))], workspace);
    }
    groups[name] = medians(output, labels);
  }
  return groups;
}

await main(process.argv.slice(2));
