// Read-only pages that the extension shows (details of a question, a change, the doctor's report): text made at the moment
// it is opened, kept in no file.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import type { Disposable } from '../base/disposable.js';

export interface Documents extends Disposable {
  /** Shows a page under this name; a page of the same name is replaced. */
  show(name: string, text: string): Promise<void>;
  /** Shows two texts side by side. */
  compare(title: string, before: string, after: string): Promise<void>;
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
  const keep = (name: string, text: string): vscode.Uri => {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    pages.set(uri.path, text);
    changed.fire(uri);
    return uri;
  };
  return {
    async show(name, text) {
      const uri = keep(name, text);
      const document = await vscode.workspace.openTextDocument(uri);
      await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
    },
    async compare(title, before, after) {
      const options = { preview: true, preserveFocus: true };
      const pages = [keep('Before', before), keep('After', after)];
      await vscode.commands.executeCommand('vscode.diff', ...pages, title, options);
    },
    dispose: () => {
      store.dispose();
    },
  };
}
