// Protected paths inside writable roots: what is there becomes read-only, and every folder between it and its root is pinned,
// so that neither can be renamed away. What cannot be protected comes back as such, for a gap.

import path from 'node:path';

import type { AbsolutePath } from '../policy/paths.js';
import { contains } from '../policy/paths.js';
import type { ProtectedPath } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts } from './host.js';
import { targetOf } from './host.js';
import type { PlannedRoot } from './roots.js';
import { outermost } from './roots.js';

export interface Protection {
  /** Outer before inner. */
  readonly pins: readonly AbsolutePath[];
  readonly protects: readonly AbsolutePath[];
  readonly absent: readonly AbsolutePath[];
  readonly replaceable: readonly AbsolutePath[];
}

/** `open` are the real, outermost writable places. */
export function planProtection(
  protectedPaths: readonly ProtectedPath[],
  roots: readonly PlannedRoot[],
  open: readonly AbsolutePath[],
  facts: Facts,
): Protection {
  const wanted: AbsolutePath[] = [];
  const absent: AbsolutePath[] = [];
  const replaceable: AbsolutePath[] = [];
  for (const item of protectedPaths) {
    const link = firstLink(item, roots, facts);
    if (link !== undefined) {
      // A mount cannot hold a link. The folder around it can be made read-only instead, unless that is the root itself.
      if (roots.some(({ real }) => real === link.folder)) replaceable.push(link.path);
      else wanted.push(link.folder);
    }
    const target = targetOf(facts.paths.get(item.path));
    if (target !== undefined)
      wanted.push(target.real, ...(facts.gitDirectories.get(item.path) ?? []));
    else if (link === undefined && isOpen(likelyReal(item.path, roots), open))
      absent.push(item.path);
  }
  const protects = outermost(wanted.filter((real) => isOpen(real, open)));
  const pins = protects.flatMap((real) => between(open, real));
  return {
    pins: [...new Set(pins)].sort(),
    protects,
    absent: [...new Set(absent)],
    replaceable: [...new Set(replaceable)],
  };
}

/** The folders from the root of each protected path down to it: links among them matter. */
export function componentsOf(
  item: ProtectedPath,
  roots: readonly AbsolutePath[],
): readonly AbsolutePath[] {
  const root = item.root ?? roots.find((candidate) => contains(candidate, item.path));
  if (root === undefined || root === item.path) return [item.path];
  const names = path.posix.relative(root, item.path).split('/');
  return names.map((_, index) => below(root, names.slice(0, index + 1).join('/')));
}

/** The first link on the way from the root to the path, and the real folder that holds it. */
function firstLink(
  item: ProtectedPath,
  roots: readonly PlannedRoot[],
  facts: Facts,
): { readonly path: AbsolutePath; readonly folder: AbsolutePath } | undefined {
  const components = componentsOf(
    item,
    roots.map((root) => root.path),
  );
  const link = components.find((component) => facts.paths.get(component)?.kind === 'symlink');
  if (link === undefined) return undefined;
  const parent = path.posix.dirname(link) as AbsolutePath;
  const root = roots.find((candidate) => candidate.path === parent);
  const folder = root?.real ?? targetOf(facts.paths.get(parent))?.real;
  return folder === undefined ? undefined : { path: link, folder };
}

/** Where a path that does not exist would be, when its root is reached by a link. */
function likelyReal(item: AbsolutePath, roots: readonly PlannedRoot[]): AbsolutePath {
  const root = roots.find((candidate) => contains(candidate.path, item));
  return root === undefined ? item : below(root.real, item.slice(root.path.length));
}

function isOpen(real: AbsolutePath, open: readonly AbsolutePath[]): boolean {
  return open.some((root) => contains(root, real));
}

/** Every folder strictly between the root, which is a mount and cannot be renamed, and the path. */
function between(open: readonly AbsolutePath[], real: AbsolutePath): readonly AbsolutePath[] {
  const root = open.find((candidate) => contains(candidate, real));
  if (root === undefined || root === real) return [];
  const names = path.posix.relative(root, real).split('/').slice(0, -1);
  return names.map((_, index) => below(root, names.slice(0, index + 1).join('/')));
}
