// The status bar item: what is enforced, and how many requests wait.

import * as vscode from 'vscode';

import type { Disposable } from '../base/disposable.js';
import type { SessionSnapshot } from '../session/snapshot.js';

export interface StatusBar extends Disposable {
  show(snapshot: SessionSnapshot): void;
}

export interface StatusFace {
  readonly text: string;
  readonly tooltip: string;
  readonly color?: 'statusBarItem.warningBackground' | 'statusBarItem.errorBackground';
}

/** Left, beside the remote indicator and the problem counts, where what concerns the whole window stands. */
const PRIORITY = 100;

export function createStatusBar(command: string): StatusBar {
  const item = vscode.window.createStatusBarItem(
    'cordon.status',
    vscode.StatusBarAlignment.Left,
    PRIORITY,
  );
  item.name = 'Cordon';
  item.command = command;
  return {
    show(snapshot) {
      const face = statusFace(snapshot);
      item.text = face.text;
      item.tooltip = face.tooltip;
      item.backgroundColor =
        face.color === undefined ? undefined : new vscode.ThemeColor(face.color);
      item.accessibilityInformation = { label: `Cordon: ${face.tooltip}` };
      item.show();
    },
    dispose: () => {
      item.dispose();
    },
  };
}

/** Requests that wait come first: they stand between a program and its work. */
export function statusFace({ pending, posture, gaps, problem }: SessionSnapshot): StatusFace {
  if (pending.length > 0) {
    const count = pending.length === 1 ? '1 request waits' : `${pending.length} requests wait`;
    return {
      text: `$(bell-dot) Cordon: ${count}`,
      tooltip: `${count} for your answer. Click to see ${pending.length === 1 ? 'it' : 'them'}.`,
      color: 'statusBarItem.warningBackground',
    };
  }
  switch (posture) {
    case 'enforcing':
      return {
        text: '$(shield) Cordon: enforcing',
        tooltip: 'Sandboxed terminals are enforced by the system.',
      };
    case 'enforcing with gaps':
      return {
        text: `$(shield) Cordon: ${gaps.length === 1 ? '1 gap' : `${gaps.length} gaps`}`,
        tooltip: [
          'Enforcing with gaps:',
          ...gaps.map(({ promise, reason }) => `${promise}: ${reason}`),
        ].join('\n'),
      };
    case 'not enforcing':
      return {
        text: '$(warning) Cordon: not enforcing',
        tooltip: `Nothing can run in the sandbox. ${problem ?? ''}`.trim(),
        color: 'statusBarItem.errorBackground',
      };
  }
}
