// Settings as they were written, layer by layer, never as VS Code's merged value: a workspace's value must not stand in the
// place of the user's. Everything is read anew each time; nothing is kept but what was last told to the user.

import * as vscode from 'vscode';

import { DisposableStore } from '../base/disposable.js';
import type { Disposable } from '../base/disposable.js';
import { Emitter } from '../base/emitter.js';
import type { Event } from '../base/emitter.js';
import type { AbsolutePath } from '../policy/paths.js';
import {
  MANAGED_FILE,
  parseLayerValue,
  readManagedLayer,
  readWorkspaceLayer,
  WORKSPACE_FILE,
} from '../session/layers.js';
import type { AlwaysRule } from '../session/session.js';
import type { Layer, LayerSource } from '../settings/layers.js';

const SECTION = 'cordon';

export interface Configuration extends Disposable {
  /** Some layer changed, or the folders of the window did. */
  readonly onDidChange: Event<undefined>;
}

/** Watches every place that settings are written in. */
export function watchConfiguration(): Configuration {
  const store = new DisposableStore();
  const changed = store.add(new Emitter<undefined>());
  const fire = (): void => {
    changed.fire(undefined);
  };
  let folderWatchers = store.add(watchFolders(fire));
  store.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SECTION)) fire();
    }),
  );
  store.add(
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      folderWatchers.dispose();
      folderWatchers = store.add(watchFolders(fire));
      fire();
    }),
  );
  const managed = vscode.Uri.file(MANAGED_FILE);
  store.add(watchFile(vscode.Uri.joinPath(managed, '..'), 'policy.json', fire));
  return {
    onDidChange: changed.event,
    dispose: () => {
      store.dispose();
    },
  };
}

function watchFolders(changed: () => void): Disposable {
  const store = new DisposableStore();
  for (const { uri } of vscode.workspace.workspaceFolders ?? [])
    store.add(watchFile(uri, WORKSPACE_FILE, changed));
  return store;
}

function watchFile(folder: vscode.Uri, name: string, changed: () => void): Disposable {
  const store = new DisposableStore();
  const watcher = store.add(
    vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, name)),
  );
  for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete])
    store.add(event(changed));
  return store;
}

/** All layers that concern a folder of the window; without one, those that concern every folder. */
export function readLayers(folder: vscode.WorkspaceFolder | undefined): readonly Layer[] {
  // Asked for as a whole section, `inspect` shows keys that nobody declared, too: a slip of the pen must not go unseen.
  const written = vscode.workspace
    .getConfiguration(undefined, folder?.uri)
    .inspect<unknown>(SECTION);
  const layer = (source: LayerSource, value: unknown): Layer | undefined =>
    value === undefined ? undefined : parseLayerValue(source, value);
  const root = folder?.uri.fsPath ?? '';
  return [
    readManagedLayer(),
    layer({ kind: 'user', file: 'user settings' }, written?.globalValue),
    layer({ kind: 'workspace', folder: root, file: workspaceFile() }, written?.workspaceValue),
    layer(
      { kind: 'workspace', folder: root, file: `${root}/.vscode/settings.json` },
      written?.workspaceFolderValue,
    ),
    folder === undefined ? undefined : readWorkspaceLayer(root as AbsolutePath),
  ].filter((each) => each !== undefined);
}

function workspaceFile(): string {
  const { workspaceFile: file, workspaceFolders = [] } = vscode.workspace;
  if (file !== undefined) return file.fsPath;
  return `${workspaceFolders[0]?.uri.fsPath ?? ''}/.vscode/settings.json`;
}

export interface UserRules {
  add(rule: AlwaysRule): Promise<void>;
  /** A rule that is not there is no matter. */
  remove(rule: AlwaysRule): Promise<void>;
}

type Entry = AlwaysRule['entry'];

/** Rules in the user's settings, which only the user's own hand and this write. One change at a time: each reads first. */
export function createUserRules(): UserRules {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (change: () => Promise<void>): Promise<void> => {
    const done = last.then(change);
    last = done.catch(() => undefined); // the caller hears of it; the next change stands on its own
    return done;
  };
  return {
    add: ({ setting, entry }) =>
      inTurn(() =>
        isList(setting)
          ? changeList(setting, (list) => (list.includes(entry) ? list : [...list, entry]))
          : write(setting, entry),
      ),
    remove: ({ setting, entry }) =>
      inTurn(async () => {
        if (isList(setting))
          await changeList(setting, (list) => list.filter((each) => each !== entry));
        else if (written(setting) === entry) await write(setting, undefined);
      }),
  };
}

/** A setting that is no list becomes the entry. */
function isList(setting: AlwaysRule['setting']): boolean {
  return setting !== 'filesystem.git';
}

async function changeList(
  setting: AlwaysRule['setting'],
  next: (list: readonly Entry[]) => readonly Entry[],
): Promise<void> {
  const before = (written(setting) ?? []) as readonly Entry[];
  const after = next(before);
  if (after.length !== before.length) await write(setting, after.length === 0 ? undefined : after);
}

function written(setting: AlwaysRule['setting']): unknown {
  return vscode.workspace.getConfiguration(SECTION).inspect(setting)?.globalValue;
}

async function write(setting: AlwaysRule['setting'], value: unknown): Promise<void> {
  await vscode.workspace
    .getConfiguration(SECTION)
    .update(setting, value, vscode.ConfigurationTarget.Global);
}
