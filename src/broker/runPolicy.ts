// What the broker must know of the policy of one run. The session makes it from the policy.

import type { RequestObject } from '../policy/request.js';

export type AddressDecision = {
  /** As it is compared and dialled: IPv4-mapped IPv6 addresses are IPv4. */
  readonly address: string;
} & (
  | { readonly effect: 'allow' }
  | { readonly effect: 'deny'; readonly rule: string }
  /** Not a public address, and no rule covers it; `place` says in words where it leads. */
  | { readonly effect: 'ask'; readonly place: string }
);

export interface RunPolicy {
  /** What the rules, and else the mode, say of a target; `rule` names it with its origin, for people. */
  decide(object: RequestObject): {
    readonly effect: 'allow' | 'deny' | 'ask';
    readonly rule: string;
  };
  /** What they say of an address that a name resolved to; undefined when the text is no address. */
  decideAddress(address: string, port: number | undefined): AddressDecision | undefined;
}
