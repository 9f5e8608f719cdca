// The VS Code face: puts the parts together for one window, and takes them apart again. Composing only.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import { showChange } from './changes.js';
import {
  OPEN_PORT_COMMAND,
  QUESTION_COMMANDS,
  registerCommands,
  STATUS_COMMAND,
} from './commands.js';
import { createUserRules, watchConfiguration } from './configuration.js';
import { questionDetails } from './details.js';
import { doctorReport } from './doctor.js';
import { createDocuments } from './documents.js';
import type { GrantRow } from './grants.js';
import { createGrantsView } from './grantsView.js';
import { createLog } from './log.js';
import { createNotices, openPort } from './notices.js';
import type { QuestionPages } from './pending.js';
import { answerPending } from './pending.js';
import { createProblemReporter } from './problems.js';
import { createPrompter, sayTooLate } from './prompter.js';
import { pickGrant, revokeRow } from './revoke.js';
import { createStatusBar } from './statusBar.js';
import type { TerminalSupport } from './terminal.js';
import { openTerminal, registerTerminalProfile } from './terminal.js';
import {
  openWindowSession,
  snapshotOf,
  testBoundary,
  windowProblems,
  windowRoots,
} from './windowSession.js';

/** Kept here because VS Code calls `deactivate` with nothing in hand, once for each module. */
let close: (() => Promise<void>) | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const store = new DisposableStore();
  context.subscriptions.push(store);
  const log = store.add(createLog());
  const documents = store.add(createDocuments());
  const configuration = store.add(watchConfiguration());
  const rules = createUserRules();
  const pages: QuestionPages = {
    details: (question) => documents.show('Request', questionDetails(question, clockTime)),
    change: (question) => showChange(documents, question),
  };

  const window = await openWindowSession({
    context,
    prompter: createPrompter(QUESTION_COMMANDS),
    notices: createNotices({
      openCommand: OPEN_PORT_COMMAND,
      stopSharing: (run, port) => {
        if (window.kind === 'open') window.session.stopSharing(run, port);
      },
    }),
    rules,
    log,
  });
  const snapshot = (): ReturnType<typeof snapshotOf> => snapshotOf(window);
  const statusBar = store.add(createStatusBar(STATUS_COMMAND));
  const grants = store.add(createGrantsView(clockTime));
  const show = (change: ReturnType<typeof snapshotOf>): void => {
    statusBar.show(change);
    grants.show(change);
  };
  show(snapshot());

  const reportProblems = createProblemReporter(log);
  reportProblems(windowProblems(context));
  store.add(
    configuration.onDidChange(() => {
      if (window.kind === 'open') {
        window.session.setRoots(windowRoots());
        window.session.refresh();
      }
      reportProblems(windowProblems(context));
    }),
  );

  const support = (): TerminalSupport => {
    const { posture, problem } = snapshot();
    const { launcher, socket } = window.kind === 'open' ? window.session : {};
    if (posture === 'not enforcing' || launcher === undefined || socket === undefined) {
      const why = problem ?? 'Nothing can run in the sandbox now. "Cordon: Run Doctor" tells more.';
      return { kind: 'unavailable', reason: why };
    }
    return { kind: 'ready', launcher, socket };
  };
  store.add(registerTerminalProfile(support));

  const sayProblem = (): void => {
    void vscode.window.showErrorMessage(snapshot().problem ?? '');
  };
  const showPage = async (page: keyof QuestionPages, questionId: string): Promise<void> => {
    const question = snapshot().pending.find(({ id }) => id === questionId);
    if (question === undefined) void sayTooLate();
    else await pages[page](question);
  };
  const chosen = async (which: GrantRow | 'selected' | 'picked'): Promise<GrantRow | undefined> => {
    if (which === 'selected') return grants.selected();
    return which === 'picked' ? pickGrant(snapshot(), clockTime) : which;
  };
  store.add(
    registerCommands(
      {
        newTerminal: () => openTerminal(support),
        showPending: () =>
          window.kind === 'open' ? answerPending(window.session, pages) : sayProblem(),
        showDetails: (questionId) => showPage('details', questionId),
        showChange: (questionId) => showPage('change', questionId),
        showGrants: () => grants.focus(),
        revokeGrant: async (which) => {
          const row = await chosen(which);
          if (row !== undefined && window.kind === 'open')
            await revokeRow(window.session, rules, row);
        },
        openPort: (which) =>
          openPort(typeof which === 'number' ? which : (which.port?.hostPort ?? 0)),
        runDoctor: async () => {
          const report = doctorReport({
            selfTest: await testBoundary(context),
            snapshot: snapshot(),
            problems: windowProblems(context),
            roots: windowRoots(),
            launcher: window.kind === 'open' ? window.session.launcher : undefined,
            version: String(
              (context.extension.packageJSON as { readonly version: unknown }).version,
            ),
          });
          await documents.show('Doctor', report);
        },
        showLog: () => {
          log.show();
        },
        snapshot,
      },
      log,
    ),
  );

  if (window.kind === 'open') {
    const { session } = window;
    store.add(session.onDidChange(show));
    close = () => session.close();
  }
  log.info(`${snapshot().posture}; folders: ${windowRoots().join(', ')}`);
}

/** VS Code waits for this for a few seconds; terminals live on and look for the next window's session. */
export async function deactivate(): Promise<void> {
  await close?.();
  close = undefined;
}

function clockTime(milliseconds: number): string {
  return new Date(milliseconds).toLocaleTimeString();
}
