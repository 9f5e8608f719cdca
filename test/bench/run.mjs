// Starts the benchmark as the user for whom the sandbox is made, like the sandbox suite.

import path from 'node:path';
import { unprivileged } from '../setup/unprivileged.mjs';

const host = unprivileged(path.resolve(import.meta.dirname, '../..'));
try {
  const args = ['--import', 'tsx', 'test/bench/main.ts', ...process.argv.slice(2)];
  process.exitCode = host.run(process.execPath, args).status ?? 1;
} finally {
  host.close();
}
