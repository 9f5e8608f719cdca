// Folders for the copy-on-write layers of a run. A workspace keeps its layers, so that caches stay warm; two runs at once
// never share one, because overlayfs forbids it. A layer belongs to the launcher whose pid stands in its lock.
//
// Layers are mounted without being synced to disk (native/PROTOCOL.md, "copyOnWrite"), so what an earlier boot of the
// machine left may be damaged: it is thrown away.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import type { AbsolutePath } from '../policy/paths.js';

/** More runs than this at once in one workspace each get a layer that starts empty. */
const MAX_SLOTS = 1000;

/** Claims a folder for the run of this launcher; the claim ends with the process. */
export function claimLayer(state: AbsolutePath, workspace: string, launcher: number): AbsolutePath {
  const { createHash } = process.getBuiltinModule('node:crypto'); // not loaded before the launcher starts
  const name = createHash('sha256').update(workspace).digest('hex').slice(0, 16);
  const folder = path.join(state, 'caches', name);
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (let slot = 0; slot < MAX_SLOTS; slot += 1) {
    const layer = path.join(folder, String(slot));
    if (claim(`${layer}.lock`, `${launcher} ${startTime(launcher) ?? ''}`)) {
      throwAwayFromEarlierBoot(layer);
      return layer as AbsolutePath;
    }
  }
  throw new Error(`${folder}: more than ${MAX_SLOTS} layers are in use`);
}

function throwAwayFromEarlierBoot(layer: string): void {
  const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8');
  const mark = path.join(layer, 'boot');
  if (fs.existsSync(layer)) {
    if (fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === boot) return;
    removeBehind(layer);
  }
  fs.mkdirSync(layer, { mode: 0o700 });
  fs.writeFileSync(mark, boot, { mode: 0o600 });
}

/**
 * Takes a folder out of the way at once and removes it in the background: it may be large. With chmod first, because tools
 * and overlayfs leave folders that even their owner may not change.
 */
function removeBehind(folder: string): void {
  fs.renameSync(folder, `${folder}.old-${process.pid}`);
  const parent = path.dirname(folder);
  const old = fs.readdirSync(parent).filter((name) => name.includes('.old-'));
  const script = 'chmod -R u+rwX -- "$@"; rm -rf -- "$@"';
  const names = old.map((name) => path.join(parent, name));
  spawn('/bin/sh', ['-c', script, 'sh', ...names], { detached: true, stdio: 'ignore' })
    .on('error', () => undefined) // the next one that is thrown away takes it along
    .unref();
}

/** Takes the lock when it is free, or its owner is gone. */
function claim(lock: string, owner: string): boolean {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      fs.writeFileSync(lock, owner, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    if (isHeld(lock)) return false;
    // Of several that find it abandoned, one takes this very file away; the others then find a new lock.
    const mine = `${lock}.${process.pid}`;
    try {
      fs.renameSync(lock, mine);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue;
      throw error;
    }
    if (isHeld(mine)) {
      // It changed hands between the look and the rename: it goes back.
      fs.linkSync(mine, lock);
      fs.rmSync(mine);
      return false;
    }
    fs.rmSync(mine);
  }
  return false;
}

function isHeld(lock: string): boolean {
  let owner: string;
  try {
    owner = fs.readFileSync(lock, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
  const [pid = '', start = ''] = owner.split(' ');
  return startTime(Number(pid)) === start;
}

/** Field 22 of /proc/PID/stat (proc(5)): with it a pid that was given out again is told apart. */
function startTime(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined; // no such process
  }
}
