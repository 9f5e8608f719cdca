// What the settings mean: one immutable value, with the origin of every rule. Pure types; resolvePolicy makes it.

import type { Problem } from '../settings/layers.js';
import type {
  CachesMode,
  GitMode,
  ListenMode,
  NetworkMode,
  SettingDefaults,
  TempMode,
} from '../settings/schema.js';
import type { Origin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import type { NetworkRule, RuleTable } from './rules.js';

export type { CachesMode, GitMode, ListenMode, NetworkMode, TempMode };

/** Programs that hold keys and sign with them for others. */
export type AgentKind = 'ssh' | 'gpg';

export interface Placed<T> {
  readonly value: T;
  readonly origin: Origin;
}

/** A folder that is open for writing, as written: symbolic links are resolved in the plan. */
export interface WritableRoot {
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

export interface ProtectedPath {
  readonly path: AbsolutePath;
  /** The writable root it was written relative to. */
  readonly root?: AbsolutePath;
  readonly origin: Origin;
}

export interface MaskedPath {
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

export interface FilesystemPolicy {
  readonly writableRoots: readonly WritableRoot[];
  readonly denyRead: readonly MaskedPath[];
  readonly protectedPaths: readonly ProtectedPath[];
  /** The administrator's: nothing outside of these may be writable, links resolved. */
  readonly rootLimit?: readonly AbsolutePath[];
  readonly state: AbsolutePath;
  readonly temp: Placed<TempMode>;
  readonly caches: Placed<CachesMode>;
}

export interface NetworkPolicy {
  readonly mode: Placed<NetworkMode>;
  /** In the order in which they decide. */
  readonly rules: readonly NetworkRule[];
  readonly table: RuleTable;
  /** Ports of this machine that are let in. */
  readonly hostPorts: readonly Placed<number>[];
}

export interface EnvironmentPolicy {
  /** fnmatch(3) patterns of names. */
  readonly drop: readonly Placed<string>[];
  /** Names; stronger than `drop`. */
  readonly keep: readonly Placed<string>[];
}

export interface Policy {
  readonly filesystem: FilesystemPolicy;
  readonly network: NetworkPolicy;
  readonly environment: EnvironmentPolicy;
  readonly approvals: { readonly timeoutMs: Placed<number> };
}

/** Warnings came with a policy and say which entries have no effect; errors refuse every run. */
export type PolicyResult =
  | { readonly kind: 'resolved'; readonly policy: Policy; readonly problems: readonly Problem[] }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] };

export interface PolicyContext {
  readonly home: AbsolutePath;
  /** The home of the account when HOME says another one: its secrets are closed as well. */
  readonly accountHome?: AbsolutePath;
  readonly uid: number;
  /** The workspace folders of a window, or the roots of a run: writable, and what relative paths are relative to. */
  readonly roots: readonly AbsolutePath[];
  /** Cordon's state (audit, caches, sockets): always hidden. */
  readonly state: AbsolutePath;
  /** Cordon's program, the editor's settings and the like: always read-only. */
  readonly own: readonly AbsolutePath[];
  readonly defaults: SettingDefaults;
}
