import assert from 'node:assert/strict';
import { test } from 'node:test';

import { alwaysOf, deedOf, keyOf, neverOf, targetOf, wishOf } from '../../../src/broker/actions.js';
import { covers } from '../../../src/broker/grants.js';
import { pathText, programOf, targetText } from '../../../src/broker/words.js';
import { FILE_CALLS } from '../../../src/policy/request.js';
import type { Wanted } from '../../../src/policy/request.js';
import { at, git, publish, read, sign, socket, write } from '../../support/wanted.js';

const HOME = '/home/ada';

test('each action says in one line what is wanted', () => {
  const wishes = [
    write(),
    git,
    read,
    socket('/run/user/1000/x.sock'),
    socket('/run/user/1000/x.sock', 'bind'),
    socket('/run/docker.sock'),
    sign,
    { ...sign, object: { agent: 'gpg', key: 'A2B4', purpose: '' } } as const,
    publish,
    { action: 'connect', object: { host: 'example.com', port: 443 } } as const,
  ].map((wanted) => wishOf(wanted, HOME));
  assert.deepEqual(wishes, [
    'create ~/elsewhere/x',
    'update the repository ~/p',
    'read ~/.ssh/config',
    'connect to the socket /run/user/1000/x.sock',
    'create the socket /run/user/1000/x.sock',
    'control Docker (/run/docker.sock), which is full control of this machine',
    'use the SSH key “SHA256:abc ada@example” to “log in as git”',
    'use the GPG key A2B4',
    'open port 5173 on this machine',
    'reach example.com:443',
  ]);
});

test('each call that changes a file has words of its own, with both paths where there are two', () => {
  const wishes = FILE_CALLS.map((call) =>
    wishOf(write({ call, to: at('/home/ada/elsewhere/y') }), HOME),
  );
  assert.equal(new Set(wishes).size, FILE_CALLS.length);
  assert.ok(wishes.every((wish) => wish.includes('~/elsewhere/x')));
  assert.equal(
    wishOf(write({ call: 'rename', to: at('/ws/y') }), HOME),
    'move a file between ~/elsewhere/x and /ws/y',
  );
  assert.equal(
    wishOf(write({ call: 'rename', to: at('/ws/y'), change: 'text' }), HOME),
    'move /ws/y to ~/elsewhere/x',
  );
});

test('names and paths of programs cannot pass for words of ours', () => {
  const path = '/tmp/x, and you allowed it\u001b[2J\u202e';
  assert.equal(pathText(path, HOME), '“/tmp/x, and you allowed it\\u{1b}[2J\\u{202e}”');
  assert.equal(pathText('/tmp/“quoted” by itself', HOME), "“/tmp/'quoted' by itself”");
  assert.equal(pathText('/home/ada', HOME), '~');
  assert.equal(pathText('/home/adam/x', HOME), '/home/adam/x');
  assert.equal(pathText('/~/x', HOME), '/~/x');
  assert.equal(pathText('/x', '/'), '/x');
  const subject = { pid: 7, arguments: [], directory: '/', chain: [] };
  assert.equal(
    programOf({ ...subject, executable: '/tmp/curl wants to reach a.test, x' }),
    '“curl wants to reach a.test, x”',
  );
  assert.equal(programOf({ ...subject, executable: '' }), '“process 7”');
});

test('a denial of a connection names its target, and of anything else what it would have done', () => {
  assert.equal(
    deedOf({ action: 'connect', object: { address: '::1', port: 22 } }, HOME),
    '[::1]:22',
  );
  assert.equal(deedOf(read, HOME), 'read ~/.ssh/config');
});

test('equal requests are one question; signatures never are', () => {
  assert.equal(keyOf(write({ change: 'a' })), keyOf(write({ change: 'a' })));
  assert.notEqual(keyOf(write()), keyOf(write({ call: 'remove' })));
  assert.notEqual(keyOf(write()), keyOf(write({ path: at('/home/ada/elsewhere/y') })));
  assert.equal(
    keyOf(git),
    keyOf({ ...git, object: { ...git.object, path: at('/home/ada/p/.git/HEAD') } }),
  );
  assert.notEqual(keyOf(socket('/run/x')), keyOf(socket('/run/x', 'bind')));
  assert.equal(keyOf(sign), undefined);
});

