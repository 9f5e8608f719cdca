// Open questions: equal requests of a run are joined, each question has one timer and one abort signal, and every way to
// end one goes through `take`. It shows nothing and decides nothing.

import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposable.js';
import type { Question } from './prompter.js';
import type { About } from './state.js';

export interface OpenQuestion<Entry> {
  readonly id: string;
  readonly key: string;
  readonly about: About;
  /** The requests that wait for it, oldest first; never empty while it is open. */
  readonly entries: Set<Entry>;
  readonly signal: AbortSignal;
  readonly asked: Omit<Question, 'waiting'>;
}

interface Kept<Entry> {
  readonly question: OpenQuestion<Entry>;
  readonly controller: AbortController;
  readonly timer: Disposable;
}

export class Questions<Entry> {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept<Entry>>();
  readonly #byKey = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Oldest first. */
  list(): readonly OpenQuestion<Entry>[] {
    return [...this.#kept.values()].map((kept) => kept.question);
  }

  /** Joins the entry to the open question with this key, if there is one. */
  join(key: string, entry: Entry): boolean {
    const kept = this.#kept.get(this.#byKey.get(key) ?? '');
    kept?.question.entries.add(entry);
    return kept !== undefined;
  }

  /** `expire` is called once when time is up, unless the question was taken before. */
  open(
    key: string,
    about: About,
    entry: Entry,
    asked: Omit<Question, 'waiting'>,
    expire: () => void,
  ): OpenQuestion<Entry> {
    const controller = new AbortController();
    const question: OpenQuestion<Entry> = {
      id: asked.id,
      key,
      about,
      entries: new Set([entry]),
      signal: controller.signal,
      asked,
    };
    const timer = this.#clock.after(asked.expiresAt - this.#clock.now(), expire);
    this.#kept.set(question.id, { question, controller, timer });
    this.#byKey.set(key, question.id);
    return question;
  }

  /** Ends the question: nobody else can answer it from here on, and its prompt is taken down. */
  take(id: string): OpenQuestion<Entry> | undefined {
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    this.#kept.delete(id);
    this.#byKey.delete(kept.question.key);
    kept.timer.dispose();
    kept.controller.abort();
    return kept.question;
  }

  /** Takes one request out; a question without any is over. Returns whether the entry was in one. */
  leave(entry: Entry): boolean {
    for (const { question } of this.#kept.values()) {
      if (!question.entries.delete(entry)) continue;
      if (question.entries.size === 0) this.take(question.id);
      return true;
    }
    return false;
  }

  snapshot(): readonly Question[] {
    return this.list().map((question) => ({
      ...question.asked,
      waiting: question.entries.size,
    }));
  }
}
