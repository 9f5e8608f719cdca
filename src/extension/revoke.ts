// Taking back what was allowed: for runs that are there at once, for later ones out of the user's settings, too.

import * as vscode from 'vscode';

import type { Session } from '../session/session.js';
import type { RunSnapshot, SessionSnapshot } from '../session/snapshot.js';
import type { UserRules } from './configuration.js';
import type { GrantRow } from './grants.js';
import { grantRows } from './grants.js';

const LIVING: ReadonlySet<RunSnapshot['state']> = new Set(['preparing', 'running', 'stopping']);

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

/**
 * A port that is open is closed; what an "always" wrote is taken out of the settings again. A run keeps the settings that
 * it started with, so it is said when there is one that has them.
 */
export async function revokeRow(
  session: Pick<Session, 'revoke' | 'stopSharing' | 'snapshot'>,
  rules: Pick<UserRules, 'remove'>,
  { label, grant, port }: GrantRow,
): Promise<void> {
  if (grant === undefined) {
    if (port !== undefined) session.stopSharing(port.run, port.port);
    return;
  }
  session.revoke(grant.id);
  for (const rule of grant.written) await rules.remove(rule);
  const isKept = session
    .snapshot()
    .runs.some(({ state, startedAt }) => LIVING.has(state) && startedAt >= grant.at);
  if (grant.written.length > 0 && isKept) {
    void vscode.window.showInformationMessage(
      `${label}: taken back, and out of your user settings. Sandboxed terminals that were opened since it stood there keep it until they close.`,
    );
  }
}
