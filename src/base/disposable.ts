// Things with a lifetime, and the store that owns them. `dispose` is synchronous, repeatable and never throws.

export interface Disposable {
  dispose(): void;
}

/** A disposable that runs `end` once, however often it is disposed. */
export function toDisposable(end: () => void): Disposable {
  let ended = false;
  return {
    dispose() {
      if (ended) return;
      ended = true;
      end();
    },
  };
}

/** Owns what is added to it; whoever creates a thing adds it on the same line. */
export class DisposableStore implements Disposable {
  readonly #owned: Disposable[] = [];
  #disposed = false;

  get isDisposed(): boolean {
    return this.#disposed;
  }

  /** Takes ownership and returns the same item. On a disposed store it disposes the item and throws: that is a bug. */
  add<T extends Disposable>(item: T): T {
    if (!this.#disposed) {
      this.#owned.push(item);
      return item;
    }
    item.dispose(); // nothing leaks, and the caller hears about its mistake
    throw new Error('add() on a disposed store');
  }

  /** In reverse order of adding. A part that throws breaks its contract, but must not keep the rest from ending. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (let item = this.#owned.pop(); item !== undefined; item = this.#owned.pop()) {
      try {
        item.dispose();
      } catch (error) {
        reportLater(error);
      }
    }
  }
}

/** Lets the process hear of a bug (uncaughtException) without disturbing the caller's clean-up. */
export function reportLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
