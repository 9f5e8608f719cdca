// The sandboxed terminal: the launcher in the place of the shell, the user's shell as its command. There is no terminal
// without a boundary: what stands in the way is said instead.

import path from 'node:path';

import * as vscode from 'vscode';

import type { Disposable } from '../base/disposable.js';

export const PROFILE_ID = 'cordon.sandboxedTerminal';

/** What a sandboxed terminal needs to know; a `reason` instead when there can be none now. */
export type TerminalSupport =
  | { readonly kind: 'ready'; readonly launcher: string; readonly socket: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The contributed profile. VS Code shows the message of what it throws as an error notification. */
export function registerTerminalProfile(support: () => TerminalSupport): Disposable {
  return vscode.window.registerTerminalProfileProvider(PROFILE_ID, {
    provideTerminalProfile: () => {
      const options = terminalOptions(support(), vscode.workspace.workspaceFolders?.[0]);
      if (typeof options === 'string') throw new Error(options);
      return new vscode.TerminalProfile(options);
    },
  });
}

/**
 * Opens a sandboxed terminal. VS Code can leave contributed profiles out of its menu when the machine was busy at start-up,
 * so this way does not rest on the profile.
 */
export async function openTerminal(
  support: () => TerminalSupport,
): Promise<vscode.Terminal | undefined> {
  const ready = support();
  const folder = ready.kind === 'ready' ? await pickFolder() : undefined;
  const options = terminalOptions(ready, folder);
  if (typeof options === 'string') {
    void showUnavailable(options); // a notification may stay for hours
    return undefined;
  }
  const terminal = vscode.window.createTerminal(options);
  terminal.show();
  return terminal;
}

/** Why there is no terminal, with the next step as a button. */
async function showUnavailable(reason: string): Promise<void> {
  const hasFolder = (vscode.workspace.workspaceFolders ?? []).length > 0;
  const next = hasFolder
    ? ({ label: 'Run Doctor', command: 'cordon.runDoctor' } as const)
    : ({ label: 'Open Folder', command: 'workbench.action.files.openFolder' } as const);
  const pressed = await vscode.window.showErrorMessage(reason, next.label);
  if (pressed === next.label) await vscode.commands.executeCommand(next.command);
}

async function pickFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.length > 1
    ? vscode.window.showWorkspaceFolderPick({ placeHolder: 'Folder for the sandboxed terminal' })
    : folders[0];
}

/** The options, or in words why there is no terminal. */
export function terminalOptions(
  support: TerminalSupport,
  folder: vscode.WorkspaceFolder | undefined,
): vscode.TerminalOptions | string {
  if (support.kind === 'unavailable') return support.reason;
  if (folder === undefined) {
    return 'A sandboxed terminal writes only inside a folder, and this window has none. Open a folder first.';
  }
  return {
    name: 'Sandboxed',
    shellPath: support.launcher,
    shellArgs: ['--', userShell(support.launcher)],
    cwd: folder.uri,
    env: { CORDON_BROKER: support.socket },
    iconPath: new vscode.ThemeIcon('shield'),
  };
}

/** The shell of VS Code's default profile; never the launcher itself, which a user may have made the default. */
function userShell(launcher: string): string {
  const names = [vscode.env.shell, process.env['SHELL'] ?? ''];
  return (
    names.find((shell) => shell !== '' && path.basename(shell) !== path.basename(launcher)) ??
    '/bin/sh'
  );
}
