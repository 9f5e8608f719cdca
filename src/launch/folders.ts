// Where Cordon keeps what is not settings: its state, and the sockets of living sessions. The launcher looks for the
// latter in the same order (native/PROTOCOL.md, "Finding the broker").

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { CordonError } from '../base/errors.js';
import type { AbsolutePath } from '../policy/paths.js';
import { absolutePath } from '../policy/paths.js';

export interface Folders {
  /** Audit and caches. */
  readonly state: AbsolutePath;
  /** Sockets and registrations; created when it is first used. */
  readonly runtime: AbsolutePath;
}

/** Looks at the environment and at what is there; creates nothing. */
export function defaultFolders(environment: Readonly<Record<string, string | undefined>>): Folders {
  const home =
    absolutePath(environment['HOME'] ?? os.homedir()) ?? absolutePath(os.userInfo().homedir);
  if (home === undefined) {
    throw new CordonError('runtimeFolderUnsafe', 'the home folder is not an absolute path');
  }
  const state = path.join(home, '.local/state/cordon') as AbsolutePath;
  const candidates = [environment['XDG_RUNTIME_DIR'] ?? '', `/run/user/${process.getuid?.() ?? 0}`];
  const found = candidates.find(isOwnFolder);
  const runtime = found === undefined ? path.join(state, 'run') : path.join(found, 'cordon');
  return { state, runtime: runtime as AbsolutePath };
}

/** What does not exist or is another user's is passed over. */
function isOwnFolder(folder: string): boolean {
  if (absolutePath(folder) === undefined) return false;
  const found = fs.statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}
