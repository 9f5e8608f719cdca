// Entries with `!`: what they open, and whom they cannot overrule.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { PolicyContext } from '../../../src/policy/policy.js';
import type { Layer } from '../../../src/settings/layers.js';
import { at, layer, managed, resolved, typed, user, workspace } from '../../support/policies.js';

const file = '/home/ada/.config/Code/User/settings.json';

interface Outcome {
  readonly opens: readonly string[];
  readonly problems: readonly string[];
  readonly closes: (path: string) => boolean;
  readonly protects: (path: string) => boolean;
}

function outcome(layers: readonly Layer[], context: Partial<PolicyContext> = {}): Outcome {
  const { policy, problems } = resolved(layers, context);
  const { filesystem } = policy;
  return {
    opens: filesystem.opens.map(({ access, path }) => `${access} ${path}`),
    problems: problems.map((text) => text.replace(`${file}: filesystem.`, '')),
    closes: (wanted) => filesystem.denyRead.some(({ path }) => path === wanted),
    protects: (wanted) =>
      filesystem.protectedPaths.some(({ path }) => path === wanted) ||
      filesystem.protectedNames.some(({ value }) => value === wanted),
  };
}

const reading = (...denyRead: readonly string[]): Layer =>
  layer(user, { filesystem: { denyRead } });
const writing = (...protectedPaths: readonly string[]): Layer =>
  layer(user, { filesystem: { protectedPaths } });

test('a place inside a closed one is opened, and the closed one stays', () => {
  const { opens, problems, closes } = outcome([reading('!~/.ssh/config', '!~/.ssh/known/hosts')]);
  assert.deepEqual(opens, ['read /home/ada/.ssh/config', 'read /home/ada/.ssh/known/hosts']);
  assert.deepEqual(problems, []);
  assert.ok(closes('/home/ada/.ssh'));
});

test('what the user closed, the user opens again: whole, or inside', () => {
  const { opens, problems, closes } = outcome([
    reading('~/notes', '.env', '~/mail'),
    layer(typed, { filesystem: { denyRead: ['!~/notes', '!.env', '!~/mail/drafts'] } }),
  ]);
  assert.deepEqual(opens, ['read /home/ada/mail/drafts']);
  assert.deepEqual(problems, []);
  assert.deepEqual(['/home/ada/notes', '/ws/.env', '/home/ada/mail'].map(closes), [
    false,
    false,
    true,
  ]);
});

test('a place that is closed by itself and by one around it is opened inside of that', () => {
  const { opens, closes } = outcome([reading('~/a', '~/a/b', '!~/a/b')]);
  assert.deepEqual(opens, ['read /home/ada/a/b']);
  assert.deepEqual(['/home/ada/a', '/home/ada/a/b'].map(closes), [true, false]);
});

test('what a workspace or the administrator closes is not opened by the user', () => {
  const { opens, problems } = outcome([
    layer(managed, { filesystem: { denyRead: ['~/mail'] } }),
    reading('!~/mail/drafts', '!keys/public', '!~/.local/state/cordon/audit'),
    layer(workspace, { filesystem: { denyRead: ['keys'] } }),
  ]);
  assert.deepEqual(opens, []);
  assert.deepEqual(problems, [
    'denyRead[0] has no effect: /home/ada/mail is closed by filesystem.denyRead[0] in the administrator’s file /etc/cordon/policy.json.',
    'denyRead[1] has no effect: /ws/keys is closed by filesystem.denyRead[0] in /ws/.cordon.json.',
    'denyRead[2] has no effect: /home/ada/.local/state/cordon is closed by built in, cannot be changed.',
  ]);
});

test('an answer that was written for another workspace is no mistake in this one', () => {
  const { opens, problems } = outcome([reading('.env', '!/other/.env')]);
  assert.deepEqual([opens, problems], [[], []]);
});

test('a place inside a protected one is opened for writing, below any folder that may be a root', () => {
  const { opens, problems, protects } = outcome([
    writing('deploy', '!/ws/.vscode/settings.json', '!/other/sub/.idea', '!/ws/deploy/log'),
  ]);
  assert.deepEqual(opens, [
    'write /ws/.vscode/settings.json',
    'write /other/sub/.idea',
    'write /ws/deploy/log',
  ]);
  assert.deepEqual(problems, []);
  assert.ok(protects('.vscode') && protects('/ws/.vscode') && protects('deploy'));
});

test('a built-in name is given up everywhere, a start-up file of the home folder by itself', () => {
  const { opens, problems, protects } = outcome([writing('!.idea', '!~/.vimrc', '!~/.config/x')]);
  assert.deepEqual([opens, problems], [['write /home/ada/.config/x'], []]);
  assert.deepEqual(['.idea', '/ws/.idea', '/home/ada/.vimrc', '/home/ada/.config'].map(protects), [
    false,
    false,
    false,
    true,
  ]);
});

const kept: readonly (readonly [entry: string, why: string])[] = [
  ['!.git', '.git stays protected whatever the settings say.'],
  ['!/ws/.git/hooks/x', '/ws/.git/hooks/x stays protected whatever the settings say.'],
  ['!/ws/.codex', '/ws/.codex stays protected whatever the settings say.'],
  ['!/ws/sub/.agents/x', '/ws/sub/.agents/x stays protected whatever the settings say.'],
  ['!/ws/.cordon.json', '/ws/.cordon.json stays protected whatever the settings say.'],
  ['!/opt/cordon/x', '/opt/cordon/x stays protected whatever the settings say.'],
  [`!${file}`, `${file} stays protected whatever the settings say.`],
  [
    '!infra',
    'infra is protected by filesystem.protectedPaths[0] in the administrator’s file /etc/cordon/policy.json.',
  ],
  [
    '!/ws/keys/public',
    '/ws/keys/public is protected by filesystem.protectedPaths[0] in /ws/.cordon.json.',
  ],
  ['!/etc/hosts', '/etc/hosts is not protected.'],
  ['!src', 'src is not protected.'],
];

for (const [entry, why] of kept) {
  test(`${entry} opens nothing: ${why}`, () => {
    const { opens, problems } = outcome([
      layer(managed, { filesystem: { protectedPaths: ['infra'] } }),
      writing(entry),
      layer(workspace, { filesystem: { protectedPaths: ['keys'] } }),
    ]);
    assert.deepEqual([opens, problems], [[], [`protectedPaths[0] has no effect: ${why}`]]);
  });
}

test('a relative exception opens in each root what is closed there', () => {
  const { opens, problems } = outcome([reading('secret', '!secret/public')], {
    roots: [at('/ws'), at('/other')],
  });
  assert.deepEqual(opens, ['read /ws/secret/public', 'read /other/secret/public']);
  assert.deepEqual(problems, []);
});
