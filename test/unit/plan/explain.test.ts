import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainPath } from '../../../src/plan/explain.js';
import { planLinux } from '../../../src/plan/linux.js';
import { treeFacts } from '../../support/fakeTree.js';
import { at, layer, plannedRun as run, resolved, user } from '../../support/policies.js';

const { policy } = resolved([
  layer(user, { filesystem: { writableRoots: ['~/build'], denyRead: ['.env'] } }),
]);
const facts = treeFacts(
  [
    '/ws/.git/',
    '/ws/.vscode/',
    '/ws/.env',
    '/tmp/',
    '/var/tmp/',
    '/home/ada/.npm/',
    '/home/ada/.cargo/bin/',
    '/home/ada/build -> ../../srv/b',
    '/srv/b/',
    '/home/ada/.ssh -> keys',
    '/home/ada/keys/',
    '/home/ada/.local/state/cordon/',
  ],
  policy,
  run,
);
const { plan } = planLinux(policy, facts, run);
const settings = 'user settings (/home/ada/.config/Code/User/settings.json)';
const anything = 'everything can be read that is not closed';

const paths: readonly (readonly [path: string, effects: string, read: string, write: string])[] = [
  ['/ws/src/a', 'allow allow', anything, '/ws is a writable root (workspace folder)'],
  [
    '/ws/.git/config',
    'allow deny',
    anything,
    '/ws/.git is protected (built in, cannot be changed)',
  ],
  ['/ws/.vscode', 'allow deny', anything, '/ws/.vscode is protected (built-in default)'],
  [
    '/ws/.env',
    'deny deny',
    `/ws/.env is closed (filesystem.denyRead[0] in ${settings})`,
    `/ws/.env is closed (filesystem.denyRead[0] in ${settings})`,
  ],
  ['/ws/.environment', 'allow allow', anything, '/ws is a writable root (workspace folder)'],
  [
    '/srv/b/x',
    'allow allow',
    anything,
    `/srv/b is a writable root (as /home/ada/build, filesystem.writableRoots[0] in ${settings})`,
  ],
  [
    '/home/ada/keys/id',
    'deny deny',
    '/home/ada/keys is closed (as /home/ada/.ssh, built-in default)',
    '/home/ada/keys is closed (as /home/ada/.ssh, built-in default)',
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
  ['/home/ada/.bashrc', 'allow deny', anything, 'it lies in no writable root'],
  ['/etc/passwd', 'allow deny', anything, 'it lies in no writable root'],
  [
    '/tmp/x',
    'allow allow',
    '/tmp is empty and private to each run (built-in default)',
    '/tmp is empty and private to each run (built-in default)',
  ],
];

for (const [path, effects, read, write] of paths) {
  test(`${path} is explained by the plan: ${write}`, () => {
    const explained = explainPath(policy, plan, facts, at(path));
    assert.deepEqual(
      [
        `${explained.read.effect} ${explained.write.effect}`,
        explained.read.because,
        explained.write.because,
      ],
      [effects, read, write],
    );
  });
}
