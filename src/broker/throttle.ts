// Keeps one run from wearing a person out: how often it may ask, and how often the same line is told on its terminal.

import type { Clock } from '../base/clock.js';

const MINUTE = 60_000;
/** Different questions a minute. */
const MAX_QUESTIONS = 30;
/** Times a minute that the same thing may be refused before it is not asked again for the rest of that minute. */
const MAX_REFUSALS = 3;
const SAME_LINE_MS = 60_000;
/** Different lines a minute. */
const MAX_LINES_A_MINUTE = 20;
/** Lines that are remembered, so that a hostile program cannot make us remember without end. */
const MAX_REMEMBERED = 1000;

export class Throttle {
  readonly #clock: Clock;
  #asked: readonly number[] = [];
  #refused: readonly { readonly key: string; readonly at: number }[] = [];
  #lines: readonly number[] = [];
  readonly #said = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a question; what to say when it is one too many, else undefined. */
  mayAsk(key: string): string | undefined {
    const since = this.#clock.now() - MINUTE;
    this.#asked = this.#asked.filter((at) => at > since);
    this.#refused = this.#refused.filter(({ at }) => at > since);
    const refusals = this.#refused.filter((refusal) => refusal.key === key).length;
    if (refusals >= MAX_REFUSALS) return 'refused several times within a minute';
    if (this.#asked.length >= MAX_QUESTIONS) return 'too many questions within a minute';
    this.#asked = [...this.#asked, this.#clock.now()];
    return undefined;
  }

  refused(key: string): void {
    this.#refused = [...this.#refused, { key, at: this.#clock.now() }];
  }

  /** How a further line is to be told: by itself, by a last one that speaks for all that follow, or not at all. */
  countLine(): 'line' | 'last' | 'none' {
    const now = this.#clock.now();
    this.#lines = this.#lines.filter((at) => at > now - MINUTE);
    if (this.#lines.length > MAX_LINES_A_MINUTE) return 'none';
    this.#lines = [...this.#lines, now];
    return this.#lines.length > MAX_LINES_A_MINUTE ? 'last' : 'line';
  }

  /** Whether a line has not been told lately. */
  maySay(line: string): boolean {
    const now = this.#clock.now();
    const last = this.#said.get(line);
    if (last !== undefined && now - last < SAME_LINE_MS) return false;
    if (this.#said.size >= MAX_REMEMBERED) this.#said.clear();
    this.#said.set(line, now);
    return true;
  }
}
