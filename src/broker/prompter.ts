// Asking a person. The broker knows only this interface; extension and cli implement it.

import type { AlwaysRule, GrantScope } from '../policy/grant.js';
import type { AccessRequest } from '../policy/request.js';

/**
 * `denyAlways` is remembered for the session, and written to the user's settings where they have a place for it; `denyRun`
 * refuses everything else that the run asks, too. `dismissed` is no answer: the question stays pending.
 */
export type Answer =
  | {
      readonly kind: GrantScope | 'deny' | 'denyRun' | 'denyAlways';
    }
  | { readonly kind: 'dismissed' };

/** One question, however many equal requests wait for it. */
export interface Question {
  readonly id: string;
  /** The request that opened it. */
  readonly request: AccessRequest;
  /** Completes "NAME wants to" in one line, safe to show: text of programs in it is made visible, paths begin with `~`. */
  readonly wish: string;
  /** What an answer can be given for, narrowest first; a wider answer than the last counts as the last. */
  readonly offers: readonly GrantScope[];
  /** What an answer wider than `once` opens when it is more than the path itself. */
  readonly wider: string | null;
  /** What *always* would write into the user's settings; empty when it is not offered. */
  readonly always: readonly AlwaysRule[];
  /** What `denyAlways` would write; empty when it is remembered for the session only. */
  readonly never: readonly AlwaysRule[];
  /** Number of calls waiting for this answer now; at least 1. */
  readonly waiting: number;
  /** The command line of the run, as the launcher reported it. */
  readonly command: readonly string[];
  /** Why it is asked, in words: the rule, or the mode. */
  readonly rule: string;
  /** Set when the name resolved to these private, loopback, link-local or metadata addresses. */
  readonly privateAddresses: readonly string[];
  /** The same for people: `127.0.0.1 (this machine)`. */
  readonly places: readonly string[];
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Milliseconds since the epoch after which it counts as not answered. */
  readonly expiresAt: number;
}

export interface Prompter {
  /**
   * Asks. Settles with the answer; `dismissed` leaves the question pending (a toast that was closed), to be answered
   * later through `Session.answer`. When `signal` aborts, the question is over: take it down, the result is ignored.
   * A rejection is a denial with reason `noInterface`.
   */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
}
