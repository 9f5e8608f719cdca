import assert from 'node:assert/strict';
import { test } from 'node:test';

import { grantRows } from '../../../src/extension/grants.js';
import { revokeRow } from '../../../src/extension/revoke.js';
import type { AlwaysRule, Grant } from '../../../src/policy/grant.js';

const port = { run: 'run1', port: 5173, hostPort: 5173, address: '127.0.0.1' };
const always: AlwaysRule = { effect: 'allow', setting: 'network.publish', entry: 5173 };
const grant: Grant = {
  id: 'g1',
  scope: 'always',
  session: 's1',
  target: { publish: 5173 },
  origin: { run: 'run1', program: 'vite', command: ['/bin/bash'] },
  privateAddresses: [],
  written: [always],
  at: 0,
};

/** What revoking the only row of such a list does. */
async function revoking(list: Parameters<typeof grantRows>[0]): Promise<readonly unknown[]> {
  const done: unknown[] = [];
  const session = {
    revoke: (id: string) => void done.push(['revoke', id]),
    stopSharing: (run: string, each: number) => done.push(['close', run, each]) > 0,
  };
  const rules = { remove: (rule: AlwaysRule) => Promise.resolve(void done.push(['forget', rule])) };
  const [row] = grantRows(list, String);
  assert.ok(row);
  await revokeRow(session, rules, row);
  return done;
}

test('revoking a grant also takes out of the settings what it wrote', async () => {
  assert.deepEqual(await revoking({ grants: [grant], ports: [port] }), [
    ['revoke', 'g1'],
    ['forget', always],
  ]);
});

test('a port that is open without a grant is closed', async () => {
  assert.deepEqual(await revoking({ grants: [], ports: [port] }), [['close', 'run1', 5173]]);
});
