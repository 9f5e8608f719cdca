// A folder that is gone when the test is over.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { AbsolutePath } from '../../src/policy/paths.js';

/** A new, empty folder; its path has no symbolic links. */
export function createTempTree(t: { after(call: () => void): void }): AbsolutePath {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'cordon-tree-'));
  t.after(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return folder as AbsolutePath;
}
