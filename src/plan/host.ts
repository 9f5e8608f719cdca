// What the plan has to know about this machine. Gathered by launch; the plan itself opens no file.

import type { AbsolutePath } from '../policy/paths.js';

export type FileKind = 'file' | 'directory' | 'other';

/** What is at a path that was asked about. `real` has no symbolic link in any component. */
export type PathFact =
  | { readonly kind: 'absent' }
  | { readonly kind: FileKind; readonly real: AbsolutePath }
  /** The last component is a link; without `target` it leads nowhere. */
  | {
      readonly kind: 'symlink';
      readonly target?: { readonly kind: FileKind; readonly real: AbsolutePath };
    };

export interface Facts {
  /** For every path of `pathsToProbe`; one that cannot be looked at for lack of rights counts as absent. */
  readonly paths: ReadonlyMap<AbsolutePath, PathFact>;
  /** For each `.git` among them that is a file (a worktree, a submodule): the real git directory and its common directory. */
  readonly gitDirectories: ReadonlyMap<AbsolutePath, readonly AbsolutePath[]>;
  /** For each real path among them that is mounted twice: where else it shows. */
  readonly aliases: ReadonlyMap<AbsolutePath, readonly AbsolutePath[]>;
  /** Whether overlayfs can be mounted without privilege. */
  readonly canOverlay: boolean;
}

/** The real path and every other path to the same place. */
export function everyPathTo(facts: Facts, real: AbsolutePath): readonly AbsolutePath[] {
  return [real, ...(facts.aliases.get(real) ?? [])];
}

/** What is asked of the plan besides the policy. */
export interface PlannedRun {
  readonly id: string;
  /** The working directory, as the launcher reported it. */
  readonly directory: AbsolutePath;
  readonly home: AbsolutePath;
  /**
   * For this run's cache layers: below the state folder, and not in use by another run (two overlays on the same upper folder
   * are undefined, mount(2)).
   */
  readonly cacheFolder: AbsolutePath;
  readonly brokerLoss: 'end' | 'wait';
  readonly terminal: 'inherit' | 'relay';
}

/** Where a path really leads, and what is there. */
export function targetOf(
  fact: PathFact | undefined,
): { readonly kind: FileKind; readonly real: AbsolutePath } | undefined {
  if (fact === undefined || fact.kind === 'absent') return undefined;
  return fact.kind === 'symlink' ? fact.target : fact;
}
