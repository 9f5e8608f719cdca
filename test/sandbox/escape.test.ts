import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptEscape, inCordon } from '../support/escapeWorld.js';
import { escapes } from '../support/escapes.js';

const all = escapes(2);

test('at least 120 attempts, none of them twice', () => {
  const distinct = new Set(all.map(({ script, flags = [] }) => `${flags.join(' ')} ${script}`));
  assert.equal(distinct.size, all.length);
  assert.ok(all.length >= 120, `${all.length}`);
});

for (const escape of all) {
  test(`no way out: ${escape.name}`, async (t) => {
    const { breaches, finished } = await attemptEscape(t, escape, inCordon);
    assert.deepEqual(breaches, [], JSON.stringify(finished));
  });
}
