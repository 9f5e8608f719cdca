// Settings with one value. Each has an order from narrow to wide; the administrator's value is the widest there can be.

import type { Layer, Problem } from '../settings/layers.js';
import type {
  AgentsMode,
  CachesMode,
  GitMode,
  ListenMode,
  NetworkMode,
  ReadMode,
  SettingDefaults,
  TempMode,
} from '../settings/schema.js';
import { authorityOf, cannotWiden, problemOf } from './authority.js';
import type { Placed } from './policy.js';

export interface Scalars {
  readonly git: Placed<GitMode>;
  readonly read: Placed<ReadMode>;
  readonly hideNames: Placed<boolean>;
  readonly temp: Placed<TempMode>;
  readonly caches: Placed<CachesMode>;
  readonly agents: Placed<AgentsMode>;
  readonly mode: Placed<NetworkMode>;
  readonly listen: Placed<ListenMode>;
  readonly timeoutMs: Placed<number>;
  readonly problems: readonly Problem[];
}

type Scalar = string | number | boolean;

interface ScalarSetting<T> {
  readonly key: string;
  readonly fallback: T;
  /** Narrow to wide. */
  readonly rank: (value: T) => number;
  readonly pick: (values: Layer['values']) => T | undefined;
}

export function resolveScalars(layers: readonly Layer[], defaults: SettingDefaults): Scalars {
  const problems: Problem[] = [];
  const resolve = <T extends Scalar>(setting: ScalarSetting<T>): Placed<T> => {
    const result = resolveScalar(layers, setting);
    problems.push(...result.problems);
    return result.placed;
  };
  return {
    git: resolve<GitMode>({
      key: 'filesystem.git',
      fallback: defaults.git,
      rank: (value) => ['protect', 'ask', 'allow'].indexOf(value),
      pick: ({ filesystem }) => filesystem?.git,
    }),
    read: resolve<ReadMode>({
      key: 'filesystem.read',
      fallback: defaults.read,
      rank: (value) => ['roots', 'anywhere'].indexOf(value),
      pick: ({ filesystem }) => filesystem?.read,
    }),
    hideNames: resolve<boolean>({
      key: 'filesystem.hideNames',
      fallback: defaults.hideNames,
      rank: (value) => [true, false].indexOf(value),
      pick: ({ filesystem }) => filesystem?.hideNames,
    }),
    temp: resolve<TempMode>({
      key: 'filesystem.temp',
      fallback: defaults.temp,
      rank: (value) => ['private', 'shared'].indexOf(value),
      pick: ({ filesystem }) => filesystem?.temp,
    }),
    caches: resolve<CachesMode>({
      key: 'filesystem.caches',
      fallback: defaults.caches,
      rank: (value) => ['off', 'private', 'shared'].indexOf(value),
      pick: ({ filesystem }) => filesystem?.caches,
    }),
    agents: resolve<AgentsMode>({
      key: 'sockets.agents',
      fallback: defaults.agents,
      rank: (value) => ['off', 'ask'].indexOf(value),
      pick: ({ sockets }) => sockets?.agents,
    }),
    mode: resolve<NetworkMode>({
      key: 'network.mode',
      fallback: defaults.mode,
      rank: (value) => ['off', 'ask', 'on'].indexOf(value),
      pick: ({ network }) => network?.mode,
    }),
    listen: resolve<ListenMode>({
      key: 'network.listen',
      fallback: defaults.listen,
      rank: (value) => ['private', 'ask'].indexOf(value),
      pick: ({ network }) => network?.listen,
    }),
    timeoutMs: inMilliseconds(
      resolve<number>({
        key: 'approvals.timeout',
        fallback: defaults.timeout,
        rank: (seconds) => seconds,
        pick: ({ approvals }) => approvals?.timeout,
      }),
    ),
    problems,
  };
}

function inMilliseconds({ value, origin }: Placed<number>): Placed<number> {
  return { value: value * 1000, origin };
}

/** The user's or a typed run's value replaces, another run's or a workspace's only narrows, the administrator's limits. */
function resolveScalar<T extends Scalar>(
  layers: readonly Layer[],
  { key, fallback, rank, pick }: ScalarSetting<T>,
): { readonly placed: Placed<T>; readonly problems: readonly Problem[] } {
  const written = layers.flatMap((layer) => {
    const value = pick(layer.values);
    if (value === undefined) return [];
    const origin = { kind: 'setting', source: layer.source, key } as const;
    return [{ key, layer, value, origin, authority: authorityOf(layer.source) }];
  });
  const problems: Problem[] = [];
  let placed: Placed<T> = { value: fallback, origin: { kind: 'default' } };
  for (const entry of written) {
    if (entry.authority === 'limit') continue;
    if (entry.authority === 'widen' || rank(entry.value) < rank(placed.value)) placed = entry;
    else if (rank(entry.value) > rank(placed.value)) {
      problems.push(cannotWiden(entry, `raise it from ${placed.value} to ${entry.value}`));
    }
  }
  const limit = written.find(({ authority }) => authority === 'limit');
  if (limit !== undefined && rank(placed.value) > rank(limit.value)) {
    const over = written.find(
      (entry) => entry.authority !== 'limit' && rank(entry.value) > rank(limit.value),
    );
    if (over !== undefined) {
      problems.push(
        problemOf(over, 'warning', `is limited to ${limit.value} by the administrator`),
      );
    }
    placed = limit;
  }
  return { placed: { value: placed.value, origin: placed.origin }, problems };
}
