// What escape.test.ts looks at on the host would show a breach: without a boundary, nearly every attempt is one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attemptEscape, withoutBoundary } from '../support/escapeWorld.js';
import { escapes } from '../support/escapes.js';

/** The kernel refuses these to every user. */
const refusedAnywhere = [
  'write outside: shared mapping',
  'write outside: truncate what is open for reading',
  'write outside: send a file into what is open for reading',
  'write outside: copy a range into what is open for reading',
  'write outside: punch a hole',
  'write outside: kernel settings',
  'write outside: control groups',
  'secrets: by /proc/1/root',
];

/** They would end this test, or change the machine. */
const isHarmful = (name: string): boolean => /^(processes|kernel)/u.test(name);

test('the attempts succeed where there is no boundary', async (t) => {
  const failed: string[] = [];
  for (const escape of escapes(2).filter(({ name }) => !isHarmful(name))) {
    const { breaches } = await attemptEscape(t, escape, withoutBoundary);
    if (breaches.length === 0) failed.push(escape.name);
  }
  assert.deepEqual(failed, refusedAnywhere);
});
