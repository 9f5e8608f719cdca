// What the plan has to know about this machine. Gathered by launch; the plan itself opens no file.

import type { AbsolutePath } from '../policy/paths.js';

export type FileKind = 'file' | 'directory' | 'other';

/** What is at a path that was asked about. `real` has no symbolic link in any component. */
export type PathFact =
  /** Nothing, or nothing that may be looked at; `place` is where it would be. */
  | { readonly kind: 'absent'; readonly place: AbsolutePath }
  | { readonly kind: FileKind; readonly real: AbsolutePath }
  /** The last component is a link, at `place`; without `target` it leads nowhere. */
  | {
      readonly kind: 'symlink';
      readonly place: AbsolutePath;
      readonly target?: { readonly kind: FileKind; readonly real: AbsolutePath };
    };

export interface Facts {
  /** For every path of `pathsToProbe`, and everything directly in a folder of `foldersToList`. */
  readonly paths: ReadonlyMap<AbsolutePath, PathFact>;
  /** What is directly in each folder of `foldersToList`. */
  readonly entries: ReadonlyMap<AbsolutePath, readonly AbsolutePath[]>;
  /** For each `.git` among the paths that is a file or a link: the real git directory and its common directory. */
  readonly gitDirectories: ReadonlyMap<AbsolutePath, readonly AbsolutePath[]>;
  /** For each real path among them that is mounted twice: where else it shows. */
  readonly aliases: ReadonlyMap<AbsolutePath, readonly AbsolutePath[]>;
  readonly host: HostAbilities;
}

/** What of the boundary this host can do, and others cannot. */
export interface HostAbilities {
  /** Whether overlayfs can be mounted without privilege. */
  readonly overlay: boolean;
  /** Whether calls can be held: not where another sandbox around this one holds them. */
  readonly hold: boolean;
  /** Whether opening a file for reading can be held (FUSE). */
  readonly holdReads: boolean;
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
  /** The folders in which programs are looked for. */
  readonly searchPath: readonly AbsolutePath[];
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

/** Where the name itself is, links of the folders above it followed. */
export function placeOf(fact: PathFact): AbsolutePath {
  return 'place' in fact ? fact.place : fact.real;
}

/** Where a path leads, or would. */
export function endOf(facts: Facts, path: AbsolutePath): AbsolutePath {
  const fact = facts.paths.get(path);
  if (fact === undefined) return path;
  return targetOf(fact)?.real ?? placeOf(fact);
}
