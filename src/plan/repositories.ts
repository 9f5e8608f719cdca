// Git directories that are not simply the `.git` of a writable root: of linked worktrees and submodules, and of a repository
// whose top lies above the root. Changes to them are changes to git, wherever they are.

import type { AbsolutePath } from '../policy/paths.js';
import { innermost, parentOf } from '../policy/paths.js';
import type { FilesystemPolicy } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts } from './host.js';
import { targetOf } from './host.js';
import type { PlannedRepository } from './plan.js';
import type { PlannedRoot } from './roots.js';

/** Paths whose facts `planRepositories` wants: where git looks for the repository of each root, upwards. */
export function repositoryPaths({ writableRoots }: FilesystemPolicy): ReadonlySet<AbsolutePath> {
  const places = new Set<AbsolutePath>();
  for (const { path } of writableRoots) {
    for (let at = path; ; at = parentOf(at)) {
      const place = below(at, '.git');
      if (places.has(place)) break; // and so are those above it
      places.add(place);
      if (at === '/') break;
    }
  }
  return places;
}

export function planRepositories(
  roots: readonly PlannedRoot[],
  facts: Facts,
): readonly PlannedRepository[] {
  const real = new Set(roots.map((root) => root.real));
  const found = new Map<AbsolutePath, PlannedRepository>();
  for (const root of roots) {
    const repository = repositoryOf(root.path, facts);
    if (repository === undefined) continue;
    const { directory } = repository;
    const isPlain = directory.endsWith('/.git') && innermost(real, directory) !== undefined;
    if (!isPlain) found.set(directory, repository);
  }
  return [...found.values()];
}

/** The repository that git finds from a folder, as it does: upwards, the first `.git` that is there. */
function repositoryOf(folder: AbsolutePath, facts: Facts): PlannedRepository | undefined {
  for (let at = folder; ; at = parentOf(at)) {
    const place = below(at, '.git');
    const target = targetOf(facts.paths.get(place));
    const [directory, common] = facts.gitDirectories.get(place) ?? [];
    if (directory !== undefined) return { directory, common: common ?? directory };
    if (target?.kind === 'directory') return { directory: target.real, common: target.real };
    if (at === '/') return undefined;
  }
}
