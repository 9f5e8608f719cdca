// A clock that stands still until a test moves it.

import type { Clock } from '../../src/base/clock.js';

export interface FakeClock extends Clock {
  /** Moves on, calling what falls due, in order. */
  advance(ms: number): void;
  /** Timers that have neither fired nor been disposed. */
  readonly pending: number;
}

export function createFakeClock(start = Date.UTC(2026, 10, 29)): FakeClock {
  let now = start;
  const timers = new Set<{ readonly at: number; readonly call: () => void }>();
  return {
    now: () => now,
    after(ms, call) {
      const timer = { at: now + Math.max(ms, 0), call };
      timers.add(timer);
      return { dispose: () => timers.delete(timer) };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        now = next.at;
        next.call();
      }
      now = end;
    },
    get pending() {
      return timers.size;
    },
  };
}
