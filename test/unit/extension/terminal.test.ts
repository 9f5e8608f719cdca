import assert from 'node:assert/strict';
import { test } from 'node:test';

import { terminalOptions } from '../../../src/extension/terminal.js';
import { env, ThemeIcon } from '../../support/vscode.js';

const ready = { kind: 'ready', launcher: '/ext/cordon-launch', socket: '/run/c.sock' } as const;
const folder = { uri: { fsPath: '/ws' }, name: 'ws', index: 0 } as unknown as Parameters<
  typeof terminalOptions
>[1];

test('the launcher stands in the place of the shell and is told the shell and its broker', () => {
  assert.deepEqual(terminalOptions(ready, folder), {
    name: 'Sandboxed',
    shellPath: '/ext/cordon-launch',
    shellArgs: ['--', '/bin/bash'],
    cwd: { fsPath: '/ws' },
    env: { CORDON_BROKER: '/run/c.sock' },
    iconPath: new ThemeIcon('shield'),
  });
});

test('a launcher that was made the default shell is not started in itself', () => {
  const shell = env.shell;
  env.shell = '/elsewhere/cordon-launch';
  try {
    const options = terminalOptions(ready, folder);
    assert.ok(typeof options !== 'string');
    assert.notEqual(options.shellArgs?.[1], '/elsewhere/cordon-launch');
  } finally {
    env.shell = shell;
  }
});

test('without a boundary, or without a folder, there is a reason instead of a terminal', () => {
  assert.equal(
    terminalOptions({ kind: 'unavailable', reason: 'No user namespaces.' }, folder),
    'No user namespaces.',
  );
  const withoutFolder = terminalOptions(ready, undefined);
  assert.ok(typeof withoutFolder === 'string');
  assert.match(withoutFolder, /Open a folder first/);
});
