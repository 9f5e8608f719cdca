// Which addresses of a name may be dialled. Pure: what was looked up and what the policy and the grants say come in.

import type { RunPolicy } from './runPolicy.js';

/** An address that is not public, with where it leads in words. */
export interface UnusualAddress {
  readonly address: string;
  readonly place: string;
}

export type CheckedAddresses =
  /** These may be dialled, in this order; none: the name has no address. */
  | { readonly kind: 'usable'; readonly addresses: readonly string[] }
  | { readonly kind: 'question'; readonly unusual: readonly UnusualAddress[] }
  | { readonly kind: 'denied'; readonly rule: string };

/**
 * A name with an address that may be dialled is dialled there; its others are left out, so that a private one cannot be
 * reached beside a public one. A question is for names that lead nowhere else.
 */
export function checkAddresses(
  found: readonly string[],
  port: number,
  policy: RunPolicy,
  isGranted: (address: string) => boolean,
): CheckedAddresses {
  const addresses: string[] = [];
  const unusual: UnusualAddress[] = [];
  let rule: string | undefined;
  for (const text of new Set(found)) {
    const judged = policy.decideAddress(text, port);
    if (judged.effect === 'deny') rule ??= judged.rule;
    else if (judged.effect === 'allow' || isGranted(judged.address)) addresses.push(judged.address);
    else unusual.push({ address: judged.address, place: judged.place });
  }
  if (addresses.length > 0) return { kind: 'usable', addresses };
  if (unusual.length > 0) return { kind: 'question', unusual };
  return rule === undefined ? { kind: 'usable', addresses } : { kind: 'denied', rule };
}
