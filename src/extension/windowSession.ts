// The session of this window: its roots are the folders, its policy what the settings say at that moment. When there can be
// none, the reason stands in its place and nothing is enforced, which is shown.

import { realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import * as vscode from 'vscode';

import { assertNever } from '../base/assertNever.js';
import { userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Prompter } from '../broker/prompter.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { PolicyResult } from '../policy/policy.js';
import type { AccessRequest } from '../policy/request.js';
import { defaultFolders } from '../session/hostPlan.js';
import { resolveLayers } from '../session/layers.js';
import type { SelfTestReport } from '../session/selfTest.js';
import { runSelfTest } from '../session/selfTest.js';
import type { Session, SessionNotice } from '../session/session.js';
import { createSession } from '../session/session.js';
import type { SessionSnapshot } from '../session/snapshot.js';
import { deedOf } from '../session/words.js';
import type { Problem } from '../settings/layers.js';
import type { UserRules } from './configuration.js';
import { readLayers } from './configuration.js';
import { eventLine } from './eventLine.js';
import { pathText } from './text.js';

export type WindowSession =
  | { readonly kind: 'open'; readonly session: Session }
  | { readonly kind: 'none'; readonly problem: string };

export interface WindowSessionOptions {
  readonly context: vscode.ExtensionContext;
  readonly prompter: Prompter;
  readonly notices: (notice: SessionNotice) => void;
  readonly rules: UserRules;
  readonly log: Log;
}

export async function openWindowSession(options: WindowSessionOptions): Promise<WindowSession> {
  const { context, prompter, notices, rules, log } = options;
  if (process.platform !== 'linux') {
    return {
      kind: 'none',
      problem: `Cordon is not enforcing on this system yet (${process.platform}); it needs Linux.`,
    };
  }
  try {
    const session = await createSession({
      policyFor: ({ directory }) => policyFor(directory, context),
      roots: windowRoots(),
      prompter,
      wording: {
        whereToAnswer: 'answer in the editor',
        howToAllow,
      },
      state: defaultFolders(process.env).state,
      dist: distFolder(context),
      brokerLoss: 'wait',
      onAlways: (rule) => rules.add(rule),
      notices,
      events: (line) => {
        const { level, text } = eventLine(line);
        log[level](text);
      },
      log,
    });
    return { kind: 'open', session };
  } catch (error) {
    log.error('no session', error);
    return { kind: 'none', problem: userMessageOf(error) };
  }
}

/** For the terminal: names the setting, where there is one for just this. */
function howToAllow(request: AccessRequest): string {
  const here = 'Allow it in the editor';
  switch (request.action) {
    case 'connect':
    case 'lookup':
      return `${here}, or add "${deedOf(request, os.homedir())}" to cordon.network.allow`;
    case 'socket':
      return `${here}, or add ${pathText(request.object.path)} to cordon.sockets.allow`;
    case 'publish':
      return `${here}, or add ${request.object.port} to cordon.network.publish`;
    case 'write':
    case 'git':
    case 'read':
    case 'sign':
      return here;
    default:
      return assertNever(request);
  }
}

/** What a run that tries to break out came to; undefined where none can be started. */
export async function testBoundary(
  context: vscode.ExtensionContext,
): Promise<SelfTestReport | undefined> {
  if (process.platform !== 'linux') return undefined;
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Cordon: testing the boundary' },
    () =>
      runSelfTest({
        home: os.homedir() as AbsolutePath,
        state: defaultFolders(process.env).state,
        dist: distFolder(context),
      }),
  );
}

function distFolder(context: vscode.ExtensionContext): AbsolutePath {
  return path.join(context.extensionPath, 'dist') as AbsolutePath;
}

/** What a face shows when there is no session. */
export function snapshotOf(window: WindowSession): SessionSnapshot {
  if (window.kind === 'open') return window.session.snapshot();
  return {
    runs: [],
    pending: [],
    grants: [],
    ports: [],
    posture: 'not enforcing',
    gaps: [],
    problem: window.problem,
  };
}

interface Place {
  readonly folder: vscode.WorkspaceFolder;
  /** Without symbolic links, because that is how a launcher knows its working directory. */
  readonly root: AbsolutePath;
}

/** The folders of this window that are on a disk. */
function places(): readonly Place[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) => {
    if (folder.uri.scheme !== 'file') return [];
    try {
      return [{ folder, root: realpathSync(folder.uri.fsPath) as AbsolutePath }];
    } catch (error) {
      if (error instanceof Error && 'code' in error) return []; // gone from the disk; VS Code shows it as missing
      throw error;
    }
  });
}

export function windowRoots(): readonly AbsolutePath[] {
  return places().map(({ root }) => root);
}

/** What is wrong in the settings of any folder of this window. */
export function windowProblems(context: vscode.ExtensionContext): readonly Problem[] {
  const folders = places().map(({ folder }) => folder);
  const results = folders.length === 0 ? [undefined] : folders;
  return results.flatMap((folder) => resolveFor(folder, context).problems);
}

/** The innermost folder's layers decide; all folders of the window are writable. */
function policyFor(directory: string, context: vscode.ExtensionContext): PolicyResult {
  const inside = places()
    .filter(({ root }) => directory === root || directory.startsWith(`${root}/`))
    .sort((one, other) => other.root.length - one.root.length);
  return resolveFor(inside[0]?.folder, context);
}

function resolveFor(
  folder: vscode.WorkspaceFolder | undefined,
  context: vscode.ExtensionContext,
): PolicyResult {
  const userData = path.resolve(context.globalStorageUri.fsPath, '../../..');
  return resolveLayers(readLayers(folder), {
    home: os.homedir() as AbsolutePath,
    uid: os.userInfo().uid,
    roots: windowRoots(),
    state: defaultFolders(process.env).state,
    own: [
      context.extensionPath,
      path.join(userData, 'User'),
      path.join(userData, 'Machine'),
    ] as AbsolutePath[],
  });
}
