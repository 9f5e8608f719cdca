// What no person can allow from inside: the administrator's limits, and what makes Cordon itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { runPolicyOf } from '../../../src/broker/runPolicy.js';
import type { RunPolicy } from '../../../src/broker/runPolicy.js';
import type { Wanted } from '../../../src/policy/request.js';
import { parseLayerValue, resolveLayers } from '../../../src/session/layers.js';
import { at, git, publish, read, sign, socket, write } from '../../support/wanted.js';

function policyOf(managed: object = {}): RunPolicy {
  const layers = [
    parseLayerValue({ kind: 'managed', file: '/etc/cordon/policy.json' }, managed),
    parseLayerValue({ kind: 'user', file: '/home/ada/.config/cordon/settings.json' }, {}),
  ];
  const result = resolveLayers(layers, {
    home: at('/home/ada'),
    uid: 1000,
    roots: [at('/ws')],
    state: at('/home/ada/.local/state/cordon'),
    own: [at('/opt/cordon')],
  });
  assert.ok(result.kind === 'resolved', JSON.stringify(result.problems));
  return runPolicyOf(result.policy);
}

test('what the plan could not answer is a question that says why', () => {
  const policy = policyOf();
  const asked = [write(), write({ protected: true }), git, read, socket('/run/x'), sign, publish];
  const decided = asked.map((wanted) => policy.decide(wanted));
  assert.deepEqual([...new Set(decided.map(({ effect }) => effect))], ['ask']);
  assert.ok(decided.every(({ rule }) => rule !== ''));
  assert.equal(new Set(decided.map(({ rule }) => rule)).size, asked.length);
});

for (const path of [
  '/opt/cordon/cli.js',
  '/opt/cordon',
  '/opt',
  '/home/ada/.config/cordon/settings.json',
  '/home/ada/.config',
  '/etc/cordon/policy.json',
]) {
  test(`nobody is asked whether ${path} may be changed`, () => {
    for (const isProtected of [false, true]) {
      const wanted = write({ path: at(path), folder: null, protected: isProtected });
      assert.equal(policyOf().decide(wanted).effect, 'deny');
    }
  });
}

test('beside Cordon’s own files one call can be allowed, but not the folder around both', () => {
  const wanted = write({ path: at('/home/ada/.config/x'), folder: at('/home/ada/.config') });
  assert.deepEqual([policyOf().decide(wanted).effect, policyOf().mayWiden(wanted)], ['ask', false]);
  assert.equal(policyOf().mayWiden(write()), true);
});

const limited: readonly (readonly [name: string, managed: object, wanted: Wanted])[] = [
  ['outside of the administrator’s roots', { writableRoots: ['/ws'] }, write()],
  ['a repository outside of them', { writableRoots: ['/ws'] }, git],
  [
    'what the administrator protects',
    { protectedPaths: ['/ws/deploy'] },
    write({ path: at('/ws/deploy/x'), folder: null, protected: true }),
  ],
  ['what the administrator closes', { denyRead: ['/home/ada/.ssh'] }, read],
];

for (const [name, filesystem, wanted] of limited) {
  test(`nobody is asked about ${name}`, () => {
    const { effect, rule } = policyOf({ filesystem }).decide(wanted);
    assert.equal(effect, 'deny');
    assert.match(rule, /administrator/u);
    assert.equal(policyOf().decide(wanted).effect, 'ask');
  });
}

test('an answer for a folder that is wider than the administrator’s roots is for the call alone', () => {
  const policy = policyOf({ filesystem: { writableRoots: ['/ws', '/home/ada/elsewhere/x'] } });
  assert.deepEqual([policy.decide(write()).effect, policy.mayWiden(write())], ['ask', false]);
});
