// A prompter that a test answers by hand.

import type { Answer, Prompter, Question } from '../../src/broker/prompter.js';

export interface Asked {
  readonly question: Question;
  readonly signal: AbortSignal;
  readonly answer: (answer: Answer) => void;
  readonly fail: (error: Error) => void;
}

export interface FakePrompter extends Prompter {
  /** Everything that was ever asked, oldest first. */
  readonly asked: readonly Asked[];
  /** The next question that has not been taken yet. */
  next(): Promise<Asked>;
}

export function createFakePrompter(): FakePrompter {
  const asked: Asked[] = [];
  const waiting: ((one: Asked) => void)[] = [];
  let taken = 0;
  return {
    asked,
    ask(question, signal) {
      return new Promise<Answer>((resolve, reject) => {
        const one = { question, signal, answer: resolve, fail: reject };
        asked.push(one);
        const waiter = waiting.shift();
        if (waiter === undefined) return;
        taken += 1;
        waiter(one);
      });
    },
    next() {
      const one = asked[taken];
      if (one === undefined) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return Promise.resolve(one);
    },
  };
}

/** Lets everything happen that needs no clock and no input. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
