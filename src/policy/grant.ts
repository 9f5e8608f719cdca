// A recorded permission given by a person. Types, and the names of the settings that it can be written to.

import type { Access, Destination, Open } from './request.js';

export type { Access, Open };

export type GrantScope = 'once' | 'run' | 'session' | 'always';

/** A write of a protected place is allowed only by a grant that was given for one: a grant of the folder around it is none. */
export interface OpenTarget extends Open {
  readonly protected: boolean;
}

export interface KeyTarget {
  readonly agent: 'ssh' | 'gpg';
  readonly key: string;
}

export interface PublishTarget {
  readonly publish: number;
}

export type GrantTarget = Destination | OpenTarget | KeyTarget | PublishTarget;

/** Dotted keys after `cordon.` that an answer for good writes to: lists, except for `filesystem.git`. */
export const ALWAYS_SETTINGS = [
  'filesystem.writableRoots',
  'filesystem.protectedPaths',
  'filesystem.denyRead',
  'filesystem.git',
  'network.allow',
  'network.deny',
  'network.publish',
  'sockets.allow',
  'sockets.deny',
] as const;

/** What an answer for good writes into the user's settings. */
export interface AlwaysRule {
  readonly effect: 'allow' | 'deny';
  /** A list gets the entry, `filesystem.git` becomes it. */
  readonly setting: (typeof ALWAYS_SETTINGS)[number];
  readonly entry: string | number;
}

/** What a run loses when a grant is taken back. */
export interface Revocation {
  readonly connections: readonly Destination[];
  readonly opens: readonly Open[];
  /** Listeners that are not reachable from outside any more. */
  readonly ports: readonly number[];
}

/** Who asked when the grant was given. Text from programs, made safe to show. */
export interface GrantOrigin {
  readonly run: string;
  readonly program: string;
  /** The command line of the run, without secrets. */
  readonly command: readonly string[];
}

export interface Grant {
  readonly id: string;
  readonly scope: GrantScope;
  /** Set for `run`: the grant ends with it. */
  readonly run?: string;
  readonly session: string;
  readonly target: GrantTarget;
  readonly origin: GrantOrigin;
  /** Addresses this grant was given for although they are private, loopback or link-local; empty for public names. */
  readonly privateAddresses: readonly string[];
  /** What an `always` wrote into the user's settings, so that revoking can undo it; else empty. */
  readonly written: readonly AlwaysRule[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}
