// A command under the session of the editor's window that its folder is open in: that window's settings are its policy, and
// its person is asked there. Without such a window the launcher refuses.

import { findLauncher } from '../launch/artifacts.js';
import { spawnUnderWindow } from '../launch/linux.js';
import { childStatus, exitCodeOf } from '../launch/run.js';
import type { AbsolutePath } from '../policy/paths.js';

export interface WindowRun {
  /** The exit code; rejects when the launcher cannot be started. */
  readonly exited: Promise<number>;
  signal(name: NodeJS.Signals): void;
}

export function runUnderWindow(dist: AbsolutePath, command: readonly string[]): WindowRun {
  const child = spawnUnderWindow(findLauncher(dist), command);
  return {
    exited: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        resolve(exitCodeOf(childStatus(code, signal)));
      });
    }),
    signal(name) {
      child.kill(name);
    },
  };
}
