// Starts the benchmark as the user for whom the sandbox is made, like the sandbox suite; as root with a file system in memory.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { unprivileged } from '../setup/unprivileged.mjs';

const host = unprivileged(path.resolve(import.meta.dirname, '../..'));
const memory = mountMemory(host.temporary);
try {
  const args = ['--import', 'tsx', 'test/bench/main.ts', ...process.argv.slice(2)];
  process.exitCode = host.run(process.execPath, args).status ?? 1;
} finally {
  if (memory !== undefined) spawnSync('umount', [memory]);
  host.close();
}

/** The folder, or nothing when we may not mount. */
function mountMemory(temporary) {
  if (temporary === undefined) return undefined;
  const folder = path.join(temporary, 'memory');
  mkdirSync(folder);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'mode=1777', 'tmpfs', folder]).status === 0)
    return folder;
  rmdirSync(folder);
  return undefined;
}
