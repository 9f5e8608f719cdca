import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compiled, createPlace } from '../support/sandbox.js';

test('ten seconds of each exchange make nothing that is protected', async (t) => {
  const place = createPlace(t);
  const hooks = path.join(place.workspace, '.git/hooks');
  rmSync(hooks, { recursive: true, force: true });
  mkdirSync(hooks);
  writeFileSync(path.join(hooks, 'sleeping'), '#!/bin/sh\n', { mode: 0o644 });
  const words = [compiled('fileRaces'), place.workspace, '10000'];
  const result = await place.cordon(['--ask', 'deny'], words, { timeoutMs: 600_000 });
  assert.equal(result.code, 0, result.stderr);
  for (const row of result.stdout.trim().split('\n')) {
    assert.match(row, /: [1-9]\d* tries, 0 wins$/);
  }
  assert.deepEqual(readdirSync(hooks), ['sleeping']);
  assert.equal(existsSync(path.join(place.workspace, '.vscode')), false);
});
