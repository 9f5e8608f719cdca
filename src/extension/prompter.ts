// Asks in a notification, never in a modal dialog. A notification that is closed, hidden by Do Not Disturb or left behind
// by its question decides nothing: the question stays pending until somebody answers it or its time is over.

import * as vscode from 'vscode';

import type { Answer, Prompter } from '../broker/prompter.js';
import { choicesOf, NOTIFICATION_CHOICES, questionTitle } from './question.js';

const DISMISSED: Answer = { kind: 'dismissed' };

/** `detailsCommand` shows the details of the question whose id it gets, while the notification stays. */
export function createPrompter(detailsCommand: string): Prompter {
  return {
    async ask(question, signal) {
      const choices = choicesOf(question).slice(0, NOTIFICATION_CHOICES);
      const labels = choices.map(({ label }) => label);
      const title = questionTitle(question);
      // A link, because a fifth button would squeeze the others until none could be read.
      const details = `command:${detailsCommand}?${encodeURIComponent(JSON.stringify([question.id]))}`;
      const pressed = await pressedButton(
        title,
        `${title} · [Details](${details})`,
        labels,
        signal,
      );
      const choice = choices.find(({ label }) => label === pressed);
      return choice === undefined ? DISMISSED : { kind: choice.kind };
    },
  };
}

/** The button, or undefined when the notification was closed or its question is over. */
async function pressedButton(
  title: string,
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
    void pressed.then((late) => (late === undefined ? undefined : sayTooLate(title)));
    return undefined;
  }
  return first;
}

/** An answer, or a look, came for a question that is over. */
export function sayTooLate(title?: string): Thenable<unknown> {
  const which = title === undefined ? '.' : `: ${title}`;
  return vscode.window.showInformationMessage(`This question is over, nothing was changed${which}`);
}
