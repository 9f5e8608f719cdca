// Which hosts are allowed, refused or asked about. The list that comes out decides from top to bottom:
//   1. what anybody denies
//   2. private and other special addresses that were allowed by their address
//   3. private and other special addresses otherwise: asked about, however wide the rules below are
//   4. what is allowed
//   5. with an administrator's list: what is in it as the mode says, and everything else denied
// so deny beats ask beats allow, but for an address that somebody allowed by its address.

import type { Layer, Problem } from '../settings/layers.js';
import type { NetworkMode } from '../settings/schema.js';
import type { Network } from './addresses.js';
import { specialNetworks } from './addresses.js';
import type { Authority, Entry } from './authority.js';
import { cannotWiden, entriesOf, problemOf } from './authority.js';
import { isOnSpecialAddress, modeEffects } from './decide.js';
import type { HostPattern } from './hosts.js';
import { ANY_PORT, covers, intersect, parseHostPattern, writePattern } from './hosts.js';
import type { Origin } from './origin.js';
import { describeOrigin } from './origin.js';
import type { NetworkPolicy, Placed } from './policy.js';
import type { Effect, NetworkRule } from './rules.js';
import { createRuleTable } from './rules.js';

interface Written {
  readonly pattern: HostPattern;
  /** Written for private or otherwise special addresses, whatever a limit has made of it since. */
  readonly isNear: boolean;
  readonly origin: Origin;
  readonly authority: Authority;
  readonly entry: Entry;
}

type Resolved = Omit<NetworkPolicy, 'listen' | 'publish'>;

export function resolveNetwork(
  layers: readonly Layer[],
  mode: Placed<NetworkMode>,
): { readonly value: Resolved; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const denied = read(
    entriesOf(layers, 'network.deny', ({ network }) => network?.deny),
    problems,
  );
  const listed = read(
    entriesOf(layers, 'network.allow', ({ network }) => network?.allow),
    problems,
  );
  const limit = limitOf(layers, listed);
  const allowed = withoutDenied(
    withinLimit(mayAllow(listed, mode, problems), limit, problems),
    denied,
    problems,
  );

  const rules: readonly NetworkRule[] = [
    ...toRules('deny', denied.flatMap(alsoItsAddresses)),
    ...arrangeAllowed(allowed, limit, mode),
    ...limitRules(limit, mode),
  ];
  const hostPorts = allowed.flatMap(({ pattern, origin }) =>
    pattern.kind === 'hostPort' ? portsOf(pattern).map((port) => ({ value: port, origin })) : [],
  );
  const isDenied = (port: number): boolean =>
    denied.some(({ pattern }) => covers(pattern, { kind: 'hostPort', ports: [port, port] }));
  const open = new Map(
    hostPorts.filter(({ value }) => !isDenied(value)).map((placed) => [placed.value, placed]),
  );
  return {
    value: { mode, rules, table: createRuleTable(rules), hostPorts: [...open.values()] },
    problems,
  };
}

function read(entries: readonly Entry[], problems: Problem[]): readonly Written[] {
  return entries.flatMap((entry) => {
    const parsed = parseHostPattern(entry.text);
    if (parsed.kind === 'pattern') {
      const { pattern } = parsed;
      const { origin, authority } = entry;
      return [{ pattern, isNear: isOnSpecialAddress({ pattern }), origin, authority, entry }];
    }
    problems.push(problemOf(entry, 'error', parsed.message, parsed.suggestion));
    return [];
  });
}

interface Limit {
  readonly patterns: readonly Written[];
  readonly origin: Origin;
}

/** What the administrator lets anybody allow; with mode `off` and no list, nothing. `undefined`: no limit. */
function limitOf(layers: readonly Layer[], listed: readonly Written[]): Limit | undefined {
  const patterns = listed.filter(({ authority }) => authority === 'limit');
  for (const { source, values } of layers) {
    if (source.kind !== 'managed') continue;
    const key =
      values.network?.allow !== undefined
        ? 'allow'
        : values.network?.mode === 'off'
          ? 'mode'
          : undefined;
    if (key !== undefined)
      return { patterns, origin: { kind: 'setting', source, key: `network.${key}` } };
  }
  return undefined;
}

/** The entries whose authors may allow. A layer that turns the network off also turns off what layers before it allow. */
function mayAllow(
  listed: readonly Written[],
  mode: Placed<NetworkMode>,
  problems: Problem[],
): readonly Written[] {
  const off =
    mode.value === 'off' && mode.origin.kind === 'setting' ? mode.origin.source.kind : undefined;
  return listed.filter(({ authority, entry }) => {
    if (authority === 'limit') return false;
    if (authority === 'narrow') {
      problems.push(cannotWiden(entry, `allow ${entry.text}`));
      return false;
    }
    const isOverruled =
      entry.layer.source.kind === 'user' && (off === 'workspace' || off === 'run');
    return !isOverruled;
  });
}

