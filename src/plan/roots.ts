// The writable roots as they really are. A root that is not what it seems is a failure, never left out: the user believes it
// is there.

import { CordonError } from '../base/errors.js';
import { describeOrigin } from '../policy/origin.js';
import type { AbsolutePath } from '../policy/paths.js';
import { contains } from '../policy/paths.js';
import type { FilesystemPolicy, WritableRoot } from '../policy/policy.js';
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
  for (const root of roots) {
    checkPlace(root, filesystem, facts);
    checkNotRedirected(root, roots);
  }
  return roots;
}

/** The real paths of the roots that lie in no other root, in a fixed order. */
export function outermost(paths: readonly AbsolutePath[]): readonly AbsolutePath[] {
  const sorted = [...new Set(paths)].sort();
  return sorted.filter((path) => !sorted.some((other) => other !== path && contains(other, path)));
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

function checkPlace({ path, real }: PlannedRoot, filesystem: FilesystemPolicy, facts: Facts): void {
  const kernel = NEVER_WRITABLE.find((place) => contains(place, real) || contains(real, place));
  if (kernel !== undefined)
    throw unusable(path, `would open ${kernel}, which nothing in a sandbox may write to`);
  const closed = filesystem.denyRead.find((place) => {
    const target = targetOf(facts.paths.get(place.path));
    return target !== undefined && contains(target.real, real);
  });
  if (closed !== undefined) {
    const how =
      closed.origin.kind === 'default'
        ? `; to open it, add "!${closed.path}" to cordon.filesystem.denyRead`
        : '';
    throw unusable(
      path,
      `lies in ${closed.path}, which is closed for reading (${describeOrigin(closed.origin)})${how}`,
    );
  }
  const limit = filesystem.rootLimit?.map(
    (bound) => targetOf(facts.paths.get(bound))?.real ?? bound,
  );
  if (limit !== undefined && !limit.some((bound) => contains(bound, real))) {
    throw unusable(path, `is really ${real}, which the administrator does not let be written to`);
  }
}

/** A link inside another root could be pointed elsewhere by one run, and open that place for the next. */
function checkNotRedirected(root: PlannedRoot, roots: readonly PlannedRoot[]): void {
  for (const outer of roots) {
    if (outer === root || !contains(outer.path, root.path)) continue;
    const expected = below(outer.real, root.path.slice(outer.path.length));
    if (expected !== root.real) {
      throw unusable(
        root.path,
        `is reached through a symbolic link inside the writable root ${outer.path}, which a sandboxed command could point elsewhere; name ${root.real} itself`,
      );
    }
  }
}

function unusable(path: AbsolutePath, why: string): CordonError {
  return new CordonError('rootUnusable', `The writable root ${path} ${why}.`);
}
