import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
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
  const host = await place.host(words);
  const inside = await place.cordon([], words, { timeoutMs: 240_000 });
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
