// A file tree that exists only as text, for tests of the plan: what launch would find there, without a disk.

import path from 'node:path';

import type { FileKind, Facts, PathFact, PlannedRun } from '../../src/plan/host.js';
import { foldersToList, pathsToProbe } from '../../src/plan/linux.js';
import type { AbsolutePath } from '../../src/policy/paths.js';
import type { Policy } from '../../src/policy/policy.js';
import { at } from './policies.js';

/** `/a/b/` a folder, `/a/b` a file, `/a/b=` a socket, `/a/b -> c` a link. Parents are there by themselves. */
export type Tree = readonly string[];

type Entry = { readonly kind: FileKind } | { readonly kind: 'symlink'; readonly to: string };

export function treeFacts(
  tree: Tree,
  policy: Policy,
  run: PlannedRun,
  more: Partial<Omit<Facts, 'paths' | 'entries'>> = {},
  others: readonly AbsolutePath[] = [],
): Facts {
  const there = readTree(tree);
  const entries = new Map(
    foldersToList(policy).map((folder) => [folder, entriesOf(there, folder)]),
  );
  const asked = [...pathsToProbe(policy, run), ...[...entries.values()].flat(), ...others];
  return {
    paths: new CheckedMap(asked.map((path) => [path, factOf(there, path)])),
    entries,
    gitDirectories: new Map(),
    aliases: new Map(),
    host: { overlay: true, hold: true, holdReads: true },
    ...more,
  };
}

function entriesOf(
  there: ReadonlyMap<string, Entry>,
  folder: AbsolutePath,
): readonly AbsolutePath[] {
  return [...there.keys()]
    .filter((name) => name !== '/' && path.posix.dirname(name) === folder)
    .map(at);
}

export function readTree(tree: Tree): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>([['/', { kind: 'directory' }]]);
  for (const line of tree) {
    const [name = '', to] = line.split(' -> ');
    const bare = name.replace(/[/=]$/u, '');
    for (
      let parent = path.posix.dirname(bare);
      parent !== '/';
      parent = path.posix.dirname(parent)
    ) {
      if (!entries.has(parent)) entries.set(parent, { kind: 'directory' });
    }
    if (to !== undefined) entries.set(bare, { kind: 'symlink', to });
    else if (name.endsWith('/')) entries.set(bare, { kind: 'directory' });
    else entries.set(bare, { kind: name.endsWith('=') ? 'other' : 'file' });
  }
  return entries;
}

/** The path without links; undefined when it leads nowhere. */
export function realIn(
  entries: ReadonlyMap<string, Entry>,
  asked: string,
  depth = 0,
): AbsolutePath | undefined {
  let real = '/';
  for (const name of asked.split('/').filter((part) => part !== '')) {
    const next = path.posix.join(real, name);
    const entry = entries.get(next);
    if (entry === undefined || depth > 20) return undefined;
    if (entry.kind !== 'symlink') real = next;
    else {
      const target = realIn(entries, path.posix.resolve(real, entry.to), depth + 1);
      if (target === undefined) return undefined;
      real = target;
    }
  }
  return at(real);
}

function factOf(entries: ReadonlyMap<string, Entry>, asked: AbsolutePath): PathFact {
  const place = placeIn(entries, asked);
  const entry = entries.get(place);
  if (entry === undefined) return { kind: 'absent', place };
  if (entry.kind !== 'symlink') return { kind: entry.kind, real: place };
  const real = realIn(entries, asked);
  const target = real === undefined ? undefined : entries.get(real);
  if (real === undefined || target === undefined || target.kind === 'symlink')
    return { kind: 'symlink', place };
  return { kind: 'symlink', place, target: { kind: target.kind, real } };
}

/** The path with the links of the folders above it followed, as far as they exist. */
function placeIn(entries: ReadonlyMap<string, Entry>, asked: string): AbsolutePath {
  if (asked === '/') return at('/');
  const parent = path.posix.dirname(asked);
  return at(
    path.posix.join(
      realIn(entries, parent) ?? placeIn(entries, parent),
      path.posix.basename(asked),
    ),
  );
}

/** Asking for a fact that was not gathered is a mistake of the plan, not an absent path. */
class CheckedMap extends Map<AbsolutePath, PathFact> {
  override get(asked: AbsolutePath): PathFact | undefined {
    if (!this.has(asked)) throw new Error(`no fact was gathered about ${asked}`);
    return super.get(asked);
  }
}
