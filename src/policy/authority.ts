// Who may do what to a policy: the one place that says so. A workspace can narrow, never widen.

import type { Layer, LayerSource, Problem } from '../settings/layers.js';
import type { Origin } from './origin.js';

/** `limit`: nothing beyond it. `widen`: may open things. `narrow`: may only close them. */
export type Authority = 'limit' | 'widen' | 'narrow';

export function authorityOf(source: LayerSource): Authority {
  switch (source.kind) {
    case 'managed':
      return 'limit';
    case 'user':
      return 'widen';
    case 'workspace':
      return 'narrow';
    case 'run':
      return source.typed ? 'widen' : 'narrow';
  }
}

/** One written entry of a list. */
export interface Entry {
  readonly text: string;
  /** `network.allow[2]` */
  readonly key: string;
  readonly layer: Layer;
  readonly origin: Origin;
  readonly authority: Authority;
}

/** The entries of one list in all layers, strongest layer first. */
export function entriesOf(
  layers: readonly Layer[],
  key: string,
  pick: (values: Layer['values']) => readonly string[] | undefined,
): readonly Entry[] {
  return layers.flatMap((layer) =>
    (pick(layer.values) ?? []).map((text, index) => ({
      text,
      key: `${key}[${index}]`,
      layer,
      origin: { kind: 'setting', source: layer.source, key: `${key}[${index}]` } as const,
      authority: authorityOf(layer.source),
    })),
  );
}

export function problemOf(
  entry: Pick<Entry, 'key' | 'layer'>,
  severity: Problem['severity'],
  message: string,
  suggestion?: string,
): Problem {
  const line = entry.layer.lines.get(entry.key);
  return {
    severity,
    source: entry.layer.source,
    key: entry.key,
    ...(line === undefined ? {} : { line }),
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** What becomes of an entry that only the user may write. */
export function cannotWiden(entry: Pick<Entry, 'key' | 'layer'>, what: string): Problem {
  const who = entry.layer.source.kind === 'workspace' ? 'a workspace' : 'a run that nobody typed';
  return problemOf(
    entry,
    'warning',
    `has no effect: ${who} can only narrow the policy, and this would ${what}`,
  );
}
