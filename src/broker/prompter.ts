// Asking a person. The broker knows only this interface; extension and cli implement it.

import type { AccessRequest } from '../policy/request.js';

/**
 * `denyAlways` is written to the user's settings; `denyRun` refuses everything else that the run asks, too. `dismissed`
 * is no answer: the question stays pending.
 */
export type Answer =
  | {
      readonly kind: 'once' | 'run' | 'session' | 'always' | 'deny' | 'denyRun' | 'denyAlways';
    }
  | { readonly kind: 'dismissed' };

/** One question, however many equal requests wait for it. */
export interface Question {
  readonly id: string;
  /** The request that opened it. */
  readonly request: AccessRequest;
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
