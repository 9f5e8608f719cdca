// Looks at what the plan has to know about this machine. It reads names and kinds, and of files only what a `.git` leads to;
// it changes nothing. Paths are bytes here.

import fs from 'node:fs';
import path from 'node:path';

import { bytesToText, textToBytes } from '../base/bytes.js';
import type { FileKind, Facts, HostAbilities, PathFact } from '../plan/host.js';
import { targetOf } from '../plan/host.js';
import type { AbsolutePath } from '../policy/paths.js';
import { absolutePath, parentOf } from '../policy/paths.js';
import { aliasesOf, readMounts } from './aliases.js';

/** A `.git` file or `commondir` is one line with a path. */
const MAX_LINK_BYTES = 8192;

export interface Wanted {
  readonly paths: Iterable<AbsolutePath>;
  /** Folders whose entries are looked at, too. */
  readonly folders: readonly AbsolutePath[];
}

/** What is at these paths. One that cannot be looked at, for lack of rights or otherwise, counts as absent. */
export function gatherFacts({ paths, folders }: Wanted, host: HostAbilities): Facts {
  const found = new Map<AbsolutePath, PathFact>();
  const gitDirectories = new Map<AbsolutePath, readonly AbsolutePath[]>();
  const entries = new Map(folders.map((folder) => [folder, entriesOf(folder)]));
  const places = createPlaces();
  for (const asked of [...paths, ...[...entries.values()].flat()]) {
    const fact = lookAt(asked, places);
    found.set(asked, fact);
    const directories = path.posix.basename(asked) === '.git' ? followGit(asked, fact) : [];
    if (directories.length > 0) gitDirectories.set(asked, directories);
  }
  const aliases = gatherAliases([...found.values()], [...gitDirectories.values()].flat());
  return { paths: found, entries, gitDirectories, aliases, host };
}

function entriesOf(folder: AbsolutePath): readonly AbsolutePath[] {
  const parent = folder === '/' ? '' : folder;
  try {
    return fs
      .readdirSync(textToBytes(folder), { encoding: 'buffer' })
      .map((name) => `${parent}/${bytesToText(name)}` as AbsolutePath);
  } catch (error) {
    if (isSystemError(error)) return []; // no rights to list it, so nothing in it to look at
    throw error;
  }
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

/** Where a name is when the links of the folders above it are followed, as far as they exist. */
type Places = (asked: AbsolutePath) => AbsolutePath;

/** Many of the paths that are asked about share their folders: each is looked at once. */
function createPlaces(): Places {
  const folders = new Map<string, AbsolutePath>();
  const place: Places = (asked) => {
    if (asked === '/') return asked;
    const parent = parentOf(asked);
    let real = folders.get(parent);
    if (real === undefined) {
      real = realPath(parent) ?? place(parent);
      folders.set(parent, real);
    }
    return path.posix.join(real, path.posix.basename(asked)) as AbsolutePath;
  };
  return place;
}

function lookAt(asked: AbsolutePath, places: Places): PathFact {
  const stats = statOrUndefined(() => fs.lstatSync(textToBytes(asked), { throwIfNoEntry: false }));
  if (stats === undefined) return { kind: 'absent', place: places(asked) };
  if (!stats.isSymbolicLink()) return { kind: kindOf(stats), real: places(asked) };
  const target = statOrUndefined(() => fs.statSync(textToBytes(asked), { throwIfNoEntry: false }));
  const real = target === undefined ? undefined : realPath(asked);
  const place = places(asked);
  if (target === undefined || real === undefined) return { kind: 'symlink', place };
  return { kind: 'symlink', place, target: { kind: kindOf(target), real } };
}

/** The git directory of a `.git` that is not one itself, and its common directory. */
function followGit(asked: AbsolutePath, fact: PathFact): readonly AbsolutePath[] {
  const target = targetOf(fact);
  if (target?.kind === 'file') return followGitFile(asked);
  return target?.kind === 'directory' && fact.kind === 'symlink' ? withCommon(target.real) : [];
}

/** gitrepository-layout(5): a `.git` file names its git directory, and that one may name a common one. */
function followGitFile(file: AbsolutePath): readonly AbsolutePath[] {
  const written = readLine(file)?.replace(/^gitdir:\s*/u, '');
  if (written === undefined || written === '') return [];
  const directory = realPath(path.posix.resolve(path.posix.dirname(file), written));
  return directory === undefined ? [] : withCommon(directory);
}

function withCommon(directory: AbsolutePath): readonly AbsolutePath[] {
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
