// What the settings mean: one immutable value, with the origin of every rule. Pure types; resolvePolicy makes it.

import type { Problem } from '../settings/layers.js';
import type {
  AgentsMode,
  CachesMode,
  GitMode,
  ListenMode,
  NetworkMode,
  ReadMode,
  SettingDefaults,
  TempMode,
} from '../settings/schema.js';
import type { Open } from './grant.js';
import type { Origin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import type { Effect, NetworkRule, RuleTable } from './rules.js';

export type { AgentsMode, CachesMode, GitMode, ListenMode, NetworkMode, ReadMode, TempMode };

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

/** A place, as written: symbolic links are resolved in the plan. */
export interface PlacedPath {
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

/** An exception to what is closed or protected. */
export interface PlacedOpen extends Open {
  readonly origin: Origin;
}

export interface FilesystemPolicy {
  readonly writableRoots: readonly WritableRoot[];
  readonly git: Placed<GitMode>;
  readonly read: Placed<ReadMode>;
  /** Readable when `read` is `roots`. */
  readonly readRoots: readonly PlacedPath[];
  /** The administrator's: nothing outside of these may be a read root, links resolved. */
  readonly readLimit?: readonly AbsolutePath[];
  readonly denyRead: readonly PlacedPath[];
  readonly hideNames: Placed<boolean>;
  /** Relative, normalised: protected below each root and below the top of each repository in one. */
  readonly protectedNames: readonly Placed<string>[];
  /** Every place that is known by its path, those of `protectedNames` and `.git` below each root included. */
  readonly protectedPaths: readonly ProtectedPath[];
  /** Places inside closed and protected ones that stay open. */
  readonly opens: readonly PlacedOpen[];
  /** The administrator's: nothing outside of these may be writable, links resolved. */
  readonly rootLimit?: readonly AbsolutePath[];
  readonly state: AbsolutePath;
  readonly temp: Placed<TempMode>;
  readonly caches: Placed<CachesMode>;
}

export interface SocketRule {
  readonly effect: Effect;
  /** A socket, or a folder of them. */
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

export interface SocketsPolicy {
  /** The first that contains a socket decides about it; without one it is asked about. */
  readonly rules: readonly SocketRule[];
  readonly agents: Placed<AgentsMode>;
  /** Where agents listen when they are asked about; stronger than `rules`. */
  readonly agentSockets: readonly { readonly kind: AgentKind; readonly path: AbsolutePath }[];
}

export interface NetworkPolicy {
  readonly mode: Placed<NetworkMode>;
  /** In the order in which they decide. */
  readonly rules: readonly NetworkRule[];
  readonly table: RuleTable;
  /** Ports of this machine that are let in. */
  readonly hostPorts: readonly Placed<number>[];
  readonly listen: Placed<ListenMode>;
  /** Ports inside that this machine reaches without a question. */
  readonly publish: readonly Placed<number>[];
}

export interface EnvironmentPolicy {
  /** fnmatch(3) patterns of names. */
  readonly drop: readonly Placed<string>[];
  /** Names; stronger than `drop`. */
  readonly keep: readonly Placed<string>[];
}

export interface Policy {
  readonly filesystem: FilesystemPolicy;
  readonly sockets: SocketsPolicy;
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
  /** Cordon's state (audit, caches): always hidden. */
  readonly state: AbsolutePath;
  /** The sockets of Cordon's sessions: always out of reach. */
  readonly runtime: AbsolutePath;
  /** Where an ssh-agent of the user's listens, besides the usual places. */
  readonly sshAgent?: AbsolutePath;
  /** Cordon's program, the editor's settings and the like: always read-only. */
  readonly own: readonly AbsolutePath[];
  readonly defaults: SettingDefaults;
}
