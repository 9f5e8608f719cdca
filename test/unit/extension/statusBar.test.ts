import assert from 'node:assert/strict';
import { test } from 'node:test';

import { statusFace } from '../../../src/extension/statusBar.js';
import type { SessionSnapshot } from '../../../src/session/snapshot.js';
import { reach } from '../../support/question.js';

const quiet: SessionSnapshot = {
  runs: [],
  pending: [],
  grants: [],
  ports: [],
  posture: 'enforcing',
  gaps: [],
};
const question = reach({ host: 'example.com', port: 443 });

test('the item says what is enforced', () => {
  const gaps = [{ promise: 'Own devices', reason: 'no /dev' }];
  assert.deepEqual(
    [
      statusFace(quiet),
      statusFace({ ...quiet, posture: 'enforcing with gaps', gaps }),
      statusFace({ ...quiet, posture: 'not enforcing', problem: 'No user namespaces.' }),
    ].map(({ text, color }) => [text, color]),
    [
      ['$(shield) Cordon: enforcing', undefined],
      ['$(shield) Cordon: 1 gap', undefined],
      ['$(warning) Cordon: not enforcing', 'statusBarItem.errorBackground'],
    ],
  );
});

test('requests that wait come first, whatever else is to be said', () => {
  const face = (pending: SessionSnapshot['pending']): string =>
    statusFace({ ...quiet, pending }).text;
  assert.deepEqual(
    [face([question]), face([question, question])],
    ['$(bell-dot) Cordon: 1 request waits', '$(bell-dot) Cordon: 2 requests wait'],
  );
});
