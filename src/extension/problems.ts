// Says what is wrong in the settings, with file and key, once for each new finding.

import * as vscode from 'vscode';

import { describeProblem } from '../session/layers.js';
import type { Log } from '../base/log.js';
import type { Problem } from '../settings/layers.js';

/** Shows what was not shown before; returns nothing to wait for, because nobody waits for a notification. */
export function createProblemReporter(log: Log): (problems: readonly Problem[]) => void {
  let shown = new Set<string>();
  return (problems) => {
    const found = new Map(problems.map((problem) => [problemText(problem), problem]));
    const fresh = [...found].filter(([text]) => !shown.has(text));
    shown = new Set(found.keys());
    for (const [text, { severity }] of fresh) log[severity === 'error' ? 'error' : 'warn'](text);
    const [first, ...more] = fresh.sort(([, one], [, other]) => weight(one) - weight(other));
    if (first === undefined) return;
    void showProblem(first[0], first[1], more.length);
  };
}

/** As a person knows it: files below the workspace without its folder, and in VS Code's settings our name before the key. */
export function problemText(problem: Problem): string {
  const { key, suggestion } = problem;
  const source =
    problem.source.kind === 'workspace'
      ? { ...problem.source, file: vscode.workspace.asRelativePath(problem.source.file) }
      : problem.source;
  const isNested =
    source.kind === 'managed' ||
    (source.kind === 'workspace' && source.file.endsWith('.cordon.json'));
  if (isNested || key === '') return describeProblem({ ...problem, source });
  const isKey = suggestion !== undefined && /^[a-z]+(\.[a-zA-Z]+)?$/.test(suggestion);
  return describeProblem({
    ...problem,
    source,
    key: `cordon.${key}`,
    ...(isKey ? { suggestion: `cordon.${suggestion}` } : {}),
  });
}

function weight({ severity }: Problem): number {
  return severity === 'error' ? 0 : 1;
}

const SHOW_ALL = 'Show All';

async function showProblem(text: string, problem: Problem, more: number): Promise<void> {
  const open = inSettings(problem) ? 'Open Settings' : 'Open File';
  const buttons = more === 0 ? [open] : [open, SHOW_ALL];
  const message = more === 0 ? text : `${text} (and ${more} more)`;
  const pressed =
    problem.severity === 'error'
      ? await vscode.window.showErrorMessage(
          `Cordon runs nothing until this is mended: ${message}`,
          ...buttons,
        )
      : await vscode.window.showWarningMessage(`Cordon: ${message}`, ...buttons);
  if (pressed === SHOW_ALL) await vscode.commands.executeCommand('cordon.showLog');
  if (pressed === open) await openSource(problem);
}

function inSettings({ source }: Problem): boolean {
  return source.kind === 'user' || source.kind === 'run';
}

/** The place of the mistake: user settings in VS Code's own editor, any other file at its line. */
async function openSource(problem: Problem): Promise<void> {
  const { source, line } = problem;
  if (!('file' in source) || inSettings(problem)) {
    await vscode.commands.executeCommand('workbench.action.openSettingsJson');
    return;
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(source.file));
  const at = new vscode.Position((line ?? 1) - 1, 0);
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
}
