// The races of the escape suite for longer, and all of it three times while the machine is busy.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import os from 'node:os';
import { test } from 'node:test';
import { attemptEscape, inCordon } from '../support/escapeWorld.js';
import { escapes } from '../support/escapes.js';

const RACE_SECONDS = 10;
const ROUNDS = 3;

for (const escape of escapes(RACE_SECONDS).filter(({ name }) => name.startsWith('races'))) {
  test(`not in ${RACE_SECONDS} s either: ${escape.name}`, async (t) => {
    const { breaches, finished } = await attemptEscape(t, escape, inCordon);
    assert.deepEqual(breaches, [], JSON.stringify(finished));
  });
}

test(`no attempt succeeds in ${ROUNDS} rounds under load`, async (t) => {
  const load = os.cpus().map(() => spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' }));
  t.after(() => load.forEach((busy) => busy.kill('SIGKILL')));
  const breached: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const escape of escapes(2)) {
      const { breaches } = await attemptEscape(t, escape, inCordon);
      if (breaches.length > 0) breached.push(`${escape.name}: ${breaches.join(', ')}`);
    }
  }
  assert.deepEqual(breached, []);
});
