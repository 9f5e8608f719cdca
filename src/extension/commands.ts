// The commands of package.json, each a few lines over a part that does the work.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import type { Disposable } from '../base/disposable.js';
import { userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { SessionSnapshot } from '../session/snapshot.js';
import type { GrantRow } from './grants.js';
import type { QuestionCommands } from './prompter.js';

export interface Actions {
  readonly newTerminal: () => unknown;
  readonly showPending: () => unknown;
  readonly showGrants: () => unknown;
  /** Takes back the row of the view, what is selected there, or what is picked. */
  readonly revokeGrant: (which: GrantRow | 'selected' | 'picked') => unknown;
  readonly openPort: (which: GrantRow | number) => unknown;
  readonly showDetails: (questionId: string) => unknown;
  readonly showChange: (questionId: string) => unknown;
  readonly runDoctor: () => unknown;
  readonly showLog: () => unknown;
  readonly snapshot: () => SessionSnapshot;
}

export const STATUS_COMMAND = 'cordon.showStatus';
/** Not in the palette: they take the id of a question. */
export const QUESTION_COMMANDS: QuestionCommands = {
  details: 'cordon.showDetails',
  change: 'cordon.showChange',
};
/** Not in the palette: it takes a port. */
export const OPEN_PORT_COMMAND = 'cordon.openPort';

export function registerCommands(actions: Actions, log: Log): Disposable {
  const store = new DisposableStore();
  const register = (id: string, run: (argument: unknown) => unknown): void => {
    store.add(
      vscode.commands.registerCommand(id, async (argument: unknown) => {
        try {
          return await run(argument);
        } catch (error) {
          log.error(`${id} failed`, error);
          void vscode.window.showErrorMessage(userMessageOf(error));
          return undefined;
        }
      }),
    );
  };
  register('cordon.newTerminal', actions.newTerminal);
  register('cordon.showPending', actions.showPending);
  register('cordon.showGrants', actions.showGrants);
  register('cordon.revokeGrant', (argument) =>
    actions.revokeGrant(
      isRow(argument) ? argument : argument === 'selected' ? 'selected' : 'picked',
    ),
  );
  register(OPEN_PORT_COMMAND, (argument) =>
    actions.openPort(isRow(argument) ? argument : Number(argument)),
  );
  register('cordon.runDoctor', actions.runDoctor);
  register('cordon.showLog', actions.showLog);
  register('cordon.openSettings', openSettings);
  register(QUESTION_COMMANDS.details, (questionId) => actions.showDetails(String(questionId)));
  register(QUESTION_COMMANDS.change, (questionId) => actions.showChange(String(questionId)));
  register(STATUS_COMMAND, () => showStatus(actions));
  return store;
}

/** VS Code hands an inline action the element of its row, and a keybinding what package.json says. */
function isRow(argument: unknown): argument is GrantRow {
  return typeof argument === 'object' && argument !== null && 'grant' in argument;
}

async function openSettings(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openSettings', '@ext:cordon.cordon');
}

/** What waits, when something does; else the state of things and what can be done about it. */
async function showStatus(actions: Actions): Promise<void> {
  const snapshot = actions.snapshot();
  if (snapshot.pending.length > 0) {
    await actions.showPending();
    return;
  }
  const picked = await vscode.window.showQuickPick(statusItems(snapshot), {
    title: 'Cordon',
    placeHolder: postureText(snapshot),
    matchOnDetail: true,
  });
  if (picked !== undefined) await vscode.commands.executeCommand(picked.command);
}

interface StatusItem extends vscode.QuickPickItem {
  readonly command: string;
}

function statusItems({ grants, gaps, problem }: SessionSnapshot): readonly StatusItem[] {
  return [
    ...(problem === undefined
      ? []
      : [
          {
            command: 'cordon.runDoctor',
            label: '$(error) Not enforcing',
            detail: problem,
          } as const,
        ]),
    ...gaps.map(
      ({ promise, reason }) =>
        ({ command: 'cordon.runDoctor', label: `$(warning) ${promise}`, detail: reason }) as const,
    ),
    { command: 'cordon.newTerminal', label: '$(shield) New Sandboxed Terminal' },
    {
      command: 'cordon.showGrants',
      label: '$(pass) Show Grants',
      description: grants.length === 0 ? '' : String(grants.length),
    },
    { command: 'cordon.runDoctor', label: '$(pulse) Run Doctor' },
    { command: 'cordon.openSettings', label: '$(gear) Open Settings' },
    { command: 'cordon.showLog', label: '$(output) Show Log' },
  ];
}

function postureText({ posture, runs }: SessionSnapshot): string {
  const running = runs.filter(({ state }) => state === 'running').length;
  const terminals = running === 1 ? '1 run in the sandbox' : `${running} runs in the sandbox`;
  return `${posture.charAt(0).toUpperCase()}${posture.slice(1)}, ${terminals}`;
}
