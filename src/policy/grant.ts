// A recorded permission given by a person. Pure types.

import type { AbsolutePath } from './paths.js';

export type GrantScope = 'once' | 'run' | 'session' | 'always';

/** What a run may do with a place, and with all below it. */
export type Access = 'write' | 'read' | 'git' | 'socket';

export interface Open {
  readonly access: Access;
  readonly path: AbsolutePath;
}

export interface Grant {
  readonly id: string;
  readonly scope: GrantScope;
  /** Set for `once` and `run`. */
  readonly run?: string;
  readonly session: string;
  readonly target:
    | { readonly host: string; readonly port: number }
    | { readonly address: string; readonly port: number };
  /** Addresses this grant was given for although they are private, loopback or link-local; empty for public names. */
  readonly privateAddresses: readonly string[];
  /** What an `always` wrote into the user's settings, in the notation of cordon.network.allow; else empty. */
  readonly patterns: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
}
