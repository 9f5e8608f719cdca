import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compiled, createPlace } from '../support/sandbox.js';

/** `/` is another mount inside, and a read-only one: calls on it end before the kernel looks at rights. */
function isOfRoot(row: string): boolean {
  return /^[^:]* [@=]?\/\/?[ :]/.test(row) && /: (EROFS|EXDEV)$/.test(row);
}

test('calls that change files do inside what they do on the host, in every variant', async (t) => {
  const place = createPlace(t);
  const folder = path.join(place.workspace, 'calls');
  mkdirSync(folder);
  const words = [compiled('fileCalls'), folder];
  const host = await place.host(words, { timeoutMs: 240_000 });
  const inside = await place.cordon([], words, { timeoutMs: 240_000 });
  assert.equal(host.code, 0, host.stderr);
  assert.equal(inside.code, 0, inside.stderr);
  const expected = host.stdout.split('\n');
  const rows = inside.stdout.split('\n');
  assert.equal(rows.length, expected.length);
  assert.ok(rows.length > 7000, `it tried ${rows.length}`);
  const other = rows
    .map((row, at) => ({ inside: row, host: expected[at] }))
    .filter((pair) => pair.inside !== pair.host && !isOfRoot(pair.inside));
  assert.deepEqual(other, []);
});

test('no exchange of what a call names makes something protected', async (t) => {
  const place = createPlace(t);
  const hooks = path.join(place.workspace, '.git/hooks');
  rmSync(hooks, { recursive: true, force: true });
  mkdirSync(hooks);
  writeFileSync(path.join(hooks, 'sleeping'), '#!/bin/sh\n', { mode: 0o644 });
  const words = [compiled('fileRaces'), place.workspace, '150'];
  const result = await place.cordon(['--ask', 'deny'], words, { timeoutMs: 120_000 });
  assert.equal(result.code, 0, result.stderr);
  const rows = result.stdout.trim().split('\n');
  assert.equal(rows.length, 13);
  for (const row of rows) assert.match(row, /: [1-9]\d* tries, 0 wins$/);
  assert.deepEqual(readdirSync(hooks), ['sleeping']);
  assert.equal(existsSync(path.join(place.workspace, '.vscode')), false);
});
