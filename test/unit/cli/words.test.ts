import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportInWords } from '../../../src/cli/doctor.js';
import { lineInWords } from '../../../src/cli/log.js';
import { quoted } from '../../../src/cli/messages.js';
import { howToAllow, patternOf } from '../../../src/cli/wording.js';
import type { AccessRequest, Wanted } from '../../../src/policy/request.js';

const subject = { pid: 1, executable: '/usr/bin/curl', arguments: [], directory: '/', chain: [] };
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
