// Lists of places with `!` entries, which open again what is closed or protected: the whole of a place, or something inside
// one. Only a user's own settings may, and never what somebody else closed.

import type { Layer, Problem } from '../settings/layers.js';
import { absolutePath } from './paths.js';
import type { AbsolutePath } from './paths.js';
import type { Entry } from './authority.js';
import { cannotWiden, entriesOf, problemOf } from './authority.js';
import type { WrittenPath } from './writtenPaths.js';
import { below, readWrittenPath } from './writtenPaths.js';

export interface WrittenEntry {
  readonly written: Exclude<WrittenPath, { readonly kind: 'bad' }>;
  readonly entry: Entry;
}

export interface PlaceList {
  readonly added: readonly WrittenEntry[];
  /** Written by somebody who may open things. */
  readonly exceptions: readonly WrittenEntry[];
}

/** Reads a list; what its author may not write, or nobody, becomes a problem. */
export function readPlaceList(
  layers: readonly Layer[],
  key: string,
  pick: (values: Layer['values']) => readonly string[] | undefined,
  home: AbsolutePath,
  problems: Problem[],
): PlaceList {
  const added: WrittenEntry[] = [];
  const exceptions: WrittenEntry[] = [];
  for (const entry of entriesOf(layers, key, pick)) {
    const isException = entry.text.startsWith('!');
    const written = readWrittenPath(isException ? entry.text.slice(1) : entry.text, home);
    if (written.kind === 'bad') problems.push(problemOf(entry, 'error', written.message));
    else if (!isException) added.push({ written, entry });
    else if (entry.authority === 'limit') {
      const message = 'begins with !, which only a user’s own settings may';
      problems.push(problemOf(entry, 'error', message));
    } else if (entry.authority === 'narrow') {
      problems.push(cannotWiden(entry, `open ${written.path}`));
    } else exceptions.push({ written, entry });
  }
  return { added, exceptions };
}

/** Whether whoever wrote it may open it again. */
export function isMine({ entry }: WrittenEntry): boolean {
  return entry.authority === 'widen';
}

export function isFirm(item: WrittenEntry): boolean {
  return !isMine(item);
}

/** Where an entry holds: a relative one below each root, a workspace's own only below its folder. */
export function placesOf(
  { written, entry }: WrittenEntry,
  bases: readonly AbsolutePath[],
): readonly { readonly path: AbsolutePath; readonly root?: AbsolutePath }[] {
  if (written.kind === 'absolute') return [{ path: written.path }];
  const { source } = entry.layer;
  const folder = source.kind === 'workspace' ? absolutePath(source.folder) : undefined;
  const own = folder === undefined ? bases : [folder];
  return own.map((root) => ({ path: below(root, written.path), root }));
}

export function hasNoEffect(entry: Entry, why: string): Problem {
  return problemOf(entry, 'warning', `has no effect: ${why}`);
}
