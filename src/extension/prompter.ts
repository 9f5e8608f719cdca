// Asks in a notification, never in a modal dialog. A notification that is closed, hidden by Do Not Disturb or left behind
// by its question decides nothing: the question stays pending until somebody answers it or its time is over.

import * as vscode from 'vscode';

import type { Answer, Prompter, Question } from '../broker/prompter.js';
import { notificationChoices } from './choices.js';
import { changeOf } from './details.js';
import { questionTitle, reasonText } from './question.js';

const DISMISSED: Answer = { kind: 'dismissed' };

/** Commands that show more of the question whose id they get, while its notification stays. */
export interface QuestionCommands {
  readonly details: string;
  readonly change: string;
}

export function createPrompter(commands: QuestionCommands): Prompter {
  return {
    async ask(question, signal) {
      const choices = notificationChoices(question);
      const labels = choices.map(({ label }) => label);
      const title = questionTitle(question);
      const message = [`${title}${reasonText(question)}`, ...links(question, commands)].join(' · ');
      const pressed = await pressedButton(title, message, labels, signal);
      const choice = choices.find(({ label }) => label === pressed);
      return choice === undefined ? DISMISSED : { kind: choice.kind };
    },
  };
}

/** Links, because a fifth button would squeeze the others until none could be read. */
function links(question: Question, commands: QuestionCommands): readonly string[] {
  const link = (label: string, command: string): string =>
    `[${label}](command:${command}?${encodeURIComponent(JSON.stringify([question.id]))})`;
  return [
    link('Details', commands.details),
    ...(changeOf(question) === null ? [] : [link('Change', commands.change)]),
  ];
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
