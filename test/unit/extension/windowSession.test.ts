import assert from 'node:assert/strict';
import { test } from 'node:test';

import { silentLog } from '../../../src/base/log.js';
import { createUserRules } from '../../../src/extension/configuration.js';
import { createPrompter } from '../../../src/extension/prompter.js';
import { openWindowSession, snapshotOf } from '../../../src/extension/windowSession.js';

type Context = Parameters<typeof openWindowSession>[0]['context'];

for (const platform of ['darwin', 'win32']) {
  test(`on ${platform} there is no session, and the posture says that nothing is enforced`, async () => {
    const real = Object.getOwnPropertyDescriptor(process, 'platform');
    assert.ok(real !== undefined);
    Object.defineProperty(process, 'platform', { ...real, value: platform });
    try {
      const window = await openWindowSession({
        context: { extensionPath: '/ext' } as unknown as Context,
        prompter: createPrompter({ details: 'x', change: 'y' }),
        notices: () => undefined,
        rules: createUserRules(),
        log: silentLog,
      });
      assert.deepEqual(snapshotOf(window), {
        runs: [],
        pending: [],
        grants: [],
        ports: [],
        posture: 'not enforcing',
        gaps: [],
        problem: `Cordon is not enforcing on this system yet (${platform}); it needs Linux.`,
      });
    } finally {
      Object.defineProperty(process, 'platform', real);
    }
  });
}
