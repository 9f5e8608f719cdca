// Read-only pages that the extension shows (details of a question, the doctor's report): text made at the moment it is
// opened, kept in no file.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import type { Disposable } from '../base/disposable.js';

export interface Documents extends Disposable {
  /** Shows a page under this name; a page of the same name is replaced. */
  show(name: string, text: string): Promise<void>;
}

const SCHEME = 'cordon';

export function createDocuments(): Documents {
  const store = new DisposableStore();
  const pages = new Map<string, string>();
  const changed = store.add(new vscode.EventEmitter<vscode.Uri>());
  store.add(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: changed.event,
      provideTextDocumentContent: (uri) => pages.get(uri.path),
    }),
  );
  store.add(
    vscode.workspace.onDidCloseTextDocument(({ uri }) => {
      if (uri.scheme === SCHEME) pages.delete(uri.path);
    }),
  );
  return {
    async show(name, text) {
      const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
      pages.set(uri.path, text);
      changed.fire(uri);
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
    },
    dispose: () => {
      store.dispose();
    },
  };
}
