import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportInWords } from '../../../src/cli/doctor.js';
import { lineInWords } from '../../../src/cli/log.js';
import { quoted } from '../../../src/cli/messages.js';
import { howToAllow, patternOf } from '../../../src/cli/wording.js';
import type { AuditEntry } from '../../../src/audit/schema.js';
import type { AccessRequest, Wanted } from '../../../src/policy/request.js';
import { at, git, publish, read, sign, socket, write } from '../../support/wanted.js';

const subject = { pid: 1, executable: '/usr/bin/curl', arguments: [], directory: '/', chain: [] };
const recorded = { action: 'write', object: { ...write().object, change: null } } as const;
const request = (wanted: Wanted): AccessRequest => ({
  run: 'r',
  subject,
  because: null,
  ...wanted,
});

test('a denial names the flag that would allow exactly this', () => {
  assert.equal(
    howToAllow(request({ action: 'connect', object: { host: 'example.com', port: 443 } })),
    'Allow it with --allow example.com:443',
  );
  assert.equal(patternOf({ address: '192.0.2.1', port: 22 }), '192.0.2.1:22');
  assert.equal(patternOf({ address: '2001:db8::1', port: 22 }), '[2001:db8::1]:22');
  assert.equal(patternOf({ host: 'example.com' }), 'example.com');
});

const hints: readonly (readonly [wanted: Wanted, hint: string])[] = [
  [write(), 'Allow it with --write /home/ada/elsewhere'],
  [write({ folder: null, path: at('/srv/a b/x') }), "Allow it with --write '/srv/a b'"],
  [
    write({ path: at('/ws/.vscode/x'), folder: at('/ws/.vscode'), protected: true }),
    "Allow it with '!/ws/.vscode' in filesystem.protectedPaths of your settings",
  ],
  [write({ path: at('/ws/.git/config'), folder: null, protected: true }), ''],
  [git, 'Allow it with --git allow'],
  [read, "Allow it with '!/home/ada/.ssh' in filesystem.denyRead of your settings"],
  [socket('/run/x'), 'Allow it with /run/x in sockets.allow of your settings'],
  [sign, 'Allow it with --ask tty, where somebody can answer'],
  [publish, 'Allow it with 5173 in network.publish of your settings'],
];

for (const [wanted, hint] of hints) {
  test(`a denial to ${wanted.action} says ${hint === '' ? 'nothing that would not help' : hint}`, () => {
    assert.equal(howToAllow(request(wanted)), hint);
  });
}

test('each line of the record reads as a sentence, and tells which grant allowed what', () => {
  const open = { access: 'write', path: at('/home/ada/elsewhere') } as const;
  const entries: readonly AuditEntry[] = [
    { kind: 'request', run: 'r', request: 7, subject, because: null, rule: 'outside', ...recorded },
    {
      kind: 'grant',
      run: 'r',
      grant: {
        id: '4f1c0000aaaa',
        scope: 'session',
        session: 's',
        target: { ...open, protected: false },
        origin: { run: 'r', program: 'touch', command: ['sh'] },
        privateAddresses: [],
        written: [],
        at: 0,
      },
    },
    {
      kind: 'answer',
      run: 'r',
      request: 7,
      effect: 'allow',
      by: 'user',
      reason: 'user',
      grant: '4f1c0000aaaa',
      addresses: [],
      opens: [open],
    },
    { kind: 'opened', run: 'r', opens: [{ ...open, error: null }] },
    { kind: 'revoke', run: 'r', grant: '4f1c0000aaaa' },
    { kind: 'revoked', run: 'r', opens: [{ ...open, busy: true }] },
    { kind: 'published', run: 'r', port: 5173, hostPort: 5174, address: '127.0.0.1' },
    { kind: 'unpublished', run: 'r', port: 5173, reason: 'closed' },
  ];
  assert.deepEqual(
    entries.map((entry) =>
      lineInWords({ t: '2026-11-29T22:10:01.123Z', hash: '', ...entry }, '/home/ada')?.slice(22),
    ),
    [
      'r  asked    curl wants to create ~/elsewhere/x (request 7; outside)',
      'r  grant    4f1c0000: to write to ~/elsewhere, for the session',
      'r  allowed  request 7, by user (grant 4f1c0000)',
      'r  opened   to write to ~/elsewhere',
      'r  revoked  grant 4f1c0000',
      'r  closed   to write to ~/elsewhere, still in use',
      'r  shared   port 5173 at 127.0.0.1:5174',
      'r  unshared port 5173 (closed)',
    ],
  );
});

test('names in messages stay whole and on their line', () => {
  assert.equal(quoted('/a/b-c.d'), '/a/b-c.d');
  assert.equal(quoted('a b'), "'a b'");
  assert.equal(quoted("it's"), `'it'\\''s'`);
  assert.equal(quoted('a\nb\udcff'), '"a\\u{a}b\\u{dcff}"');
});

test('a line of the record reads as a sentence', () => {
  const line = lineInWords(
    {
      t: '2026-11-29T22:10:01.123Z',
      hash: '',
      kind: 'denial',
      run: '4f1c0000aaaa',
      subject,
      action: 'connect',
      object: { host: 'example.com', port: 443 },
      reason: 'rule',
      rule: 'network.deny[0] in /w/.cordon.json',
    },
    '/home/ada',
  );
  assert.equal(
    line,
    '2026-11-29 22:10:01Z  4f1c0000  refused  curl to example.com:443 (network.deny[0] in /w/.cordon.json)',
  );
});

test('the doctor tells what was tried, what is missing, and never calls a broken boundary one', () => {
  const attempts = [
    { aim: 'write outside', outcome: 'refused', error: 'EROFS' },
    { aim: 'connect out', outcome: 'succeeded' },
  ] as const;
  assert.equal(
    reportInWords({ posture: 'enforcing', gaps: [], attempts: [attempts[0]] }),
    `Cordon on this machine: enforcing

A program inside the boundary tried to
  write outside   refused (EROFS)

No gaps.
`,
  );
  assert.equal(
    reportInWords({
      posture: 'not enforcing',
      problem: 'a program inside the boundary could connect out',
      gaps: [{ promise: 'names', reason: 'old kernel' }],
      attempts,
    }),
    `Cordon on this machine: not enforcing
a program inside the boundary could connect out.

A program inside the boundary tried to
  write outside   refused (EROFS)
  connect out     succeeded

What a run in this folder leaves open
  names: old kernel
`,
  );
});
