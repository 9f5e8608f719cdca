// The writable roots as they really are. A root that is not what it seems is a failure, never left out: the user believes it
// is there.

import { CordonError } from '../base/errors.js';
import { describeOrigin } from '../policy/origin.js';
import type { AbsolutePath } from '../policy/paths.js';
import { contains, innermost } from '../policy/paths.js';
import type { FilesystemPolicy, PlacedPath, WritableRoot } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts } from './host.js';
import { targetOf } from './host.js';

export interface PlannedRoot {
  /** As written. */
  readonly path: AbsolutePath;
  readonly real: AbsolutePath;
}

/** Kernel interfaces: writing there is no work on files. */
const NEVER_WRITABLE = ['/proc', '/sys', '/dev'] as readonly string[] as readonly AbsolutePath[];

/** Every root with its real path, checked. */
export function planRoots(filesystem: FilesystemPolicy, facts: Facts): readonly PlannedRoot[] {
  const roots = filesystem.writableRoots.map((root) => ({
    path: root.path,
    real: realRoot(root, facts),
  }));
  const closed = new Map(
    filesystem.denyRead.flatMap((place) => {
      const target = targetOf(facts.paths.get(place.path));
      return target === undefined ? [] : [[target.real, place] as const];
    }),
  );
  const limit =
    filesystem.rootLimit === undefined
      ? undefined
      : new Set(
          filesystem.rootLimit.map((bound) => targetOf(facts.paths.get(bound))?.real ?? bound),
        );
  for (const root of roots) {
    checkPlace(root, closed, limit);
    checkNotRedirected(root, roots);
  }
  return roots;
}

function realRoot({ path, origin }: WritableRoot, facts: Facts): AbsolutePath {
  const target = targetOf(facts.paths.get(path));
  if (target === undefined)
    throw new CordonError('rootMissing', `${path} (${describeOrigin(origin)})`);
  if (target.kind !== 'directory') {
    throw unusable(path, 'is not a folder; a writable root must be one');
  }
  return target.real;
}

function checkPlace(
  { path, real }: PlannedRoot,
  closed: ReadonlyMap<AbsolutePath, PlacedPath>,
  limit: ReadonlySet<AbsolutePath> | undefined,
): void {
  const kernel = NEVER_WRITABLE.find((place) => contains(place, real) || contains(real, place));
  if (kernel !== undefined) {
    throw unusable(path, `would open ${kernel}, which nothing in a sandbox may write to`);
  }
  const around = innermost(closed, real);
  const place = around === undefined ? undefined : closed.get(around);
  if (place !== undefined) {
    const why = `lies in ${place.path}, which is closed for reading (${describeOrigin(place.origin)})`;
    const how = `; to open it, add "!${place.path}" to cordon.filesystem.denyRead`;
    throw unusable(path, place.origin.kind === 'default' ? why + how : why);
  }
  if (limit !== undefined && innermost(limit, real) === undefined) {
    throw unusable(path, `is really ${real}, which the administrator does not let be written to`);
  }
}

/** A link inside another root could be pointed elsewhere by one run, and open that place for the next. */
function checkNotRedirected(root: PlannedRoot, roots: readonly PlannedRoot[]): void {
  if (root.path === root.real) return; // no link on the way
  for (const outer of roots) {
    if (outer === root) continue;
    const around = [outer.path, outer.real].find(
      (place) => contains(place, root.path) && place !== root.path,
    );
    if (around === undefined) continue;
    if (below(outer.real, root.path.slice(around.length + 1)) === root.real) continue;
    const why = `is reached through a symbolic link inside the writable root ${outer.path}`;
    throw unusable(
      root.path,
      `${why}, which a sandboxed command could point elsewhere; name ${root.real} itself`,
    );
  }
}

function unusable(path: AbsolutePath, why: string): CordonError {
  return new CordonError('rootUnusable', `The writable root ${path} ${why}.`);
}
