// Lists of absolute paths that open something: only the user adds to them, and only within what the administrator lists.

import type { Layer, Problem } from '../settings/layers.js';
import type { Entry } from './authority.js';
import { cannotWiden, entriesOf, problemOf } from './authority.js';
import type { AbsolutePath } from './paths.js';
import { innermost } from './paths.js';
import { readWrittenPath } from './writtenPaths.js';

export interface WrittenPlace {
  readonly entry: Entry;
  readonly path: AbsolutePath;
}

export interface LimitedPaths {
  /** The user's, also those beyond the limit. */
  readonly wanted: readonly WrittenPlace[];
  readonly accepted: readonly WrittenPlace[];
  /** The administrator's list and the layer that it is in; undefined when there is none. */
  readonly limit: { readonly paths: readonly AbsolutePath[]; readonly layer: Layer } | undefined;
  readonly isWithinLimit: (path: AbsolutePath) => boolean;
}

export interface PathList {
  readonly key: string;
  readonly pick: (values: Layer['values']) => readonly string[] | undefined;
  /** Completes "this would …" and "the administrator does not let …". */
  readonly widening: (path: AbsolutePath) => string;
  readonly limited: string;
}

export function resolveLimitedPaths(
  layers: readonly Layer[],
  { key, pick, widening, limited }: PathList,
  home: AbsolutePath,
  problems: Problem[],
): LimitedPaths {
  const places = readAbsolutePaths(entriesOf(layers, key, pick), home, problems);
  const layer = layers.find(
    ({ source, values }) => source.kind === 'managed' && pick(values) !== undefined,
  );
  const bounds = new Set(
    places.filter(({ entry }) => entry.authority === 'limit').map(({ path }) => path),
  );
  const isWithinLimit = (path: AbsolutePath): boolean =>
    layer === undefined || innermost(bounds, path) !== undefined;

  const wanted = places.filter(({ entry, path }) => {
    if (entry.authority === 'narrow') problems.push(cannotWiden(entry, widening(path)));
    return entry.authority === 'widen';
  });
  const accepted = wanted.filter(({ entry, path }) => {
    if (isWithinLimit(path)) return true;
    const why = `has no effect: the administrator does not let it ${limited}`;
    problems.push(problemOf(entry, 'warning', why));
    return false;
  });
  return {
    wanted,
    accepted,
    limit: layer === undefined ? undefined : { paths: [...bounds], layer },
    isWithinLimit,
  };
}

/** Entries of a list in which nothing is relative. */
export function readAbsolutePaths(
  entries: readonly Entry[],
  home: AbsolutePath,
  problems: Problem[],
): readonly WrittenPlace[] {
  return entries.flatMap((entry) => {
    const written = readWrittenPath(entry.text, home);
    if (written.kind === 'absolute') return [{ entry, path: written.path }];
    const message =
      written.kind === 'bad'
        ? written.message
        : `${JSON.stringify(entry.text)} must be absolute or begin with ~/`;
    problems.push(problemOf(entry, 'error', message));
    return [];
  });
}
