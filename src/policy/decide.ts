// What the policy says about one connection or lookup. The first rule that matches decides, else the mode.
// Pure; whether a person or a grant says otherwise is the broker's business.

import { isPublic, parseAddress, specialNetworks, networkContains } from './addresses.js';
import type { HostPattern, PortRange } from './hosts.js';
import { ANY_PORT, normalHost } from './hosts.js';
import type { NetworkPolicy } from './policy.js';
import type { NetworkObject } from './request.js';
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
export function decide(network: NetworkPolicy, object: NetworkObject): RuleDecision {
  if (!('port' in object)) return decideLookup(network, object.host);
  const target = targetOf(object);
  if (target === undefined) return { effect: 'deny', rule: null };
  const index = network.table.first(target, object.port);
  const rule = index === undefined ? undefined : network.rules[index];
  if (index === undefined || rule === undefined) {
    return { effect: modeEffects[network.mode.value], rule: null };
  }
  return { effect: rule.effect, rule: index };
}

/**
 * Whether the lookup of a name may leave the host by itself: only when some port of it is allowed without a question, since
 * a lookup tells the name to somebody. Nobody is asked about lookups.
 */
function decideLookup(network: NetworkPolicy, name: string): RuleDecision {
  const host = normalHost(name);
  if (host === undefined) return { effect: 'deny', rule: null };
  const ports = new PortSet();
  for (const index of network.table.anyPort({ kind: 'host', host })) {
    const rule = network.rules[index];
    if (rule === undefined || !ports.take(rule.pattern.ports) || rule.effect !== 'allow') continue;
    return { effect: 'allow', rule: index };
  }
  const isOpen = network.mode.value === 'on' && ports.take(ANY_PORT);
  return { effect: isOpen ? 'allow' : 'deny', rule: null };
}

/** Ports that an earlier rule has decided about. */
class PortSet {
  readonly #taken = new Uint8Array(65_536);

  /** Adds a range; whether some of it was not in before. */
  take([from, to]: PortRange): boolean {
    const isFresh = this.#taken.subarray(from, to + 1).includes(0);
    this.#taken.fill(1, from, to + 1);
    return isFresh;
  }
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
    const target = { kind: 'network', network: address } as const;
    const denied = network.table.first(
      target,
      port,
      (rule) => rule.effect === 'deny' && isOnAddress(rule),
    );
    if (denied !== undefined) return { address: address.text, effect: 'deny', rule: denied };
    if (isPublic(address)) return { address: address.text, effect: 'allow', rule: null };
    const near = network.table.first(target, port, isOnSpecialAddress);
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
export function isOnSpecialAddress({ pattern }: { readonly pattern: HostPattern }): boolean {
  return (
    pattern.kind === 'network' &&
    specialNetworks.some((special) => networkContains(special, pattern.network))
  );
}

function isOnAddress({ pattern }: NetworkRule): boolean {
  return pattern.kind === 'network';
}

function targetOf(
  object: Exclude<NetworkObject, { readonly port?: never }>,
): RuleTarget | undefined {
  if ('address' in object) {
    const address = parseAddress(object.address);
    return address === undefined ? undefined : { kind: 'network', network: address };
  }
  const host = normalHost(object.host);
  return host === undefined ? undefined : { kind: 'host', host };
}
