import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { grantRows } from '../../../src/extension/grants.js';
import { revokeRow } from '../../../src/extension/revoke.js';
import type { AlwaysRule, Grant } from '../../../src/policy/grant.js';
import type { RunSnapshot, SessionSnapshot } from '../../../src/session/snapshot.js';
import { stub } from '../../support/vscode.js';

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

const run: RunSnapshot = {
  id: 'run2',
  pid: 1,
  command: ['/bin/bash'],
  directory: '/ws',
  state: 'running',
  startedAt: 1,
  gaps: [],
};

beforeEach(() => {
  stub.reset();
});

/** What revoking the only row of such a list does. */
async function revoking(
  list: Parameters<typeof grantRows>[0],
  runs: readonly RunSnapshot[] = [],
): Promise<readonly unknown[]> {
  const done: unknown[] = [];
  const session = {
    revoke: (id: string) => void done.push(['revoke', id]),
    stopSharing: (holder: string, each: number) => done.push(['close', holder, each]) > 0,
    snapshot: (): SessionSnapshot => ({
      ...list,
      runs,
      pending: [],
      posture: 'enforcing',
      gaps: [],
    }),
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

test('a terminal that started with the settings keeps them, and that is said', async () => {
  const said = (): readonly string[] => stub.messages.map(({ message }) => message);
  const list = { grants: [{ ...grant, at: 100 }], ports: [] };
  await revoking(list, [
    { ...run, startedAt: 99 },
    { ...run, startedAt: 101, state: 'exited' },
  ]);
  assert.deepEqual(said(), []);
  await revoking(list, [{ ...run, startedAt: 101 }]);
  assert.deepEqual(said(), [
    'Open port 5173 on this machine: taken back, and out of your user settings. Sandboxed terminals that were opened since it stood there keep it until they close.',
  ]);
});

test('of a grant that was written nowhere nothing is kept, whenever a terminal started', async () => {
  const list = { grants: [{ ...grant, scope: 'session' as const, written: [] }], ports: [] };
  await revoking(list, [{ ...run, startedAt: 101 }]);
  assert.deepEqual(stub.messages, []);
});
