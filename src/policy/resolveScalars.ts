// Settings with one value. Each has an order from narrow to wide; the administrator's value is the widest there can be.

import type { Layer, Problem } from '../settings/layers.js';
import type { CachesMode, NetworkMode, SettingDefaults, TempMode } from '../settings/schema.js';
import { authorityOf, cannotWiden, problemOf } from './authority.js';
import type { Placed } from './policy.js';

export interface Scalars {
  readonly temp: Placed<TempMode>;
  readonly caches: Placed<CachesMode>;
  readonly mode: Placed<NetworkMode>;
  readonly timeoutMs: Placed<number>;
  readonly problems: readonly Problem[];
}

interface ScalarSetting<T> {
  readonly key: string;
  readonly fallback: T;
  /** Narrow to wide. */
  readonly rank: (value: T) => number;
  readonly pick: (values: Layer['values']) => T | undefined;
}

export function resolveScalars(layers: readonly Layer[], defaults: SettingDefaults): Scalars {
  const temp = resolveScalar<TempMode>(layers, {
    key: 'filesystem.temp',
    fallback: defaults.temp,
    rank: (value) => ['private', 'shared'].indexOf(value),
    pick: ({ filesystem }) => filesystem?.temp,
  });
  const caches = resolveScalar<CachesMode>(layers, {
    key: 'filesystem.caches',
    fallback: defaults.caches,
    rank: (value) => ['off', 'private', 'shared'].indexOf(value),
    pick: ({ filesystem }) => filesystem?.caches,
  });
  const mode = resolveScalar<NetworkMode>(layers, {
    key: 'network.mode',
    fallback: defaults.mode,
    rank: (value) => ['off', 'ask', 'on'].indexOf(value),
    pick: ({ network }) => network?.mode,
  });
  const timeout = resolveScalar<number>(layers, {
    key: 'approvals.timeout',
    fallback: defaults.timeout,
    rank: (seconds) => seconds,
    pick: ({ approvals }) => approvals?.timeout,
  });
  return {
    temp: temp.placed,
    caches: caches.placed,
    mode: mode.placed,
    timeoutMs: { ...timeout.placed, value: timeout.placed.value * 1000 },
    problems: [temp, caches, mode, timeout].flatMap(({ problems }) => problems),
  };
}

/** The user's or a typed run's value replaces, another run's or a workspace's only narrows, the administrator's limits. */
function resolveScalar<T extends string | number>(
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
