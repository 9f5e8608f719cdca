// Other paths to the same place. What is mounted twice (a bind mount, WSLg's second root file system) can be reached by two
// paths, and what is closed or protected at one must be so at the other. Paths are bytes here.

import fs from 'node:fs';
import path from 'node:path';

import { bytesToText, textToBytes } from '../base/bytes.js';
import type { AbsolutePath } from '../policy/paths.js';
import { absolutePath, contains } from '../policy/paths.js';

/** A line of mountinfo (proc_pid_mountinfo(5)), as far as it matters. */
export interface Mounted {
  /** `major:minor` of the file system. */
  readonly device: string;
  /** What of the file system is mounted. */
  readonly root: AbsolutePath;
  readonly point: AbsolutePath;
}

/** The mounts of this process, in the order in which they cover each other. */
export function readMounts(): readonly Mounted[] {
  return parseMounts(bytesToText(fs.readFileSync('/proc/self/mountinfo')));
}

export function parseMounts(text: string): readonly Mounted[] {
  return text.split('\n').flatMap((line) => {
    const [, , device, root = '', point = ''] = line.split(' ');
    const [from, at] = [absolutePath(unescape(root)), absolutePath(unescape(point))];
    // some file systems have roots that are no path ("net:[4026531833]"): nothing lies below them
    return device === undefined || from === undefined || at === undefined
      ? []
      : [{ device, root: from, point: at }];
  });
}

/** Where else the place at `real` shows, as far as the mounts tell: not yet looked at. */
export function possibleAliases(
  mounts: readonly Mounted[],
  real: AbsolutePath,
): readonly AbsolutePath[] {
  const home = mountOf(mounts, real);
  if (home === undefined) return [];
  const inside = join(home.root, path.posix.relative(home.point, real));
  const found = mounts
    .filter(({ device, root }) => device === home.device && contains(root, inside))
    .map(({ root, point }) => join(point, path.posix.relative(root, inside)));
  return [...new Set(found)].filter((each) => each !== real);
}

/** The mount that shows the place: the longest, and of equal ones the last, which covers the others. */
function mountOf(mounts: readonly Mounted[], real: AbsolutePath): Mounted | undefined {
  return mounts.reduce<Mounted | undefined>(
    (best, mount) =>
      contains(mount.point, real) && mount.point.length >= (best?.point.length ?? 0) ? mount : best,
    undefined,
  );
}

/** Paths that lead to what is at `real`, besides that. */
export function aliasesOf(mounts: readonly Mounted[], real: AbsolutePath): readonly AbsolutePath[] {
  const possible = possibleAliases(mounts, real);
  if (possible.length === 0) return [];
  const wanted = identity(real);
  return possible.filter((each) => wanted !== undefined && identity(each) === wanted);
}

/** Device and inode; undefined when there is nothing, or no right to look. */
function identity(file: AbsolutePath): string | undefined {
  try {
    const stats = fs.lstatSync(textToBytes(file), { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`;
  } catch (error) {
    if (error instanceof Error && 'errno' in error) return undefined; // covered by something else
    throw error;
  }
}

function join(folder: AbsolutePath, relative: string): AbsolutePath {
  return (relative === '' ? folder : path.posix.join(folder, relative)) as AbsolutePath;
}

/** Space, tab, newline and backslash are octal there. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/gu, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
