// What the launcher will do, as data: exactly what is sent to it (native/PROTOCOL.md, "The plan"). Pure types.

import type { Open } from '../policy/grant.js';
import type { PortRange } from '../policy/hosts.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { AgentKind, GitMode, ListenMode, NetworkMode } from '../policy/policy.js';
import type { Effect } from '../policy/rules.js';

/** A promise of SECURITY.md that this host cannot keep, and why. Shown to the user, never silent. */
export interface Gap {
  readonly promise: string;
  readonly reason: string;
}

export type Mount =
  | {
      readonly op: 'private' | 'writable' | 'readable' | 'pin' | 'protect' | 'guard' | 'mask';
      readonly path: AbsolutePath;
    }
  /** Held when something below is opened; `names`: listed and looked at without a question. */
  | { readonly op: 'tripwire'; readonly path: AbsolutePath; readonly names: boolean }
  | {
      readonly op: 'copyOnWrite';
      readonly path: AbsolutePath;
      readonly upper: AbsolutePath;
      readonly work: AbsolutePath;
    };

export type { AgentKind, Effect, GitMode, ListenMode, NetworkMode, Open, PortRange };

export type PlannedRule =
  | { readonly effect: Effect; readonly host: string; readonly ports: PortRange }
  | { readonly effect: Effect; readonly network: string; readonly ports: PortRange };

export interface PlannedEnvironment {
  readonly drop: readonly string[];
  readonly keep: readonly string[];
  readonly set: readonly {
    readonly name: string;
    readonly value: string;
    readonly overwrite: boolean;
  }[];
}

/** What the supervisor judges changes of files by, whether or not there is something to mount over. */
export interface PlannedFiles {
  /** Real; every writable root that lasts, so neither temporary folders nor layers over caches. */
  readonly roots: readonly AbsolutePath[];
  /** Protected directly below a root, and below the top of a repository in one. */
  readonly names: readonly string[];
  /** Protected places besides, real as far as they exist. */
  readonly protected: readonly AbsolutePath[];
  /** Folders below which `names` are ordinary files; `.git` is not. */
  readonly packages: readonly string[];
  /** fnmatch(3), held against each component: refused without a question or a record. */
  readonly quiet: readonly string[];
  readonly git: GitMode;
  /** Of `.git` files and of folders that lie inside a repository: real git directories outside of `roots`' own `.git`. */
  readonly repositories: readonly PlannedRepository[];
}

export interface PlannedRepository {
  readonly directory: AbsolutePath;
  /** The same unless it is a linked worktree's. */
  readonly common: AbsolutePath;
}

/** The first that is `path` or contains it decides about a unix socket of the host; without one it is asked about. */
export interface PlannedSocketRule {
  readonly effect: Effect;
  readonly path: AbsolutePath;
}

export interface LinuxPlan {
  readonly run: string;
  readonly engine: 'namespaces';
  readonly directory: AbsolutePath;
  readonly mounts: readonly Mount[];
  readonly network: {
    readonly mode: NetworkMode;
    readonly rules: readonly PlannedRule[];
    readonly hostPorts: readonly number[];
  };
  readonly files: PlannedFiles;
  readonly sockets: {
    readonly rules: readonly PlannedSocketRule[];
    /** Sockets behind which every signature asks. */
    readonly agents: readonly { readonly kind: AgentKind; readonly path: AbsolutePath }[];
  };
  /** Listeners inside that become reachable on this machine's loopback; `ports` without a question. */
  readonly publish: { readonly mode: ListenMode; readonly ports: readonly number[] };
  /** Open from the start. */
  readonly opens: readonly Open[];
  readonly environment: PlannedEnvironment;
  readonly limits: { readonly answerMs: number; readonly brokerMs: number };
  readonly brokerLoss: 'end' | 'wait';
  readonly terminal: 'inherit' | 'relay';
}
