import assert from 'node:assert/strict';
import { test } from 'node:test';

import { explainAddresses, explainHost, explainObject } from '../../../src/policy/explain.js';
import { layer, managed, resolved, typed, user, workspace } from '../../support/policies.js';

const { policy } = resolved([
  layer(managed, { network: { deny: ['10.9.0.0/16'] } }),
  layer(user, {
    network: { allow: ['*.github.com:443', 'localhost:5432', '10.0.0.5'] },
    filesystem: { writableRoots: ['/srv/build'], denyRead: ['.env'] },
  }),
  layer(workspace, { network: { deny: ['gist.github.com'] } }),
  layer(typed, { network: { allow: ['example.com'] } }),
]);
const userFile = '/home/ada/.config/Code/User/settings.json';

function hostLines(
  text: string,
): readonly [effect: string, decision: string, because: string] | undefined {
  const explained = explainHost(policy, text);
  return explained && [explained.effect, explained.decision, explained.because];
}

const hosts: readonly (readonly [
  text: string,
  effect: string,
  decision: string,
  because: string,
])[] = [
  [
    'API.github.com.',
    'allow',
    'api.github.com:443 is allowed',
    `*.github.com:443 (network.allow[0] in user settings (${userFile}))`,
  ],
  [
    'api.github.com:22',
    'ask',
    'api.github.com:22 is asked about',
    'no rule names it, and network.mode is ask (built-in default)',
  ],
  [
    'gist.github.com',
    'deny',
    'gist.github.com:443 is denied',
    'gist.github.com (network.deny[0] in /ws/.cordon.json)',
  ],
  [
    'example.com:80',
    'allow',
    'example.com:80 is allowed',
    'example.com (network.allow[0] in the command line)',
  ],
  [
    '10.0.0.5:22',
    'allow',
    '10.0.0.5:22 is allowed',
    `10.0.0.5 (network.allow[2] in user settings (${userFile}))`,
  ],
  [
    '10.9.1.1',
    'deny',
    '10.9.1.1:443 is denied',
    '10.9.0.0/16 (network.deny[0] in the administrator’s file /etc/cordon/policy.json)',
  ],
  [
    '[2001:db8::1]:8443',
    'ask',
    '[2001:db8::1]:8443 is asked about',
    'no rule names it, and network.mode is ask (built-in default)',
  ],
  [
    'localhost:5432',
    'allow',
    'port 5432 of this machine is reached',
    `network.allow[1] in user settings (${userFile})`,
  ],
  [
    'localhost:80',
    'deny',
    'port 80 of this machine is not reached',
    'no rule lets localhost:80 in',
  ],
];

for (const [text, ...expected] of hosts) {
  test(`${text} is explained: ${expected[1]}`, () => {
    assert.deepEqual(hostLines(text), expected);
  });
}

test('what is no single host is not explained', () => {
  for (const text of [
    '',
    'not a host',
    '10.0.0.0/8',
    '*.github.com',
    '*',
    'localhost',
    'https://example.com',
  ]) {
    assert.equal(explainHost(policy, text), undefined, text);
  }
});

test('a request that no policy covers is denied by what it is', () => {
  assert.equal(explainObject(policy, { host: 'bad host', port: 1 }).effect, 'deny');
});

test('addresses behind a name: only what is not simply dialled', () => {
  assert.deepEqual(
    explainAddresses(policy, 443, ['1.1.1.1', '10.0.0.5', '10.9.0.1', '192.168.0.1']),
    [
      `10.0.0.5 is allowed: 10.0.0.5 (network.allow[2] in user settings (${userFile}))`,
      '10.9.0.1 is denied: 10.9.0.0/16 (network.deny[0] in the administrator’s file /etc/cordon/policy.json)',
      '192.168.0.1 is asked about: it is private, loopback, link-local or otherwise special',
    ],
  );
});
