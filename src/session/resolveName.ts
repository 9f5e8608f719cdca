// Looks names up on the host. Only the broker asks, and only for names that were allowed.

import type { Clock } from '../base/clock.js';

export type Resolve = (host: string) => Promise<readonly string[]>;

/** A program looks a name up and connects at once: that is one look-up, not two. Long enough for that and no more. */
const KEEP_MS = 3_000;

/** Every address, in the order of the system's resolver. `dns.promises.lookup` is taken at the time of the call. */
export async function resolveName(host: string): Promise<readonly string[]> {
  const dns = process.getBuiltinModule('node:dns'); // loaded when a name is looked up, which most runs never do
  const found = await dns.promises.lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

/** Joins look-ups of the same name, and keeps an answer for a moment. Failures are joined, not kept. */
export function joinLookups(resolve: Resolve, clock: Clock): Resolve {
  const known = new Map<string, { until: number; readonly answer: Promise<readonly string[]> }>();
  return (host) => {
    for (const [name, { until }] of known) if (until < clock.now()) known.delete(name);
    const before = known.get(host);
    if (before !== undefined) return before.answer;
    const entry = { until: Infinity, answer: resolve(host) };
    known.set(host, entry);
    entry.answer.then(
      () => {
        entry.until = clock.now() + KEEP_MS;
      },
      () => known.delete(host),
    );
    return entry.answer;
  };
}