function withinLimit(
  allowed: readonly Written[],
  limit: Limit | undefined,
  problems: Problem[],
): readonly Written[] {
  if (limit === undefined) return allowed;
  return allowed.flatMap((item) => {
    const parts = limit.patterns.flatMap((bound) => intersect(bound.pattern, item.pattern) ?? []);
    if (parts.length === 0) {
      problems.push(
        problemOf(
          item.entry,
          'warning',
          'has no effect: the administrator does not let it be allowed',
        ),
      );
    }
    return parts.map((pattern) => ({ ...item, pattern }));
  });
}

/** Leaves out what one denial covers whole, and says so: it could never have an effect. */
function withoutDenied(
  allowed: readonly Written[],
  denied: readonly Written[],
  problems: Problem[],
): readonly Written[] {
  const table = createRuleTable(toRules('deny', denied));
  const ports = denied.filter(({ pattern }) => pattern.kind === 'hostPort');
  return allowed.filter((item) => {
    const { pattern } = item;
    const candidates: readonly Pick<Written, 'pattern' | 'origin'>[] =
      pattern.kind === 'hostPort'
        ? ports
        : table.anyPort(pattern).flatMap((index) => table.rules[index] ?? []);
    const denial = candidates.find((candidate) => covers(candidate.pattern, pattern));
    if (denial === undefined) return true;
    const why = `${writePattern(denial.pattern)} is denied by ${describeOrigin(denial.origin)}`;
    problems.push(problemOf(item.entry, 'warning', `has no effect: ${why}`));
    return false;
  });
}

/** A denied port of this machine is denied to names that lead to this machine as well. */
function alsoItsAddresses(item: Written): readonly Written[] {
  const { pattern } = item;
  if (pattern.kind !== 'hostPort') return [item];
  return LOOPBACK.map((network) => ({
    ...item,
    pattern: { kind: 'network', network, ports: pattern.ports },
  }));
}

const LOOPBACK = specialNetworks.filter(({ text }) => text === '127.0.0.0/8' || text === '::/96');

function toRules(
  effect: Effect,
  items: readonly Pick<Written, 'pattern' | 'origin'>[],
): readonly NetworkRule[] {
  return items.flatMap(({ pattern, origin }) =>
    pattern.kind === 'hostPort' ? [] : [{ effect, pattern, origin }],
  );
}

/** Steps 2 to 4 above. */
function arrangeAllowed(
  allowed: readonly Written[],
  limit: Limit | undefined,
  mode: Placed<NetworkMode>,
): readonly NetworkRule[] {
  const near = toRules(
    'allow',
    allowed.filter(({ isNear }) => isNear),
  );
  const far = toRules(
    'allow',
    allowed.filter(({ isNear }) => !isNear),
  );
  return [...near, ...asideRules(far, limit, mode), ...far];
}

/** Step 3: needed only where something below would allow a literal address without a question. */
function asideRules(
  far: readonly NetworkRule[],
  limit: Limit | undefined,
  mode: Placed<NetworkMode>,
): readonly NetworkRule[] {
  const isLiteral = ({ pattern }: Pick<Written, 'pattern'>): boolean =>
    pattern.kind === 'network' || (pattern.kind === 'host' && pattern.host === '*');
  const isOpen = mode.value === 'on' || far.some(isLiteral);
  if (!isOpen) return [];
  const special = specialNetworks.map((network: Network): HostPattern => ({
    kind: 'network',
    network,
    ports: ANY_PORT,
  }));
  const within =
    limit === undefined
      ? special
      : special.flatMap((pattern) =>
          limit.patterns.flatMap((bound) => intersect(bound.pattern, pattern) ?? []),
        );
  return toRules(
    'ask',
    within.map((pattern) => ({ pattern, origin: { kind: 'default' } as const })),
  );
}

/** Step 5. */
function limitRules(limit: Limit | undefined, mode: Placed<NetworkMode>): readonly NetworkRule[] {
  if (limit === undefined || mode.value === 'off') return [];
  return [
    ...toRules(modeEffects[mode.value], limit.patterns),
    { effect: 'deny', pattern: { kind: 'host', host: '*', ports: ANY_PORT }, origin: limit.origin },
  ];
}

function portsOf({ ports: [from, to] }: HostPattern): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
