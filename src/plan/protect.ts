// Mounts over protected paths in writable roots. Where calls are held the supervisor judges every change (files.ts), and a
// mount would only be in the way of one that was allowed: there just Cordon's own and, when nobody is asked about git, git
// directories become read-only, as a second hindrance, and roots inside of roots stay where they are. Where no call can be held, mounts are all there is: what exists becomes
// read-only, every folder between it and its root is pinned, so that neither can be renamed away, and the rest is a gap.

import type { AbsolutePath } from '../policy/paths.js';
import { innermost, outermost, parentOf } from '../policy/paths.js';
import type { FilesystemPolicy, ProtectedPath } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts } from './host.js';
import { everyPathTo, targetOf } from './host.js';
import type { PlannedRoot } from './roots.js';

export interface Protection {
  /** Outer before inner. */
  readonly pins: readonly AbsolutePath[];
  readonly protects: readonly AbsolutePath[];
  /** Read-only only if it turns out at the launch that no call can be held. */
  readonly guards: readonly AbsolutePath[];
  readonly absent: readonly AbsolutePath[];
  readonly replaceable: readonly AbsolutePath[];
}

/** `open` are the real, outermost writable places. */
export function planProtection(
  { protectedPaths, git }: FilesystemPolicy,
  roots: readonly PlannedRoot[],
  open: readonly AbsolutePath[],
  facts: Facts,
): Protection {
  const isFirm = (item: ProtectedPath): boolean =>
    !facts.host.hold || (item.path.endsWith('/.git') ? git.value === 'protect' : isOwn(item));
  const firm = planMounts(protectedPaths.filter(isFirm), roots, open, facts);
  const others = planMounts(
    protectedPaths.filter((item) => !isFirm(item)),
    roots,
    open,
    facts,
  );
  const held = new Set(firm.protects);
  const pins = [...firm.pins, ...innerRoots(roots, open)];
  return {
    ...firm,
    pins: [...new Set(pins)].sort(),
    guards: others.protects.filter((path) => innermost(held, path) === undefined),
  };
}

/** A root inside another one: renamed away, it would be no root any more, and its protected names would be ordinary ones. */
function innerRoots(
  roots: readonly PlannedRoot[],
  open: readonly AbsolutePath[],
): readonly AbsolutePath[] {
  const writable = new Set(open);
  return roots
    .filter(({ real }) => !writable.has(real))
    .flatMap(({ real }) => [...between(writable, real), real]);
}

/** Cordon's program and settings, which nobody is asked about. */
function isOwn({ origin, root }: ProtectedPath): boolean {
  return origin.kind === 'fixed' && root === undefined;
}

function planMounts(
  protectedPaths: readonly ProtectedPath[],
  roots: readonly PlannedRoot[],
  open: readonly AbsolutePath[],
  facts: Facts,
): Omit<Protection, 'guards'> {
  const writable = new Set(open);
  const byPath = new Map(roots.map((root) => [root.path, root]));
  const realRoots = new Set(roots.map(({ real }) => real));
  const wanted: AbsolutePath[] = [];
  const absent: AbsolutePath[] = [];
  const replaceable: AbsolutePath[] = [];
  for (const item of protectedPaths) {
    const link = firstLink(item, byPath, facts);
    if (link !== undefined) {
      // A mount cannot hold a link. The folder around it can be made read-only instead, unless that is the root itself.
      if (realRoots.has(link.folder)) replaceable.push(link.path);
      else wanted.push(link.folder);
    }
    const target = targetOf(facts.paths.get(item.path));
    if (target !== undefined) {
      const places = [target.real, ...(facts.gitDirectories.get(item.path) ?? [])];
      wanted.push(...places.flatMap((real) => everyPathTo(facts, real)));
    } else if (link === undefined && isWithin(writable, likelyReal(item.path, byPath))) {
      absent.push(item.path);
    }
  }
  const protects = outermost(wanted.filter((real) => isWithin(writable, real)));
  return {
    pins: protects.flatMap((real) => between(writable, real)),
    protects,
    absent: [...new Set(absent)],
    replaceable: [...new Set(replaceable)],
  };
}

type Roots = ReadonlyMap<AbsolutePath, PlannedRoot>;

/** The folders from the root of each protected path down to it: links among them matter. */
export function componentsOf(
  item: ProtectedPath,
  roots: Pick<ReadonlySet<AbsolutePath>, 'has'>,
): readonly AbsolutePath[] {
  const root = item.root ?? innermost(roots, item.path);
  return root === undefined ? [item.path] : [...foldersBetween(root, item.path), item.path];
}

/** The first link on the way from the root to the path, and the real folder that holds it. */
function firstLink(
  item: ProtectedPath,
  roots: Roots,
  facts: Facts,
): { readonly path: AbsolutePath; readonly folder: AbsolutePath } | undefined {
  const isLink = (component: AbsolutePath): boolean =>
    facts.paths.get(component)?.kind === 'symlink';
  const link = componentsOf(item, roots).find(isLink);
  if (link === undefined) return undefined;
  const parent = parentOf(link);
  const folder = roots.get(parent)?.real ?? targetOf(facts.paths.get(parent))?.real;
  return folder === undefined ? undefined : { path: link, folder };
}

/** Where a path that does not exist would be, when its root is reached by a link. */
function likelyReal(item: AbsolutePath, roots: Roots): AbsolutePath {
  const root = roots.get(innermost(roots, item) ?? item);
  if (root === undefined || root.path === item) return item;
  return below(root.real, item.slice(root.path.length + 1));
}

function isWithin(places: ReadonlySet<AbsolutePath>, path: AbsolutePath): boolean {
  return innermost(places, path) !== undefined;
}

/** Every folder strictly between the root, which is a mount and cannot be renamed, and the path. */
function between(writable: ReadonlySet<AbsolutePath>, real: AbsolutePath): readonly AbsolutePath[] {
  const root = innermost(writable, real);
  return root === undefined ? [] : foldersBetween(root, real);
}

/** Outer before inner, both ends left out. */
function foldersBetween(root: AbsolutePath, path: AbsolutePath): readonly AbsolutePath[] {
  const folders: AbsolutePath[] = [];
  if (root === path) return folders;
  for (let at = parentOf(path); at !== root; at = parentOf(at)) folders.unshift(at);
  return folders;
}
