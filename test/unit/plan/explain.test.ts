import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainPath, pathsToExplain } from '../../../src/plan/explain.js';
import { planLinux } from '../../../src/plan/linux.js';
import { treeFacts } from '../../support/fakeTree.js';
import { at, layer, plannedRun as run, resolved, user } from '../../support/policies.js';

const { policy } = resolved([
  layer(user, {
    filesystem: {
      writableRoots: ['~/build'],
      denyRead: ['.env', '!~/.ssh/config'],
      protectedPaths: ['deploy', '!/ws/.vscode/settings.json'],
    },
  }),
]);
const tree = [
  '/ws/.git/',
  '/ws/.vscode/',
  '/ws/.env',
  '/ws/library/.git',
  '/ws/node_modules/a/.git',
  '/tmp/',
  '/var/tmp/',
  '/home/ada/.npm/',
  '/home/ada/.cargo/bin/',
  '/home/ada/build -> ../../srv/b',
  '/srv/b/',
  '/home/ada/.ssh -> keys',
  '/home/ada/keys/',
  '/home/ada/.local/state/cordon/',
];
const settings = 'user settings (/home/ada/.config/Code/User/settings.json)';
const anything = 'everything can be read that is not closed';
const git =
  'filesystem.git is ask (built-in default); hooks and settings that run programs ask by themselves';
const workspace = '/ws is a writable root (workspace folder)';

const paths: readonly (readonly [path: string, effects: string, read: string, write: string])[] = [
  ['/ws/src/a', 'allow allow', anything, workspace],
  ['/ws/.git/config', 'allow ask', anything, git],
  ['/ws/library/.git', 'allow ask', anything, git],
  ['/ws/.vscode', 'allow ask', anything, '/ws/.vscode is protected (built-in default)'],
  [
    '/ws/.vscode/settings.json',
    'allow allow',
    anything,
    `/ws/.vscode/settings.json is an exception (filesystem.protectedPaths[1] in ${settings})`,
  ],
  [
    '/ws/deploy/x',
    'allow ask',
    anything,
    `/ws/deploy is protected (filesystem.protectedPaths[0] in ${settings})`,
  ],
  ['/ws/.codex/x', 'allow ask', anything, '/ws/.codex is protected (built in, cannot be changed)'],
  [
    '/ws/library/.vscode/x',
    'allow ask',
    anything,
    '/ws/library/.vscode is protected (built-in default)',
  ],
  ['/ws/other/.vscode/x', 'allow allow', anything, workspace],
  ['/ws/node_modules/a/.vscode/x', 'allow allow', anything, workspace],
  [
    '/ws/.env',
    'ask ask',
    `/ws/.env is closed (filesystem.denyRead[0] in ${settings})`,
    'it lies in no writable root',
  ],
  ['/ws/.environment', 'allow allow', anything, workspace],
  [
    '/srv/b/x',
    'allow allow',
    anything,
    `/srv/b is a writable root (as /home/ada/build, filesystem.writableRoots[0] in ${settings})`,
  ],
  [
    '/home/ada/keys/id',
    'ask ask',
    '/home/ada/keys is closed (as /home/ada/.ssh, built-in default)',
    'it lies in no writable root',
  ],
  [
    '/home/ada/keys/config',
    'allow ask',
    `/home/ada/keys/config is an exception (filesystem.denyRead[1] in ${settings})`,
    'it lies in no writable root',
  ],
  [
    '/home/ada/.npm/x',
    'allow allow',
    anything,
    '/home/ada/.npm is a cache; changes go to a private layer (built-in default)',
  ],
  [
    '/home/ada/.cargo/bin/x',
    'allow deny',
    anything,
    '/home/ada/.cargo/bin is protected (built-in default)',
  ],
  ['/home/ada/.bashrc', 'allow ask', anything, 'it lies in no writable root'],
  ['/etc/passwd', 'allow ask', anything, 'it lies in no writable root'],
  [
    '/usr/lib/python3/__pycache__/x',
    'allow deny',
    anything,
    '__pycache__ is refused without a question outside of roots',
  ],
  [
    '/tmp/x',
    'allow allow',
    '/tmp is empty and private to each run (built-in default)',
    '/tmp is empty and private to each run (built-in default)',
  ],
];

/** As `cordon explain` does: with what lies around the path. */
function explained(path: string): readonly unknown[] {
  const facts = treeFacts(tree, policy, run, {}, pathsToExplain(at(path)));
  const { read, write } = explainPath(policy, planLinux(policy, facts, run).plan, facts, at(path));
  return [`${read.effect} ${write.effect}`, read.because, write.because];
}

for (const [path, effects, read, write] of paths) {
  test(`${path} is explained by the plan: ${write}`, () => {
    assert.deepEqual(explained(path), [effects, read, write]);
  });
}
