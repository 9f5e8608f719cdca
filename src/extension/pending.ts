// The quick pick of all that is pending: where a question is found when its notification is hidden or gone.

import * as vscode from 'vscode';

import { systemClock } from '../base/clock.js';
import { DisposableStore } from '../base/disposable.js';
import type { Question } from '../broker/prompter.js';
import type { Session } from '../session/session.js';
import type { AnswerKind, Choice } from './choices.js';
import { choicesOf } from './choices.js';
import { changeOf } from './details.js';
import { sayTooLate } from './prompter.js';
import { questionTitle, reasonText } from './question.js';
import { commandText } from './text.js';

/** Shows more of a question, in the editor. */
export interface QuestionPages {
  readonly details: (question: Question) => Promise<void>;
  readonly change: (question: Question) => Promise<void>;
}

/** Lets a person choose one of the pending questions and answer it; goes on with the next until none is left. */
export async function answerPending(session: Session, pages: QuestionPages): Promise<void> {
  for (;;) {
    if (session.snapshot().pending.length === 0) {
      void vscode.window.showInformationMessage('No request is waiting for an answer.');
      return;
    }
    const question = await pickQuestion(session);
    if (question === undefined) return;
    const choice = await pickChoice(question);
    if (choice === undefined) return;
    if (typeof choice === 'string') {
      await pages[choice](question);
      return;
    }
    if (!session.answer(question.id, { kind: choice.kind }))
      void sayTooLate(questionTitle(question));
    if (!(await isMorePending(session))) return;
  }
}

/** A name that leads into this machine has a second question, about its address, as soon as it is looked up. */
const FOLLOW_UP_MS = 1500;

function isMorePending(session: Session): Promise<boolean> {
  if (session.snapshot().pending.length > 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const store = new DisposableStore();
    const end = (found: boolean): void => {
      store.dispose();
      resolve(found);
    };
    store.add(
      session.onDidChange(({ pending }) => {
        if (pending.length > 0) end(true);
      }),
    );
    store.add(
      systemClock.after(FOLLOW_UP_MS, () => {
        end(false);
      }),
    );
  });
}

interface QuestionItem extends vscode.QuickPickItem {
  readonly question: Question;
}

/** The only pending question at once, else the one picked from a list that follows the session. */
function pickQuestion(session: Session): Promise<Question | undefined> {
  const { pending } = session.snapshot();
  if (pending.length === 1) return Promise.resolve(pending[0]);
  return new Promise((resolve) => {
    const store = new DisposableStore();
    const pick = store.add(vscode.window.createQuickPick<QuestionItem>());
    pick.title = 'Pending Requests';
    pick.placeholder = 'Choose a request to answer';
    pick.items = pending.map(questionItem);
    store.add(
      session.onDidChange((snapshot) => {
        pick.items = snapshot.pending.map(questionItem);
        if (snapshot.pending.length === 0) pick.hide();
      }),
    );
    store.add(
      pick.onDidAccept(() => {
        resolve(pick.selectedItems[0]?.question);
        pick.hide();
      }),
    );
    store.add(
      pick.onDidHide(() => {
        resolve(undefined);
        store.dispose();
      }),
    );
    pick.show();
  });
}

function questionItem(question: Question): QuestionItem {
  return {
    question,
    label: `$(question) ${questionTitle(question)}`,
    description: question.waiting > 1 ? `${question.waiting} calls` : '',
    detail: `${commandText(question.request.subject.arguments)}${reasonText(question)}`,
  };
}

const choiceIcons: Readonly<Record<AnswerKind, string>> = {
  once: 'check',
  run: 'check',
  session: 'check-all',
  always: 'pass',
  deny: 'close',
  denyRun: 'close-all',
  denyAlways: 'error',
};

async function pickChoice(question: Question): Promise<Choice | keyof QuestionPages | undefined> {
  const choices = choicesOf(question);
  const items = (...kinds: readonly AnswerKind[]): readonly ChoiceItem[] =>
    kinds.flatMap((kind) =>
      choices
        .filter((choice) => choice.kind === kind)
        .map((choice) => ({
          label: `$(${choiceIcons[kind]}) ${choice.label}`,
          detail: choice.effect,
          choice,
        })),
    );
  const line: ChoiceItem = {
    label: '',
    kind: vscode.QuickPickItemKind.Separator,
    choice: undefined,
  };
  const picked = await vscode.window.showQuickPick<ChoiceItem>(
    [
      ...items('once', 'run', 'session', 'always'),
      line,
      ...items('deny', 'denyRun', 'denyAlways'),
      line,
      { label: '$(info) Details', choice: 'details' },
      ...(changeOf(question) === null
        ? []
        : [{ label: '$(diff) Change', choice: 'change' } as const]),
    ],
    {
      title: questionTitle(question),
      placeHolder: commandText(question.request.subject.arguments),
    },
  );
  return picked?.choice;
}

interface ChoiceItem extends vscode.QuickPickItem {
  readonly choice: Choice | keyof QuestionPages | undefined;
}
