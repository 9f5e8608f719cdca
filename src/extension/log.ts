// The output channel: what happened in the session, one line each, at the level the user chose.

import * as vscode from 'vscode';

import type { Disposable } from '../base/disposable.js';
import type { Log } from '../base/log.js';

export interface LogChannel extends Log, Disposable {
  show(): void;
}

export function createLog(): LogChannel {
  const channel = vscode.window.createOutputChannel('Cordon', { log: true });
  return {
    debug: (message) => {
      channel.debug(message);
    },
    info: (message) => {
      channel.info(message);
    },
    warn: (message) => {
      channel.warn(message);
    },
    error: (message, cause) => {
      channel.error(message, ...(cause === undefined ? [] : [cause]));
    },
    show: () => {
      channel.show(true);
    },
    dispose: () => {
      channel.dispose();
    },
  };
}
