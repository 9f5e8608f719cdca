// Taking back what was allowed: for runs that are there at once, for later ones out of the user's settings, too.

import * as vscode from 'vscode';

import type { Session } from '../session/session.js';
import type { SessionSnapshot } from '../session/snapshot.js';
import type { UserRules } from './configuration.js';
import type { GrantRow } from './grants.js';
import { grantRows } from './grants.js';

/** A row of the Grants view, chosen in a quick pick: the way for those who start from the command palette. */
export async function pickGrant(
  snapshot: SessionSnapshot,
  time: (milliseconds: number) => string,
): Promise<GrantRow | undefined> {
  const rows = grantRows(snapshot, time);
  if (rows.length === 0) {
    void vscode.window.showInformationMessage('Nothing has been allowed in this session.');
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    rows.map((row) => ({
      label: `$(${row.icon}) ${row.label}`,
      description: row.description,
      row,
    })),
    { title: 'Revoke Grant', placeHolder: 'Choose what to take back', matchOnDescription: true },
  );
  return picked?.row;
}

/** A port that is open is closed; what an "always" wrote is taken out of the settings again. */
export async function revokeRow(
  session: Pick<Session, 'revoke' | 'stopSharing'>,
  rules: Pick<UserRules, 'remove'>,
  { grant, port }: GrantRow,
): Promise<void> {
  if (grant === undefined) {
    if (port !== undefined) session.stopSharing(port.run, port.port);
    return;
  }
  session.revoke(grant.id);
  for (const rule of grant.written) await rules.remove(rule);
}
