// What the policy says about one connection or lookup. The first rule that matches decides, else the mode.
// Pure; whether a person or a grant says otherwise is the broker's business.

import type { Address } from './addresses.js';
import { isPublic, parseAddress, specialNetworks, networkContains } from './addresses.js';
import { normalHost } from './hosts.js';
import type { NetworkPolicy } from './policy.js';
import type { RequestObject } from './request.js';
import type { Effect, NetworkRule, RuleTarget } from './rules.js';

export interface RuleDecision {
  readonly effect: Effect;
  /** Index into `rules`; null when the mode decided. */
  readonly rule: number | null;
}

export interface AddressDecision extends RuleDecision {
  readonly address: string;
}

/** The decision before any grant or answer. What is no host name and no address is denied. */
export function decide(network: NetworkPolicy, object: RequestObject): RuleDecision {
  const target = targetOf(object);
  if (target === undefined) return { effect: 'deny', rule: null };
  const index = network.table.first(target);
  const rule = index === undefined ? undefined : network.rules[index];
  if (index === undefined || rule === undefined)
    return { effect: modeEffects[network.mode.value], rule: null };
  return { effect: rule.effect, rule: index };
}

/**
 * Judges the addresses that an allowed name resolved to, each before it is dialled. `allow`: dial it. `deny`: a rule on the
 * address refuses it, whatever the name. `ask`: it is private, loopback, link-local or a metadata service, which no rule on
 * a name covers, so that a name cannot be rebound to something near; only a rule on the address or an answer does.
 */
export function judgeAddresses(
  network: NetworkPolicy,
  port: number,
  addresses: readonly string[],
): readonly AddressDecision[] {
  return addresses.map((text) => {
    const address = parseAddress(text);
    if (address === undefined) return { address: text, effect: 'deny', rule: null };
    const target = { kind: 'address', address, port } as const;
    const denied = network.table.first(
      target,
      (rule) => rule.effect === 'deny' && isOnAddress(rule),
    );
    if (denied !== undefined) return { address: address.text, effect: 'deny', rule: denied };
    if (isPublic(address)) return { address: address.text, effect: 'allow', rule: null };
    const near = network.table.first(target, isOnSpecialAddress);
    const effect = near === undefined ? undefined : network.rules[near]?.effect;
    if (near !== undefined && effect !== undefined)
      return { address: address.text, effect, rule: near };
    return {
      address: address.text,
      effect: network.mode.value === 'off' ? 'deny' : 'ask',
      rule: null,
    };
  });
}

/** What the mode says where no rule does. */
export const modeEffects = { off: 'deny', ask: 'ask', on: 'allow' } as const;

/** Whether a rule was written for private or otherwise special addresses, not for the Internet at large. */
export function isOnSpecialAddress({ pattern }: Pick<NetworkRule, 'pattern'>): boolean {
  return (
    pattern.kind === 'network' &&
    specialNetworks.some((special) => networkContains(special, pattern.network))
  );
}

function isOnAddress({ pattern }: NetworkRule): boolean {
  return pattern.kind === 'network';
}

function targetOf(object: RequestObject): RuleTarget | undefined {
  if ('address' in object) {
    const address: Address | undefined = parseAddress(object.address);
    return address === undefined ? undefined : { kind: 'address', address, port: object.port };
  }
  const host = normalHost(object.host);
  if (host === undefined) return undefined;
  return { kind: 'name', host, port: 'port' in object ? object.port : undefined };
}
