// Asks on the terminal that the run uses, too: while a question stands, the launcher's relay stands still and its input
// is flushed, so that a program can neither answer nor imitate it. One question at a time.

import type { Prompter } from '../broker/prompter.js';

export interface Relay {
  /** Settles when nothing of the run reaches the terminal any more. */
  hold(): Promise<void>;
  resume(): void;
}

export function createRelayPrompter(
  prompter: Prompter,
  relayOf: (run: string) => Relay | undefined,
): Prompter {
  let before: Promise<unknown> = Promise.resolve();
  return {
    ask(question, signal) {
      const asked = before.then(async () => {
        if (signal.aborted) return { kind: 'dismissed' } as const;
        const relay = relayOf(question.request.run);
        await relay?.hold();
        try {
          return await prompter.ask(question, signal);
        } finally {
          relay?.resume();
        }
      });
      before = asked.catch(() => undefined); // the asker hears of it
      return asked;
    },
  };
}
