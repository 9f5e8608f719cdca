// Looks at what the plan has to know about this machine. It reads names and kinds, and of files only `.git` links; it
// changes nothing. Paths are bytes here.

import fs from 'node:fs';
import path from 'node:path';

import { bytesToText, textToBytes } from '../base/bytes.js';
import type { FileKind, Facts, PathFact } from '../plan/host.js';
import { targetOf } from '../plan/host.js';
import type { AbsolutePath } from '../policy/paths.js';
import { absolutePath } from '../policy/paths.js';
import { aliasesOf, readMounts } from './aliases.js';

/** A `.git` file or `commondir` is one line with a path. */
const MAX_LINK_BYTES = 8192;

/** What is at these paths. One that cannot be looked at, for lack of rights or otherwise, counts as absent. */
export function gatherFacts(paths: Iterable<AbsolutePath>, canOverlay: boolean): Facts {
  const found = new Map<AbsolutePath, PathFact>();
  const gitDirectories = new Map<AbsolutePath, readonly AbsolutePath[]>();
  for (const asked of paths) {
    const fact = lookAt(asked);
    found.set(asked, fact);
    if (path.posix.basename(asked) !== '.git' || !isFile(fact)) continue;
    const directories = followGitFile(asked);
    if (directories.length > 0) gitDirectories.set(asked, directories);
  }
  const aliases = gatherAliases([...found.values()], [...gitDirectories.values()].flat());
  return { paths: found, gitDirectories, aliases, canOverlay };
}

function gatherAliases(
  facts: readonly PathFact[],
  others: readonly AbsolutePath[],
): ReadonlyMap<AbsolutePath, readonly AbsolutePath[]> {
  const mounts = readMounts();
  const aliases = new Map<AbsolutePath, readonly AbsolutePath[]>();
  for (const real of new Set([...facts.flatMap((fact) => targetOf(fact)?.real ?? []), ...others])) {
    const found = aliasesOf(mounts, real);
    if (found.length > 0) aliases.set(real, found);
  }
  return aliases;
}

/** The path without symbolic links; undefined when nothing is there. */
export function realPath(asked: string): AbsolutePath | undefined {
  try {
    const real = fs.realpathSync.native(textToBytes(asked), { encoding: 'buffer' });
    return absolutePath(bytesToText(real));
  } catch (error) {
    if (isSystemError(error)) return undefined; // absent, a loop of links, no rights: not there for us
    throw error;
  }
}

function lookAt(asked: AbsolutePath): PathFact {
  const stats = statOrUndefined(() => fs.lstatSync(textToBytes(asked), { throwIfNoEntry: false }));
  if (stats === undefined) return { kind: 'absent' };
  const real = realPath(asked);
  if (!stats.isSymbolicLink())
    return real === undefined ? { kind: 'absent' } : { kind: kindOf(stats), real };
  const target = statOrUndefined(() => fs.statSync(textToBytes(asked), { throwIfNoEntry: false }));
  if (target === undefined || real === undefined) return { kind: 'symlink' };
  return { kind: 'symlink', target: { kind: kindOf(target), real } };
}

function isFile(fact: PathFact): boolean {
  return fact.kind === 'file' || (fact.kind === 'symlink' && fact.target?.kind === 'file');
}

/** gitrepository-layout(5): a `.git` file names its git directory, and that one may name a common one. */
function followGitFile(file: AbsolutePath): readonly AbsolutePath[] {
  const written = readLine(file)?.replace(/^gitdir:\s*/u, '');
  if (written === undefined || written === '') return [];
  const directory = realPath(path.posix.resolve(path.posix.dirname(file), written));
  if (directory === undefined) return [];
  const common = readLine(path.posix.join(directory, 'commondir'));
  const shared = common === undefined ? undefined : realPath(path.posix.resolve(directory, common));
  return shared === undefined || shared === directory ? [directory] : [directory, shared];
}

/** The first line, or undefined when there is no such file or it is no such line. */
function readLine(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    // O_NONBLOCK: a pipe of that name must not hold us (fifo(7)).
    descriptor = fs.openSync(textToBytes(file), fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    if (!fs.fstatSync(descriptor).isFile()) return undefined;
    const buffer = Buffer.alloc(MAX_LINK_BYTES);
    const length = fs.readSync(descriptor, buffer);
    return bytesToText(buffer.subarray(0, length)).split('\n')[0]?.replace(/\s+$/u, '');
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

function kindOf(stats: fs.Stats): FileKind {
  if (stats.isDirectory()) return 'directory';
  return stats.isFile() ? 'file' : 'other';
}

/** What is not there comes as undefined, without the price of an exception: most paths are not. */
function statOrUndefined(stat: () => fs.Stats | undefined): fs.Stats | undefined {
  try {
    return stat();
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'errno' in error;
}
