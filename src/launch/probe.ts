// What this host can enforce, as the launcher itself finds out by trying. The answer is kept until the next boot or the
// next kernel, because it costs a few milliseconds and a run has few of them.

import childProcess from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { CordonError } from '../base/errors.js';
import type { AbsolutePath } from '../policy/paths.js';
import { PROTOCOL_VERSION } from './control/limits.js';
import type { HostSupport } from './schema.js';
import { parseSupport } from './schema.js';

export type { HostSupport };

/** Of this build; a launcher of another one may keep other promises. */
export const LAUNCHER_VERSION = '0.1.0';

const PROBE_MS = 10_000;
const CACHE_FILE = 'host.json';

/** The answer from the cache when it is for this launcher and boot, else a fresh one. Throws CordonError. */
export function probeHost(launcher: AbsolutePath, state: AbsolutePath): HostSupport {
  const key = cacheKey(launcher);
  const file = path.join(state, CACHE_FILE);
  const known = readCache(file, key);
  if (known !== undefined) return known;
  const support = askLauncher(launcher);
  // A failure may be mended without a reboot (sysctl, AppArmor): only good news is kept.
  if (support.problem === null) writeCache(file, key, support);
  return support;
}

function askLauncher(launcher: AbsolutePath): HostSupport {
  let out: string;
  try {
    out = childProcess.execFileSync(launcher, ['--probe'], {
      encoding: 'utf8',
      env: {},
      timeout: PROBE_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    throw new CordonError('launcherMissing', `${launcher} --probe: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  const support = parseSupport(out);
  if (support === undefined) {
    throw new CordonError(
      'launcherMissing',
      `${launcher} answers in words that this version does not know`,
    );
  }
  if (support.protocol !== PROTOCOL_VERSION || support.version !== LAUNCHER_VERSION) {
    throw new CordonError(
      'launcherMissing',
      `${launcher} is version ${support.version} (protocol ${support.protocol}), wanted is ${LAUNCHER_VERSION} (protocol ${PROTOCOL_VERSION})`,
    );
  }
  return support;
}

/** This boot of this kernel, this very launcher, and what is around us: another sandbox may hold calls, or forbid mounts. */
function cacheKey(launcher: AbsolutePath): string {
  const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const { mtimeMs, size, ino } = fs.statSync(launcher);
  const status = fs.readFileSync('/proc/self/status', 'utf8');
  const filters = status.match(/^Seccomp.*$/gmu)?.join(' ') ?? '';
  const users = fs.readlinkSync('/proc/self/ns/user');
  return [boot, os.release(), launcher, mtimeMs, size, ino, filters, users].join(' ');
}

function readCache(file: string, key: string): HostSupport | undefined {
  try {
    const kept: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (typeof kept !== 'object' || kept === null || !('key' in kept) || kept.key !== key)
      return undefined;
    return 'support' in kept ? parseSupport(JSON.stringify(kept.support)) : undefined;
  } catch {
    return undefined; // not there or not ours: probing again is always right
  }
}

/** Renamed into place; that it cannot be kept costs the next run a few milliseconds, and no more. */
function writeCache(file: string, key: string, support: HostSupport): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  } catch {
    return; // nothing can be kept there; whoever needs the folder says why
  }
  try {
    fs.writeFileSync(draft, JSON.stringify({ key, support }), { mode: 0o600 });
    fs.renameSync(draft, file);
  } catch {
    fs.rmSync(draft, { force: true });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = 'stderr' in error ? String(error.stderr).trim() : '';
  return said === '' ? error.message : said;
}
