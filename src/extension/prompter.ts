// Asks in a notification, never in a modal dialog. A notification that is closed, hidden by Do Not Disturb or left behind
// by its question decides nothing: the question stays pending until somebody answers it or its time is over.

import * as vscode from 'vscode';

import type { Answer, Prompter, Question } from '../broker/prompter.js';
import { choicesOf, NOTIFICATION_CHOICES, questionTitle } from './question.js';

const DETAILS = 'Details';
const DISMISSED: Answer = { kind: 'dismissed' };

export function createPrompter(showDetails: (question: Question) => Promise<void>): Prompter {
  return {
    async ask(question, signal) {
      const choices = choicesOf(question).slice(0, NOTIFICATION_CHOICES);
      const labels = choices.map(({ label }) => label);
      for (;;) {
        const pressed = await pressedButton(questionTitle(question), [...labels, DETAILS], signal);
        if (pressed === DETAILS) {
          await showDetails(question);
          continue;
        }
        const choice = choices.find(({ label }) => label === pressed);
        return choice === undefined ? DISMISSED : { kind: choice.kind };
      }
    },
  };
}

/** The button, or undefined when the notification was closed or its question is over. */
async function pressedButton(
  message: string,
  buttons: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const isOver = (): boolean => signal.aborted;
  if (isOver()) return undefined;
  const pressed = Promise.resolve(vscode.window.showWarningMessage(message, ...buttons));
  const over = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const first = await Promise.race([pressed, over]);
  // VS Code offers no way to take a notification down, so a late click has to be told that it changed nothing.
  if (isOver()) {
    void pressed.then((late) => (late === undefined ? undefined : sayTooLate(message)));
    return undefined;
  }
  return first;
}

/** An answer came for a question that is over. */
export function sayTooLate(title: string): Thenable<unknown> {
  return vscode.window.showInformationMessage(
    `This question is over, nothing was changed: ${title}`,
  );
}
