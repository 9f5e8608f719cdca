// Ports of servers inside that this machine reaches without a question.

import type { Layer, Problem } from '../settings/layers.js';
import { authorityOf, cannotWiden, problemOf } from './authority.js';
import type { Placed } from './policy.js';

export function resolvePublish(layers: readonly Layer[]): {
  readonly value: readonly Placed<number>[];
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const written = layers.flatMap((layer) =>
    (layer.values.network?.publish ?? []).map((port, index) => ({
      port,
      layer,
      key: `network.publish[${index}]`,
      authority: authorityOf(layer.source),
    })),
  );
  const hasLimit = layers.some(
    ({ source, values }) => source.kind === 'managed' && values.network?.publish !== undefined,
  );
  const limit = new Set(
    written.filter(({ authority }) => authority === 'limit').map(({ port }) => port),
  );
  const open = new Map<number, Placed<number>>();
  for (const entry of written) {
    const { port, layer, key, authority } = entry;
    if (authority === 'limit') continue;
    if (authority === 'narrow') problems.push(cannotWiden(entry, `publish port ${port}`));
    else if (hasLimit && !limit.has(port)) {
      const message = 'has no effect: the administrator does not let this port be published';
      problems.push(problemOf(entry, 'warning', message));
    } else if (!open.has(port)) {
      open.set(port, { value: port, origin: { kind: 'setting', source: layer.source, key } });
    }
  }
  return { value: [...open.values()], problems };
}
