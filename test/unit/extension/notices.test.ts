import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { createNotices, openPort } from '../../../src/extension/notices.js';
import { stub } from '../../support/vscode.js';

beforeEach(() => {
  stub.reset();
});

const stopped: (readonly [string, number])[] = [];
const say = createNotices({
  openCommand: 'cordon.openPort',
  stopSharing: (run, port) => {
    stopped.push([run, port]);
  },
});
const port = { run: 'run1', port: 5173, hostPort: 40_123, address: '127.0.0.1' };
const path = '/srv/elsewhere' as never;

test('a port that was opened is a link to where it is on this machine, and can be closed', async () => {
  say({ kind: 'published', ...port });
  const [shown] = stub.messages;
  assert.ok(shown);
  assert.deepEqual(
    [shown.level, shown.message, shown.buttons],
    [
      'info',
      'Port 5173 of the sandbox is open on this computer: [http://localhost:40123](command:cordon.openPort?%5B40123%5D)',
      ['Stop Sharing'],
    ],
  );
  shown.press('Stop Sharing');
  await new Promise(setImmediate);
  assert.deepEqual(stopped, [['run1', 5173]]);
});

test('a port that closed by itself is told, one that a person closed is not', () => {
  const closed = (reason: 'closed' | 'revoked' | 'failed'): void => {
    say({ kind: 'unpublished', ...port, reason });
  };
  closed('revoked');
  closed('closed');
  closed('failed');
  assert.deepEqual(
    stub.messages.map(({ level, message }) => [level, message]),
    [
      ['info', 'Port 5173 of the sandbox is closed again: no program listens on it any more.'],
      ['error', 'Port 5173 of the sandbox could not be opened on this computer.'],
    ],
  );
});

test('a place that is still in use after it was closed is named, others are not', () => {
  say({
    kind: 'revoked',
    run: 'run1',
    opens: [
      { access: 'write', path, busy: true },
      { access: 'read', path, busy: false },
    ],
  });
  assert.deepEqual(
    stub.messages.map(({ message }) => message),
    [
      '/srv/elsewhere is closed for writing, but still in use: what programs had open there stays open to them until they close it.',
    ],
  );
});

test('a place that was allowed and could not be opened is an error', () => {
  say({ kind: 'openFailed', run: 'run1', access: 'write', path, error: 'ENOENT\n[x](command:y)' });
  assert.deepEqual(
    stub.messages.map(({ level, message }) => [level, message]),
    [
      [
        'error',
        '/srv/elsewhere was allowed, but could not be opened for writing: ENOENT\\u{a}[x] (command:y)',
      ],
    ],
  );
});

test('a link opens ports and nothing else', async () => {
  for (const port of [5173, 0, 70_000, 1.5, Number.NaN]) await openPort(port);
  assert.deepEqual(stub.opened, ['http://localhost:5173']);
});
