// Network rules in the order in which they decide, with an index: a decision costs the same with ten rules or ten thousand.
// The launcher holds the same list and decides the same way (native/linux/network/decide.c, test/fixtures/decisions.json).

import type { Network } from './addresses.js';
import type { HostPattern, PortRange } from './hosts.js';
import { coveringHosts } from './hosts.js';
import type { Origin } from './origin.js';

export type Effect = 'allow' | 'deny' | 'ask';

export interface NetworkRule {
  readonly effect: Effect;
  readonly pattern: Exclude<HostPattern, { readonly kind: 'hostPort' }>;
  readonly origin: Origin;
}

/** What a rule is held against, ports apart: a name or wildcard, an address or network. A rule matches when it covers all of it. */
export type RuleTarget =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'network'; readonly network: Pick<Network, 'bits' | 'prefix' | 'head'> };

export interface RuleTable {
  readonly rules: readonly NetworkRule[];
  /** The first rule that matches and is `wanted`, as an index into `rules`. */
  first(
    target: RuleTarget,
    port: number,
    wanted?: (rule: NetworkRule) => boolean,
  ): number | undefined;
  /** The rules that match for some port, in order. */
  anyPort(target: RuleTarget): readonly number[];
}

/** The first of `rules` that matches decides. */
export function createRuleTable(rules: readonly NetworkRule[]): RuleTable {
  const byHost = new Map<string, number[]>();
  const byNetwork = new Map<string, number[]>();
  const prefixes = new Map<string, { readonly bits: number; readonly prefix: number }>();
  rules.forEach(({ pattern }, index) => {
    if (pattern.kind === 'host') {
      append(byHost, pattern.host, index);
      return;
    }
    const { bits, prefix, head } = pattern.network;
    append(byNetwork, networkKey(bits, prefix, head), index);
    prefixes.set(`${bits}/${prefix}`, { bits, prefix });
  });

  function candidates(target: RuleTarget): readonly (readonly number[])[] {
    if (target.kind === 'host')
      return coveringHosts(target.host).map((host) => byHost.get(host) ?? []);
    const { bits, prefix, head } = target.network;
    const wider = [...prefixes.values()].filter(
      (entry) => entry.bits === bits && entry.prefix <= prefix,
    );
    return [
      byHost.get('*') ?? [],
      ...wider.map(
        (entry) =>
          byNetwork.get(networkKey(bits, entry.prefix, head >> BigInt(prefix - entry.prefix))) ??
          [],
      ),
    ];
  }

  return {
    rules,
    first(target, port, wanted = () => true) {
      let best: number | undefined;
      for (const indices of candidates(target)) {
        const found = indices.find((index) => {
          const rule = rules[index];
          return rule !== undefined && includesPort(rule.pattern.ports, port) && wanted(rule);
        });
        if (found !== undefined && (best === undefined || found < best)) best = found;
      }
      return best;
    },
    anyPort: (target) =>
      candidates(target)
        .flat()
        .sort((one, other) => one - other),
  };
}

function includesPort(ports: PortRange, port: number): boolean {
  return ports[0] <= port && port <= ports[1];
}

function networkKey(bits: number, prefix: number, head: bigint): string {
  return `${bits}/${prefix}/${head.toString(36)}`;
}

function append(map: Map<string, number[]>, key: string, index: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [index]);
  else list.push(index);
}