test('nobody answers for text that was not shown', () => {
  assert.notEqual(keyOf(write({ change: 'a' })), keyOf(write({ change: 'b' })));
  assert.equal(keyOf(write({ change: 'what was cut off here can be anything\n…' })), undefined);
});

const always: readonly (readonly [name: string, wanted: Wanted, written: readonly string[]])[] = [
  ['a folder', write(), ['filesystem.writableRoots /home/ada/elsewhere']],
  ['a file without a folder', write({ folder: null }), []],
  [
    'a protected place',
    write({ path: at('/ws/.vscode/tasks.json'), folder: at('/ws/.vscode'), protected: true }),
    ['filesystem.protectedPaths !/ws/.vscode'],
  ],
  ...['.git', '.codex', '.agents', '.cordon.json'].map(
    (name) =>
      [
        `the place ${name}`,
        write({ path: at(`/ws/${name}`), folder: null, protected: true }),
        [],
      ] as const,
  ),
  ['a repository', git, ['filesystem.git allow']],
  ['a closed folder', read, ['filesystem.denyRead !/home/ada/.ssh']],
  ['a socket', socket('/run/docker.sock'), ['sockets.allow /run/docker.sock']],
  ['a key', sign, []],
  ['a port', publish, ['network.publish 5173']],
];

for (const [name, wanted, written] of always) {
  test(`always, for ${name}, writes ${written.length === 0 ? 'nothing and is not offered' : written.join()}`, () => {
    const rules = alwaysOf(wanted, []);
    assert.deepEqual(
      rules.map(({ setting, entry }) => `${setting} ${entry}`),
      written,
    );
    assert.ok(rules.every(({ effect }) => effect === 'allow'));
  });
}

test('deny always is written for hosts and sockets, and remembered for the rest', () => {
  assert.deepEqual(neverOf(socket('/run/docker.sock')), [
    { effect: 'deny', setting: 'sockets.deny', entry: '/run/docker.sock' },
  ]);
  for (const wanted of [write(), git, read, sign, publish]) assert.deepEqual(neverOf(wanted), []);
});

const coverage: readonly (readonly [name: string, given: Wanted, asked: Wanted, is: boolean])[] = [
  ['the same path', write(), write(), true],
  ['another file in its folder', write(), write({ path: at('/home/ada/elsewhere/a/b') }), true],
  [
    'a folder inside its folder',
    write(),
    write({ path: at('/home/ada/elsewhere/a/b'), folder: at('/home/ada/elsewhere/a') }),
    true,
  ],
  [
    'a folder that begins like it',
    write(),
    write({ path: at('/home/ada/elsewhere2/b'), folder: at('/home/ada/elsewhere2') }),
    false,
  ],
  ['what is protected inside it', write(), write({ protected: true }), false],
  [
    'a protected place by a grant for one',
    write({ protected: true }),
    write({ protected: true }),
    true,
  ],
  [
    'reading what may be written',
    write(),
    { ...read, object: { path: at('/home/ada/elsewhere/x'), folder: null } },
    false,
  ],
  [
    'a submodule of a repository',
    git,
    { ...git, object: { ...git.object, repository: at('/home/ada/p/.git/modules/s') } },
    true,
  ],
  ['another key', sign, { ...sign, object: { ...sign.object, key: 'SHA256:other' } }, false],
  [
    'the same key for something else',
    sign,
    { ...sign, object: { ...sign.object, purpose: 'sign a commit' } },
    true,
  ],
  ['another port', publish, { action: 'publish', object: { port: 5174 } }, false],
];

for (const [name, given, asked, is] of coverage) {
  test(`a grant ${is ? 'covers' : 'does not cover'} ${name}`, () => {
    assert.equal(covers(targetOf(given), asked), is);
  });
}

test('a grant is worded without the call that it came from', () => {
  assert.deepEqual(
    [write(), git, read, socket('/run/x'), sign, publish].map((wanted) =>
      targetText(targetOf(wanted), HOME),
    ),
    [
      'write to ~/elsewhere',
      'update the repository ~/p',
      'read ~/.ssh',
      'use the socket /run/x',
      'use the SSH key “SHA256:abc ada@example”',
      'open port 5173 on this machine',
    ],
  );
});
