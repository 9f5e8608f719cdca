// The quick pick of what was allowed, where it can be taken back.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import type { Grant, GrantScope } from '../policy/grant.js';
import type { Session } from '../session/session.js';
import type { UserRules } from './configuration.js';
import { targetText } from './question.js';

interface GrantItem extends vscode.QuickPickItem {
  readonly grant: Grant;
}

const scopeWords: Readonly<Record<GrantScope, string>> = {
  once: 'once',
  run: 'this terminal',
  session: 'this session',
  always: 'always, in your user settings',
};

/** Shows the grants until the list is closed; the one chosen is taken back, out of the user's settings as well. */
export function showGrants(session: Session, rules: UserRules): void {
  if (session.snapshot().grants.length === 0) {
    void vscode.window.showInformationMessage('Nothing has been allowed in this session.');
    return;
  }
  const store = new DisposableStore();
  const pick = store.add(vscode.window.createQuickPick<GrantItem>());
  const refresh = ({ grants }: { readonly grants: readonly Grant[] }): void => {
    pick.items = grants.map(grantItem);
    if (grants.length === 0) pick.hide();
  };
  pick.title = 'Grants';
  pick.placeholder = 'Choose a grant to revoke it';
  refresh(session.snapshot());
  store.add(session.onDidChange(refresh));
  store.add(
    pick.onDidAccept(() => {
      const grant = pick.selectedItems[0]?.grant;
      if (grant === undefined) return;
      session.revoke(grant.id);
      if (grant.scope === 'always') void rules.remove('allow', grant.patterns);
    }),
  );
  store.add(pick.onDidHide(() => store.dispose()));
  pick.show();
}

function grantItem(grant: Grant): GrantItem {
  return {
    grant,
    label: `$(pass) ${targetText(grant.target)}`,
    description: scopeWords[grant.scope],
    detail: `Allowed at ${new Date(grant.at).toLocaleTimeString()}`,
  };
}
