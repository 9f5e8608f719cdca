import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { createUserRules } from '../../../src/extension/configuration.js';
import { stub } from '../../support/vscode.js';

beforeEach(() => {
  stub.reset();
});

const written = (effect: 'allow' | 'deny'): unknown =>
  stub.userSettings.get(`cordon.network.${effect}`);

test('rules that come at the same time are all written', async () => {
  const rules = createUserRules();
  await Promise.all(
    ['a.test:1', 'b.test:2', 'a.test:1'].map((pattern) => rules.add({ effect: 'allow', pattern })),
  );
  await rules.add({ effect: 'deny', pattern: 'c.test:3' });
  assert.deepEqual([written('allow'), written('deny')], [['a.test:1', 'b.test:2'], ['c.test:3']]);
});

test('what the user wrote stays when a rule is taken out, and an empty list leaves no trace', async () => {
  stub.userSettings.set('cordon.network.allow', ['own.test', 'a.test:1']);
  const rules = createUserRules();
  await rules.remove('allow', ['a.test:1', 'unknown.test:9']);
  assert.deepEqual(written('allow'), ['own.test']);
  await rules.remove('allow', ['own.test']);
  assert.equal(stub.userSettings.has('cordon.network.allow'), false);
});

test('a rule that could not be written does not keep the next one from being written', async () => {
  const rules = createUserRules();
  stub.settingsError = new Error('read-only');
  await assert.rejects(rules.add({ effect: 'allow', pattern: 'a.test:1' }), /read-only/);
  stub.settingsError = undefined;
  await rules.add({ effect: 'allow', pattern: 'b.test:2' });
  assert.deepEqual(written('allow'), ['b.test:2']);
});
