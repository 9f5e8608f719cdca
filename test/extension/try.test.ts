// `npm run try`, without the person: it opens its workbench, uses the terminal that is open there, and ends.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import { test } from 'node:test';

import { ROOT } from './harness/server.js';

test('npm run try opens a workbench with a sandboxed terminal in it, and leaves nothing behind', () => {
  const left = (): readonly string[] =>
    readdirSync(os.homedir()).filter((name) => name.startsWith('.cordon-window-'));
  const before = left();
  const output = execFileSync(process.execPath, ['test/setup/try.mjs', '--smoke'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.match(output, /The sandboxed terminal works\./);
  assert.deepEqual(left(), before);
});
