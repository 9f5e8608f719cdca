import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { silentLog } from '../../../src/base/log.js';
import { createProblemReporter, problemText } from '../../../src/extension/problems.js';
import type { Problem } from '../../../src/settings/layers.js';
import { stub } from '../../support/vscode.js';

const problem = (change: Partial<Problem> = {}): Problem => ({
  severity: 'error',
  source: { kind: 'user', file: 'user settings' },
  key: 'network.mod',
  message: 'is not a setting of Cordon',
  suggestion: 'network.mode',
  ...change,
});
const workspace = (file: string): Problem['source'] => ({ kind: 'workspace', folder: '/ws', file });

beforeEach(() => {
  stub.reset();
});

test('a key is named as it stands in the file it is in', () => {
  assert.deepEqual(
    [
      problem(),
      problem({ source: workspace('/ws/.vscode/settings.json') }),
      problem({ source: workspace('/ws/.cordon.json'), line: 2 }),
      problem({ suggestion: '"ask"' }),
    ].map(problemText),
    [
      'user settings: cordon.network.mod is not a setting of Cordon. Did you mean cordon.network.mode?',
      '.vscode/settings.json: cordon.network.mod is not a setting of Cordon. Did you mean cordon.network.mode?',
      '.cordon.json:2: network.mod is not a setting of Cordon. Did you mean network.mode?',
      'user settings: cordon.network.mod is not a setting of Cordon. Did you mean "ask"?',
    ],
  );
});

test('a problem is shown once, and again when it comes back', async () => {
  const report = createProblemReporter(silentLog);
  const shown = (): number => stub.messages.length;
  report([problem()]);
  report([problem()]);
  assert.equal(shown(), 1);
  report([]);
  report([problem()]);
  assert.equal(shown(), 2);
  stub.messages[0]?.press('Open Settings');
  await turn();
  assert.deepEqual(stub.commands, ['workbench.action.openSettingsJson']);
});

test('of several problems the worst is shown, with a way to the others', () => {
  createProblemReporter(silentLog)([
    problem({ severity: 'warning', key: 'network.allow[0]' }),
    problem(),
  ]);
  assert.deepEqual(
    stub.messages.map(({ level, buttons }) => ({ level, buttons })),
    [{ level: 'error', buttons: ['Open Settings', 'Show All'] }],
  );
  assert.match(stub.messages[0]?.message ?? '', /network\.mod .*\(and 1 more\)$/);
});
