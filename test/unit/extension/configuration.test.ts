import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { createUserRules } from '../../../src/extension/configuration.js';
import type { AlwaysRule } from '../../../src/policy/grant.js';
import { stub } from '../../support/vscode.js';

beforeEach(() => {
  stub.reset();
});

const written = (effect: 'allow' | 'deny'): unknown =>
  stub.userSettings.get(`cordon.network.${effect}`);

const allow = (entry: string): AlwaysRule => ({ effect: 'allow', setting: 'network.allow', entry });

test('rules that come at the same time are all written', async () => {
  const rules = createUserRules();
  await Promise.all(['a.test:1', 'b.test:2', 'a.test:1'].map((entry) => rules.add(allow(entry))));
  await rules.add({ effect: 'deny', setting: 'network.deny', entry: 'c.test:3' });
  assert.deepEqual([written('allow'), written('deny')], [['a.test:1', 'b.test:2'], ['c.test:3']]);
});

test('what the user wrote stays when a rule is taken out, and an empty list leaves no trace', async () => {
  stub.userSettings.set('cordon.network.allow', ['own.test', 'a.test:1']);
  const rules = createUserRules();
  for (const entry of ['a.test:1', 'unknown.test:9']) await rules.remove(allow(entry));
  assert.deepEqual(written('allow'), ['own.test']);
  await rules.remove(allow('own.test'));
  assert.equal(stub.userSettings.has('cordon.network.allow'), false);
});

test('a number is an entry, too, and a setting that is no list becomes its entry', async () => {
  const rules = createUserRules();
  const git = { effect: 'allow', setting: 'filesystem.git', entry: 'allow' } as const;
  await rules.add({ effect: 'allow', setting: 'network.publish', entry: 5173 });
  await rules.add(git);
  assert.deepEqual(
    [...stub.userSettings],
    [
      ['cordon.network.publish', [5173]],
      ['cordon.filesystem.git', 'allow'],
    ],
  );
  await rules.remove(git);
  assert.equal(stub.userSettings.has('cordon.filesystem.git'), false);
});

test('a setting that the user changed since is left alone', async () => {
  stub.userSettings.set('cordon.filesystem.git', 'protect');
  await createUserRules().remove({ effect: 'allow', setting: 'filesystem.git', entry: 'allow' });
  assert.equal(stub.userSettings.get('cordon.filesystem.git'), 'protect');
});

test('a rule that could not be written does not keep the next one from being written', async () => {
  const rules = createUserRules();
  stub.settingsError = new Error('read-only');
  await assert.rejects(rules.add(allow('a.test:1')), /read-only/);
  stub.settingsError = undefined;
  await rules.add(allow('b.test:2'));
  assert.deepEqual(written('allow'), ['b.test:2']);
});
