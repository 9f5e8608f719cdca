// Events: they tell what happened; to make something happen, call it.

import type { Disposable } from './disposable.js';
import { reportLater, toDisposable } from './disposable.js';

/** Adds a listener; dispose the result to remove it. Fits `vscode.Event`. */
export type Event<T> = (listener: (value: T) => unknown) => Disposable;

export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<{ readonly call: (value: T) => unknown }>();
  #disposed = false;

  readonly event: Event<T> = (listener) => {
    if (this.#disposed) return toDisposable(() => undefined);
    const entry = { call: listener };
    this.#listeners.add(entry);
    return toDisposable(() => this.#listeners.delete(entry));
  };

  /** Calls every listener that was there when it began and still is. One that throws does not keep the others from hearing. */
  fire(value: T): void {
    for (const entry of [...this.#listeners]) {
      if (!this.#listeners.has(entry)) continue;
      try {
        entry.call(value);
      } catch (error) {
        reportLater(error);
      }
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.#listeners.clear();
  }
}
