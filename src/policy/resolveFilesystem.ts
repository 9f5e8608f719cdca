// Which folders are writable, which places inside stay read-only, and what cannot be read. Text only: what exists and where
// links lead is the plan's business.

import type { Layer, Problem } from '../settings/layers.js';
import type { Entry } from './authority.js';
import { authorityOf, cannotWiden, entriesOf, problemOf } from './authority.js';
import { closedPlaces, fixedProtectedNames, protectedInHome, protectedNames } from './defaults.js';
import type { Origin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import { absolutePath, contains } from './paths.js';
import type {
  FilesystemPolicy,
  MaskedPath,
  PolicyContext,
  ProtectedPath,
  WritableRoot,
} from './policy.js';
import type { WrittenPath } from './writtenPaths.js';
import { below, readWrittenPath } from './writtenPaths.js';

type Resolved = Omit<FilesystemPolicy, 'temp' | 'caches'>;

export function resolveFilesystem(
  layers: readonly Layer[],
  context: PolicyContext,
): { readonly value: Resolved; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const { roots, bases, limit } = resolveRoots(layers, context, problems);
  const value: Resolved = {
    writableRoots: roots,
    ...(limit === undefined ? {} : { rootLimit: limit }),
    denyRead: resolveDenyRead(layers, bases, context, problems),
    protectedPaths: resolveProtected(layers, bases, context, problems),
    state: context.state,
  };
  return { value, problems };
}

function resolveRoots(
  layers: readonly Layer[],
  context: PolicyContext,
  problems: Problem[],
): {
  readonly roots: readonly WritableRoot[];
  /** With those that the limit took out: what is relative to a root holds below it whether or not it is writable. */
  readonly bases: readonly AbsolutePath[];
  readonly limit: readonly AbsolutePath[] | undefined;
} {
  const entries = entriesOf(
    layers,
    'filesystem.writableRoots',
    ({ filesystem }) => filesystem?.writableRoots,
  );
  const paths = entries.flatMap((entry) => {
    const written = readWrittenPath(entry.text, context.home);
    if (written.kind === 'absolute') return [{ entry, path: written.path }];
    const message =
      written.kind === 'bad'
        ? written.message
        : `${JSON.stringify(entry.text)} must be absolute or begin with ~/`;
    problems.push(problemOf(entry, 'error', message));
    return [];
  });
  const limiting = layers.find(
    ({ source, values }) =>
      source.kind === 'managed' && values.filesystem?.writableRoots !== undefined,
  );
  const limit =
    limiting === undefined
      ? undefined
      : paths.filter(({ entry }) => entry.authority === 'limit').map((bound) => bound.path);
  const isWithinLimit = (path: AbsolutePath): boolean =>
    limit === undefined || limit.some((bound) => contains(bound, path));

  const wanted = paths.filter(({ entry }) => entry.authority === 'widen').map(({ path }) => path);
  const folders = context.roots.filter((path) => {
    if (!isWithinLimit(path) && limiting !== undefined) {
      const entry = { layer: limiting, key: 'filesystem.writableRoots' };
      problems.push(problemOf(entry, 'warning', `leaves ${path} read-only`));
    }
    return isWithinLimit(path);
  });
  const written = paths.filter(({ entry, path }) => {
    if (entry.authority === 'limit') return false;
    if (entry.authority === 'narrow') {
      problems.push(cannotWiden(entry, `open ${path} for writing`));
      return false;
    }
    if (isWithinLimit(path)) return true;
    problems.push(
      problemOf(entry, 'warning', 'has no effect: the administrator does not let it be written to'),
    );
    return false;
  });
  return {
    roots: unique<WritableRoot>([
      ...folders.map((path) => ({ path, origin: { kind: 'workspaceFolder' } as const })),
      ...written.map(({ entry, path }) => ({ path, origin: entry.origin })),
    ]),
    bases: [...new Set([...context.roots, ...wanted])],
    limit,
  };
}

function resolveDenyRead(
  layers: readonly Layer[],
  bases: readonly AbsolutePath[],
  context: PolicyContext,
  problems: Problem[],
): readonly MaskedPath[] {
  const usual = closedPlaces.flatMap((place) => {
    const text = place.replace('UID', String(context.uid));
    const absolute = absolutePath(text);
    return absolute === undefined ? homesOf(context).map((home) => below(home, text)) : [absolute];
  });
  const { added, opened } = splitExceptions(
    entriesOf(layers, 'filesystem.denyRead', ({ filesystem }) => filesystem?.denyRead),
    context,
    problems,
    { builtIn: new Set<string>(usual), fixed: new Set<string>() },
  );
  return unique<MaskedPath>([
    { path: context.state, origin: { kind: 'fixed' } },
    ...usual
      .filter((path) => !opened.has(path))
      .map((path) => ({ path, origin: { kind: 'default' } as const })),
    ...added.flatMap((item) => placeBelow(item, bases)),
  ]);
}

function resolveProtected(
  layers: readonly Layer[],
  bases: readonly AbsolutePath[],
  context: PolicyContext,
  problems: Problem[],
): readonly ProtectedPath[] {
  const inHome = homesOf(context).flatMap((home) =>
    protectedInHome.map((name) => below(home, name)),
  );
  const { added, opened } = splitExceptions(
    entriesOf(layers, 'filesystem.protectedPaths', ({ filesystem }) => filesystem?.protectedPaths),
    context,
    problems,
    {
      builtIn: new Set<string>([...protectedNames, ...inHome]),
      fixed: new Set(fixedProtectedNames),
    },
  );
  const files = layers.flatMap(({ source }) =>
    'file' in source ? [absolutePath(source.file) ?? []].flat() : [],
  );
  const named = (names: readonly string[], origin: Origin): readonly ProtectedPath[] =>
    bases.flatMap((root) =>
      names
        .filter((name) => !opened.has(name))
        .map((name) => ({ path: below(root, name), root, origin })),
    );
  return unique<ProtectedPath>([
    ...[...context.own, ...files].map((path) => ({ path, origin: { kind: 'fixed' } as const })),
    ...named(fixedProtectedNames, { kind: 'fixed' }),
    ...named(protectedNames, { kind: 'default' }),
    ...inHome
      .filter((path) => !opened.has(path))
      .map((path) => ({ path, origin: { kind: 'default' } as const })),
    ...added.flatMap((item) => placeBelow(item, bases)),
  ]);
}

interface Added {
  readonly written: Exclude<WrittenPath, { readonly kind: 'bad' }>;
  readonly entry: Entry;
}

/** Splits a list into what it adds and the built-in entries that it opens again with `!`. */
function splitExceptions(
  entries: readonly Entry[],
  context: PolicyContext,
  problems: Problem[],
  known: { readonly builtIn: ReadonlySet<string>; readonly fixed: ReadonlySet<string> },
): { readonly added: readonly Added[]; readonly opened: ReadonlySet<string> } {
  const added: Added[] = [];
  const opened = new Set<string>();
  for (const entry of entries) {
    const isException = entry.text.startsWith('!');
    const written = readWrittenPath(isException ? entry.text.slice(1) : entry.text, context.home);
    if (written.kind === 'bad') problems.push(problemOf(entry, 'error', written.message));
    else if (!isException) added.push({ written, entry });
    else if (authorityOf(entry.layer.source) === 'limit') {
      problems.push(
        problemOf(entry, 'error', 'begins with !, which only a user’s own settings may'),
      );
    } else if (entry.authority === 'narrow')
      problems.push(cannotWiden(entry, `open ${written.path}`));
    else if (known.fixed.has(written.path)) {
      problems.push(
        problemOf(
          entry,
          'warning',
          `has no effect: ${written.path} stays protected whatever the settings say`,
        ),
      );
    } else if (known.builtIn.has(written.path)) opened.add(written.path);
    else
      problems.push(
        problemOf(entry, 'warning', `has no effect: ${written.path} is not closed by default`),
      );
  }
  return { added, opened };
}

/** A relative entry holds below each root; a workspace's own only below its folder. */
function placeBelow(
  { written, entry }: Added,
  bases: readonly AbsolutePath[],
): readonly ProtectedPath[] {
  const { origin } = entry;
  if (written.kind === 'absolute') return [{ path: written.path, origin }];
  const { source } = entry.layer;
  const folder = source.kind === 'workspace' ? absolutePath(source.folder) : undefined;
  const own = folder === undefined ? bases : [folder];
  return own.map((root) => ({ path: below(root, written.path), root, origin }));
}

function homesOf({ home, accountHome }: PolicyContext): readonly AbsolutePath[] {
  return accountHome === undefined || accountHome === home ? [home] : [home, accountHome];
}

function unique<T extends { readonly path: AbsolutePath }>(items: readonly T[]): readonly T[] {
  const seen = new Set<AbsolutePath>();
  return items.filter(({ path }) => !seen.has(path) && seen.add(path));
}
