// What a running program's permissions came to, where a person must hear of it: a port that is open now, one that closed by
// itself, a place that is still in use after it was closed, one that could not be opened.

import * as vscode from 'vscode';

import { assertNever } from '../base/assertNever.js';
import type { Access } from '../policy/grant.js';
import type { SessionNotice } from '../session/session.js';
import { addressText } from './grants.js';
import { editorText, pathText } from './text.js';

const STOP = 'Stop Sharing';

const USES: Readonly<Record<Access, string>> = {
  write: 'writing',
  read: 'reading',
  git: 'git',
  socket: 'connections',
};

export interface NoticeOptions {
  /** Opens the port of this machine that it gets. */
  readonly openCommand: string;
  readonly stopSharing: (run: string, port: number) => void;
}

/** Never rejects: nothing waits for a notification. */
export function createNotices({
  openCommand,
  stopSharing,
}: NoticeOptions): (notice: SessionNotice) => void {
  return (notice) => {
    switch (notice.kind) {
      case 'published': {
        const { run, port, hostPort } = notice;
        const link = `[${addressText(notice)}](command:${openCommand}?${encodeURIComponent(JSON.stringify([hostPort]))})`;
        void vscode.window
          .showInformationMessage(
            `Port ${port} of the sandbox is open on this computer: ${link}`,
            STOP,
          )
          .then((pressed) => {
            if (pressed === STOP) stopSharing(run, port);
          });
        break;
      }
      case 'unpublished':
        sayUnpublished(notice);
        break;
      case 'revoked':
        for (const { access, path, busy } of notice.opens) if (busy) sayBusy(access, path);
        break;
      case 'openFailed':
        void vscode.window.showErrorMessage(
          `${pathText(notice.path)} was allowed, but could not be opened for ${USES[notice.access]}: ${editorText(notice.error, 200)}`,
        );
        break;
      default:
        assertNever(notice);
    }
  };
}

/** Whoever revoked it knows already. */
function sayUnpublished({
  port,
  reason,
}: Extract<SessionNotice, { readonly kind: 'unpublished' }>): void {
  switch (reason) {
    case 'closed':
      void vscode.window.showInformationMessage(
        `Port ${port} of the sandbox is closed again: no program listens on it any more.`,
      );
      break;
    case 'failed':
      void vscode.window.showErrorMessage(
        `Port ${port} of the sandbox could not be opened on this computer.`,
      );
      break;
    case 'revoked':
      break;
    default:
      assertNever(reason);
  }
}

function sayBusy(access: Access, path: string): void {
  void vscode.window.showInformationMessage(
    `${pathText(path)} is closed for ${USES[access]}, but still in use: what programs had open there stays open to them until they close it.`,
  );
}

/** Opens a port of this machine in the browser, wherever the window itself is. */
export async function openPort(hostPort: number): Promise<void> {
  if (!Number.isInteger(hostPort) || hostPort < 1 || hostPort > 65_535) return;
  const address = vscode.Uri.parse(addressText({ hostPort }));
  await vscode.env.openExternal(await vscode.env.asExternalUri(address));
}
