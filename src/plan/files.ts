// What the supervisor judges changes of files by. It looks at real paths, so what is written here has no link in it: of a
// protected path the name itself, and what it leads to.

import { packageFolders, quietPatterns } from '../policy/defaults.js';
import type { AbsolutePath } from '../policy/paths.js';
import { outermost } from '../policy/paths.js';
import type { FilesystemPolicy, ProtectedPath } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts } from './host.js';
import { everyPathTo, placeOf, targetOf } from './host.js';
import type { PlannedFiles } from './plan.js';
import { planRepositories } from './repositories.js';
import type { PlannedRoot } from './roots.js';

/** `closed`: where closed places are or would be, the state folder among them. */
export function planFiles(
  filesystem: FilesystemPolicy,
  roots: readonly PlannedRoot[],
  closed: readonly AbsolutePath[],
  facts: Facts,
): PlannedFiles {
  return {
    roots: [...new Set(roots.map(({ real }) => real))].sort(),
    names: filesystem.protectedNames.map(({ value }) => value),
    // Moved away, or with a folder around it, a closed place would be open.
    protected: outermost([...planPlaces(filesystem, roots, facts), ...closed]),
    packages: packageFolders,
    quiet: quietPatterns,
    git: filesystem.git.value,
    repositories: planRepositories(roots, facts),
  };
}

/** Protected places, without those that `names` find below their root. */
function planPlaces(
  { protectedPaths, protectedNames }: FilesystemPolicy,
  roots: readonly PlannedRoot[],
  facts: Facts,
): readonly AbsolutePath[] {
  const byPath = new Map(roots.map((root) => [root.path, root]));
  const names = new Set(protectedNames.map(({ value }) => value));
  const named = ({ path, root }: ProtectedPath): AbsolutePath | undefined => {
    const planned = root === undefined ? undefined : byPath.get(root);
    const name = root === undefined ? '' : path.slice(root === '/' ? 1 : root.length + 1);
    return planned !== undefined && names.has(name) ? below(planned.real, name) : undefined;
  };
  return protectedPaths
    .filter(({ path }) => !path.endsWith('/.git'))
    .flatMap((item) => {
      const found = named(item);
      return placesOf(item.path, facts).filter((place) => place !== found);
    });
}

function placesOf(path: AbsolutePath, facts: Facts): readonly AbsolutePath[] {
  const fact = facts.paths.get(path);
  if (fact === undefined) return [path];
  const real = targetOf(fact)?.real;
  return [placeOf(fact), ...(real === undefined ? [] : everyPathTo(facts, real))];
}
