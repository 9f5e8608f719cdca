// What cannot be changed without a question inside writable roots: names, wherever they stand directly below a root or a
// repository, and places.

import type { Layer, Problem } from '../settings/layers.js';
import { fixedProtectedNames, protectedInHome, protectedNames } from './defaults.js';
import type { WrittenEntry } from './exceptions.js';
import { hasNoEffect, isFirm, isMine, placesOf, readPlaceList } from './exceptions.js';
import { describeOrigin } from './origin.js';
import type { Origin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import { absolutePath, innermost } from './paths.js';
import type { Placed, PlacedOpen, PolicyContext, ProtectedPath } from './policy.js';
import { hasComponents, usualPlaces } from './usualPlaces.js';
import { below } from './writtenPaths.js';

export interface Protected {
  readonly names: readonly Placed<string>[];
  readonly paths: readonly ProtectedPath[];
  readonly opens: readonly PlacedOpen[];
}

interface Known {
  readonly names: readonly Placed<string>[];
  readonly places: ReadonlyMap<AbsolutePath, ProtectedPath>;
}

export function resolveProtected(
  layers: readonly Layer[],
  bases: readonly AbsolutePath[],
  context: PolicyContext,
  problems: Problem[],
): Protected {
  const { added, exceptions } = readPlaceList(
    layers,
    'filesystem.protectedPaths',
    ({ filesystem }) => filesystem?.protectedPaths,
    context.home,
    problems,
  );
  const firm = known(
    [...placedNames(fixedProtectedNames, { kind: 'fixed' }), ...namesOf(added, isFirm)],
    [...ownPlaces(layers, context), ...placesWritten(added, isFirm, bases)],
  );
  const loose = known(
    [...placedNames(protectedNames, { kind: 'default' }), ...namesOf(added, isMine)],
    [...homePlaces(context), ...placesWritten(added, isMine, bases)],
  );
  const opened = exceptions.filter((item) => {
    const why = refusalOf(item.written, firm, loose);
    if (why !== undefined) problems.push(hasNoEffect(item.entry, why));
    return why === undefined;
  });

  const given = new Set<string>(opened.map(({ written }) => written.path));
  const kept = known(
    loose.names.filter(({ value }) => !given.has(value)),
    [...loose.places.values()].filter(({ path }) => !given.has(path)),
  );
  const names = [...firm.names, ...kept.names];
  const named = bases.flatMap((root) =>
    names.map(({ value, origin }) => ({ path: below(root, value), root, origin })),
  );
  return {
    names: unique(
      names.filter(({ value }) => value !== '.git'),
      ({ value }) => value,
    ),
    paths: unique(
      [...firm.places.values(), ...named, ...kept.places.values()].toSorted(
        (a, b) => weakness(a.origin) - weakness(b.origin),
      ),
      ({ path }) => path,
    ),
    opens: opened.flatMap(({ written, entry }) =>
      written.kind === 'absolute' && keeperOf(written, kept) !== undefined
        ? [{ access: 'write', path: written.path, origin: entry.origin } as const]
        : [],
    ),
  };
}

/** Why the user cannot give it up. */
function refusalOf(
  written: WrittenEntry['written'],
  firm: Known,
  loose: Known,
): string | undefined {
  const keeper = keeperOf(written, firm);
  if (keeper?.origin.kind === 'fixed') {
    return `${written.path} stays protected whatever the settings say`;
  }
  if (keeper !== undefined) {
    return `${written.path} is protected by ${describeOrigin(keeper.origin)}`;
  }
  return keeperOf(written, loose) === undefined ? `${written.path} is not protected` : undefined;
}

/** What protects it: a name anywhere in a path, since which folders will be roots is not known here, or a place around it. */
function keeperOf(
  written: WrittenEntry['written'],
  { names, places }: Known,
): { readonly origin: Origin } | undefined {
  if (written.kind === 'relative') return names.find(({ value }) => value === written.path);
  const name = names.find(({ value }) => hasComponents(written.path, value));
  const around = innermost(places, written.path);
  return name ?? (around === undefined ? undefined : places.get(around));
}

/** Nobody is asked about what is fixed or the administrator's, whoever else names it. */
function weakness(origin: Origin): number {
  if (origin.kind === 'fixed') return 0;
  return origin.kind === 'setting' && origin.source.kind === 'managed' ? 1 : 2;
}

/** Of two that say the same the stronger, which comes first, is the one whose word counts. */
function known(names: readonly Placed<string>[], places: readonly ProtectedPath[]): Known {
  const strongest = unique(places, ({ path }) => path);
  return { names, places: new Map(strongest.map((place) => [place.path, place])) };
}

/** Cordon's own program, and the files that settings come from. */
function ownPlaces(layers: readonly Layer[], { own }: PolicyContext): readonly ProtectedPath[] {
  const origin = { kind: 'fixed' } as const;
  const files = layers.flatMap(({ source }): readonly ProtectedPath[] => {
    const path = 'file' in source ? absolutePath(source.file) : undefined;
    if (path === undefined) return [];
    const root = source.kind === 'workspace' ? absolutePath(source.folder) : undefined;
    return [root === undefined ? { path, origin } : { path, root, origin }];
  });
  return [...own.map((path) => ({ path, origin })), ...files];
}

function homePlaces(context: PolicyContext): readonly ProtectedPath[] {
  return usualPlaces(protectedInHome, context).map((path) => ({
    path,
    origin: { kind: 'default' },
  }));
}

/** A workspace's own relative entries are places below its folder, since they say nothing about other roots. */
function isName({ written, entry }: WrittenEntry): boolean {
  return written.kind === 'relative' && entry.layer.source.kind !== 'workspace';
}

function namesOf(
  items: readonly WrittenEntry[],
  wanted: (item: WrittenEntry) => boolean,
): readonly Placed<string>[] {
  return items
    .filter((item) => isName(item) && wanted(item))
    .map(({ written, entry }) => ({ value: written.path, origin: entry.origin }));
}

function placesWritten(
  items: readonly WrittenEntry[],
  wanted: (item: WrittenEntry) => boolean,
  bases: readonly AbsolutePath[],
): readonly ProtectedPath[] {
  return items
    .filter((item) => !isName(item) && wanted(item))
    .flatMap((item) =>
      placesOf(item, bases).map((place) => ({ ...place, origin: item.entry.origin })),
    );
}

function placedNames(names: readonly string[], origin: Origin): readonly Placed<string>[] {
  return names.map((value) => ({ value, origin }));
}

function unique<T>(items: readonly T[], key: (item: T) => string): readonly T[] {
  const seen = new Set<string>();
  return items.filter((item) => !seen.has(key(item)) && seen.add(key(item)));
}
