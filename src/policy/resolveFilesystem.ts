// Which folders are writable or readable, which places inside stay as they are, and what is closed. Text only: what exists and
// where links lead is the plan's business.

import type { Layer, Problem } from '../settings/layers.js';
import { problemOf } from './authority.js';
import { resolveLimitedPaths } from './limitedPaths.js';
import type { WrittenPlace } from './limitedPaths.js';
import type { AbsolutePath } from './paths.js';
import type { FilesystemPolicy, PlacedPath, PolicyContext } from './policy.js';
import { resolveClosed } from './resolveClosed.js';
import { resolveProtected } from './resolveProtected.js';

type Resolved = Omit<FilesystemPolicy, 'git' | 'read' | 'hideNames' | 'temp' | 'caches'>;

export function resolveFilesystem(
  layers: readonly Layer[],
  context: PolicyContext,
): { readonly value: Resolved; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const { roots, bases, limit } = resolveRoots(layers, context, problems);
  const readable = resolveReadRoots(layers, context, problems);
  const closed = resolveClosed(layers, bases, context, problems);
  const kept = resolveProtected(layers, bases, context, problems);
  const value: Resolved = {
    writableRoots: roots,
    ...(limit === undefined ? {} : { rootLimit: limit }),
    readRoots: readable.roots,
    ...(readable.limit === undefined ? {} : { readLimit: readable.limit }),
    denyRead: closed.places,
    protectedNames: kept.names,
    protectedPaths: kept.paths,
    opens: [...closed.opens, ...kept.opens],
    state: context.state,
  };
  return { value, problems };
}

interface Roots {
  readonly roots: readonly PlacedPath[];
  readonly limit: readonly AbsolutePath[] | undefined;
}

function resolveRoots(
  layers: readonly Layer[],
  context: PolicyContext,
  problems: Problem[],
): Roots & {
  /** With those that the limit took out: what is relative to a root holds below it whether or not it is writable. */
  readonly bases: readonly AbsolutePath[];
} {
  const { wanted, accepted, limit, isWithinLimit } = resolveLimitedPaths(
    layers,
    {
      key: 'filesystem.writableRoots',
      pick: ({ filesystem }) => filesystem?.writableRoots,
      widening: (path) => `open ${path} for writing`,
      limited: 'be written to',
    },
    context.home,
    problems,
  );
  const folders = context.roots.filter((path) => {
    if (!isWithinLimit(path) && limit !== undefined) {
      const entry = { layer: limit.layer, key: 'filesystem.writableRoots' };
      problems.push(problemOf(entry, 'warning', `leaves ${path} read-only`));
    }
    return isWithinLimit(path);
  });
  return {
    roots: unique([
      ...folders.map((path) => ({ path, origin: { kind: 'workspaceFolder' } as const })),
      ...accepted.map(placed),
    ]),
    bases: [...new Set([...context.roots, ...wanted.map(({ path }) => path)])],
    limit: limit?.paths,
  };
}

function resolveReadRoots(
  layers: readonly Layer[],
  context: PolicyContext,
  problems: Problem[],
): Roots {
  const { accepted, limit } = resolveLimitedPaths(
    layers,
    {
      key: 'filesystem.readRoots',
      pick: ({ filesystem }) => filesystem?.readRoots,
      widening: (path) => `open ${path} for reading`,
      limited: 'be read without a question',
    },
    context.home,
    problems,
  );
  return { roots: unique(accepted.map(placed)), limit: limit?.paths };
}

function placed({ entry, path }: WrittenPlace): PlacedPath {
  return { path, origin: entry.origin };
}

function unique<T extends { readonly path: AbsolutePath }>(items: readonly T[]): readonly T[] {
  const seen = new Set<AbsolutePath>();
  return items.filter(({ path }) => !seen.has(path) && seen.add(path));
}
