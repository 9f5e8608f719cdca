// What calls that change files cost, one by one and in programs that make thousands of them.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { measureInside } from './inside.js';
import type { Boundaries } from './inside.js';
import type { Row } from './rows.js';

const CALLS = ['open-to-read', 'open-existing', 'create', 'mkdir', 'rename', 'chmod'] as const;
const PACKAGES = 60;
const FILES_A_PACKAGE = 100;

export interface FileBenches {
  /** The program of calls.c, in the workspace. */
  readonly calls: string;
  readonly timer: string;
  readonly rounds: number;
}

/** Rows in milliseconds for a thousand calls: microseconds a call. */
export async function singleCalls(
  at: Boundaries,
  { calls, rounds }: FileBenches,
): Promise<Record<string, readonly Row[]>> {
  const folder = path.join(at.workspace, 'calls');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(at.workspace, '../outside'), '');
  const groups: Record<string, readonly Row[]> = {};
  for (const call of CALLS) {
    groups[`${call}, a thousand times`] = await measureInside(
      at,
      (label) => [calls, label, call, '3000', folder],
      rounds,
    );
  }
  groups['a call held and answered at once, a thousand times'] = await measureInside(
    at,
    (label) => [calls, label, 'open-outside', '200', at.workspace],
    rounds,
  );
  return groups;
}

/** A clone of the workspace's own repository, which has 5,000 files. */
export function clone(at: Boundaries, { timer, rounds }: FileBenches): Promise<readonly Row[]> {
  const script = 'git clone -q "file://$PWD" clones/$$';
  return measureInside(
    at,
    (label) => [timer, '1', label, 'sh', '-c', script],
    rounds,
    () => rmSync(path.join(at.workspace, 'clones'), { recursive: true, force: true }),
  );
}

/** Packages from archives in the workspace: what npm does with the disk, without a network. */
export async function install(
  at: Boundaries,
  { timer, rounds }: FileBenches,
): Promise<readonly Row[]> {
  makePackages(path.join(at.workspace, 'npm'));
  const script = 'cd npm && rm -rf node_modules && npm ci --offline --no-audit --no-fund --silent';
  return measureInside(at, (label) => [timer, '1', label, 'sh', '-c', script], rounds);
}

function makePackages(folder: string): void {
  const dependencies: Record<string, string> = {};
  for (let number = 0; number < PACKAGES; number += 1) {
    const name = `p${number}`;
    const source = path.join(folder, 'source', name, 'package');
    mkdirSync(source, { recursive: true });
    writeFileSync(path.join(source, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    for (let file = 1; file < FILES_A_PACKAGE; file += 1) {
      writeFileSync(path.join(source, `f${file}.js`), `module.exports = ${file};\n`.repeat(20));
    }
    const archive = path.join(folder, `${name}.tgz`);
    execFileSync('tar', ['-czf', archive, '-C', path.dirname(source), 'package']);
    dependencies[name] = `file:${name}.tgz`;
  }
  rmSync(path.join(folder, 'source'), { recursive: true });
  const project = { name: 'bench', version: '1.0.0', dependencies };
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(project));
  execFileSync('npm', ['install', '--package-lock-only', '--offline', '--silent'], { cwd: folder });
}
