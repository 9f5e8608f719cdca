// The view "Grants": what was allowed and which ports are open, and where each is taken back. It follows the session.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import type { Disposable } from '../base/disposable.js';
import type { SessionSnapshot } from '../session/snapshot.js';
import type { GrantRow } from './grants.js';
import { grantRows } from './grants.js';

const VIEW_ID = 'cordon.grants';

export interface GrantsView extends Disposable {
  show(snapshot: SessionSnapshot): void;
  /** Opens the view, with the keyboard in it. */
  focus(): Promise<void>;
  /** The row that the view has selected. */
  selected(): GrantRow | undefined;
}

export function createGrantsView(time: (milliseconds: number) => string): GrantsView {
  const store = new DisposableStore();
  const changed = store.add(new vscode.EventEmitter<undefined>());
  let rows: readonly GrantRow[] = [];
  const view = store.add(
    vscode.window.createTreeView<GrantRow>(VIEW_ID, {
      treeDataProvider: {
        onDidChangeTreeData: changed.event,
        getChildren: () => [...rows],
        getTreeItem: treeItem,
      },
    }),
  );
  return {
    show(snapshot) {
      const next = grantRows(snapshot, time);
      // While VS Code takes up new rows it hands an action none, so they are new only when something is.
      if (JSON.stringify(next) === JSON.stringify(rows)) return;
      rows = next;
      changed.fire(undefined);
    },
    async focus() {
      await vscode.commands.executeCommand(`${VIEW_ID}.focus`);
    },
    selected: () => view.selection[0],
    dispose: () => {
      store.dispose();
    },
  };
}

function treeItem(row: GrantRow): vscode.TreeItem {
  const item = new vscode.TreeItem(row.label);
  item.id = row.id;
  item.description = row.description;
  item.tooltip = row.tooltip;
  item.iconPath = new vscode.ThemeIcon(row.icon);
  item.contextValue = row.port === undefined ? 'grant' : 'port';
  item.accessibilityInformation = { label: row.spoken };
  return item;
}
