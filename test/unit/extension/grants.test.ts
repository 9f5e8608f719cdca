import assert from 'node:assert/strict';
import { test } from 'node:test';

import { grantRows } from '../../../src/extension/grants.js';
import type { Grant } from '../../../src/policy/grant.js';
import type { PublishedPort } from '../../../src/session/snapshot.js';

const time = (milliseconds: number): string => `${milliseconds} ms`;

const grant = (target: Grant['target'], change: Partial<Grant> = {}): Grant => ({
  id: 'g1',
  scope: 'session',
  session: 's1',
  target,
  origin: { run: 'run1', program: 'bash', command: ['/bin/bash', '-i'] },
  privateAddresses: [],
  written: [],
  at: 1000,
  ...change,
});
const port: PublishedPort = { run: 'run1', port: 5173, hostPort: 40_123, address: '127.0.0.1' };
const elsewhere = { access: 'write', path: '/srv/elsewhere' as never, protected: false } as const;

test('a row says what, for how long, since when, who asked, and when it ends', () => {
  const [row] = grantRows({ grants: [grant(elsewhere)], ports: [] }, time);
  assert.deepEqual(row, {
    id: 'g1',
    label: 'Write to /srv/elsewhere',
    description: 'this session · since 1000 ms',
    tooltip: [
      'Write to /srv/elsewhere',
      'this session, since 1000 ms',
      'Asked by bash, in the terminal that runs /bin/bash -i',
      'Ends when this window closes',
    ].join('\n'),
    icon: 'edit',
    spoken:
      'Write to /srv/elsewhere, allowed for this session, since 1000 ms. Asked by bash, in the terminal that runs /bin/bash -i. Ends when this window closes',
    grant: grant(elsewhere),
    port: undefined,
  });
});

test('each kind of grant has its picture', () => {
  const targets: readonly Grant['target'][] = [
    { host: 'example.com', port: 443 },
    elsewhere,
    { ...elsewhere, access: 'read' },
    { ...elsewhere, access: 'git' },
    { ...elsewhere, access: 'socket' },
    { agent: 'ssh', key: 'SHA256:abc me' },
    { publish: 5173 },
  ];
  assert.deepEqual(
    grantRows({ grants: targets.map((target) => grant(target)), ports: [] }, time).map(
      ({ icon }) => icon,
    ),
    ['globe', 'edit', 'eye', 'source-control', 'plug', 'key', 'radio-tower'],
  );
});

test('a path in a row is neither a link nor an icon', () => {
  const target = { ...elsewhere, path: '/srv/[a](command:b)$(c)' as never };
  const [row] = grantRows({ grants: [grant(target)], ports: [] }, time);
  assert.equal(row?.label, 'Write to “/srv/[a] (command:b)$ (c)”');
});

test('a port that is open stands with the grant that opened it', () => {
  const rows = grantRows({ grants: [grant({ publish: 5173 })], ports: [port] }, time);
  assert.deepEqual(
    rows.map(({ label, description, port: open }) => [label, description, open]),
    [['Open port 5173 on this machine', 'open now · this session · since 1000 ms', port]],
  );
  assert.match(rows[0]?.tooltip ?? '', /Open now at http:\/\/localhost:40123/);
});

test('a port that was opened without a grant, or for another run than the grant’s, has a row of its own', () => {
  const elsewhereGranted = grant({ publish: 5173 }, { scope: 'run', run: 'run2' });
  const rows = grantRows({ grants: [elsewhereGranted], ports: [port] }, time);
  assert.deepEqual(
    rows.map(({ id, description, grant: given }) => [id, description, given?.id]),
    [
      ['g1', 'this terminal · since 1000 ms', 'g1'],
      ['port run1 5173', 'open now', undefined],
    ],
  );
});
