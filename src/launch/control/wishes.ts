// The two frames between a program inside a run and its supervisor: what it will need and why, and what came of it.

import type { Open, ReasonCode } from '../../policy/request.js';
import { REASONS } from '../../policy/request.js';

export type AccessWish =
  Open | { readonly host: string; readonly port: number } | { readonly publish: number };

export interface RequestFrame {
  readonly kind: 'request';
  readonly want: readonly AccessWish[];
  /** Shown to whoever is asked, as the program's own words. */
  readonly because: string;
}

/** The supervisor's answer could not be read. */
export interface WishErrorFrame {
  readonly kind: 'error';
  readonly message: string;
}

export interface WishResult {
  readonly effect: 'allow' | 'deny';
  readonly reason: ReasonCode;
  /** One line for the program's user. */
  readonly message: string | null;
}

/** Reads `{kind: 'decision', results}`; throws an Error when it is not one for `count` wishes. */
export function parseDecision(value: unknown, count: number): readonly WishResult[] {
  const { kind, results } = fieldsOf(value, ['kind', 'results']);
  if (kind !== 'decision' || !Array.isArray(results) || results.length !== count) {
    throw new Error(`not a decision about ${count} wishes`);
  }
  return results.map(parseResult);
}

function parseResult(value: unknown): WishResult {
  const { effect, reason, message } = fieldsOf(value, ['effect', 'reason', 'message']);
  const known = REASONS.find((each) => each === reason);
  if (effect !== 'allow' && effect !== 'deny') throw new Error('a result without an effect');
  if (known === undefined) throw new Error('a result without a reason');
  if (typeof message !== 'string' && message !== null)
    throw new Error('a result without a message');
  return { effect, reason: known, message };
}

/** An object with just these keys. */
function fieldsOf(value: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  if (Object.keys(value).sort().join() !== [...keys].sort().join()) {
    throw new Error(`keys other than ${keys.join(', ')}`);
  }
  return { ...value };
}
