// What the broker asks of the policy of one run, with every rule put into words: rule, and where it was written.

import { decide, judgeAddresses } from '../policy/decide.js';
import { writePattern } from '../policy/hosts.js';
import { describeOrigin } from '../policy/origin.js';
import type { NetworkPolicy } from '../policy/policy.js';
import type { RequestObject } from '../policy/request.js';
import { placeOf } from './places.js';

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
  /** What they say of an address that a name resolved to. */
  decideAddress(address: string, port: number): AddressDecision;
  /** A rule by its number in the plan; null is the mode. */
  describeRule(rule: number | null): string;
}

export function runPolicyOf(network: NetworkPolicy): RunPolicy {
  const describeRule = (index: number | null): string => {
    const rule = index === null ? undefined : network.rules[index];
    if (rule !== undefined)
      return `${rule.effect} ${writePattern(rule.pattern)}: ${describeOrigin(rule.origin)}`;
    return `network mode ${network.mode.value}: ${describeOrigin(network.mode.origin)}`;
  };
  return {
    describeRule,
    decide(object) {
      const { effect, rule } = decide(network, object);
      return { effect, rule: describeRule(rule) };
    },
    decideAddress(text, port) {
      const [judged] = judgeAddresses(network, port, [text]);
      if (judged === undefined) return { address: text, effect: 'deny', rule: 'not an address' };
      const { address, effect, rule } = judged;
      switch (effect) {
        case 'allow':
          return { address, effect };
        case 'deny':
          return { address, effect, rule: describeRule(rule) };
        case 'ask':
          return { address, effect, place: placeOf(address) };
      }
    },
  };
}
