// Finds the launcher that came with this build. It never searches PATH: a program of that name could be anybody's.

import fs from 'node:fs';
import path from 'node:path';

import { CordonError } from '../base/errors.js';
import type { AbsolutePath } from '../policy/paths.js';

/** The launcher below the folder of the bundles; throws CordonError `launcherMissing`. */
export function findLauncher(dist: AbsolutePath): AbsolutePath {
  const target = `${process.platform}-${process.arch}`;
  const file = path.join(dist, 'native', target, 'cordon-launch') as AbsolutePath;
  try {
    if (!fs.statSync(file).isFile()) throw new Error('not a file');
    fs.accessSync(file, fs.constants.X_OK);
  } catch (error) {
    throw new CordonError('launcherMissing', `${target}: ${file}`, { cause: error });
  }
  return file;
}
