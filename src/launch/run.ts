// A running thing is an object: one end, and the first reason for it wins.

import type { RunStatus } from './control/schema.js';

export type StopReason = 'user' | 'sessionClosed' | 'brokerLost' | 'limit' | 'internal';

/** How a run ended. `exitCode` is what a shell would see: 125 when the boundary could not be set up. */
export type RunExit =
  | { readonly kind: 'exited'; readonly status: RunStatus; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly reason: StopReason; readonly exitCode: number }
  | { readonly kind: 'failed'; readonly message: string; readonly exitCode: number };

export interface Run {
  /** Known before the launcher says `ready`. */
  readonly id: string;
  /** Settles once and never rejects, because a failure is an outcome too. */
  readonly exited: Promise<RunExit>;
  stop(reason: StopReason): Promise<RunExit>;
}
