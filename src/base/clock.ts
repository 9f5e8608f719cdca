// Time as a parameter, so that tests do not sleep.

import type { Disposable } from './disposable.js';
import { toDisposable } from './disposable.js';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls once after `ms` milliseconds, unless disposed first. */
  after(ms: number, call: () => void): Disposable;
}

/** setTimeout counts in a signed 32-bit integer: anything longer would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(Math.max(ms, 0), LONGEST_TIMEOUT));
    return toDisposable(() => {
      clearTimeout(timer);
    });
  },
};
