import assert from 'node:assert/strict';
import { test } from 'node:test';

import { questionTitle, reasonText } from '../../../src/extension/question.js';
import { reach, write } from '../../support/question.js';

test('a title names the program and what it wants', () => {
  assert.equal(
    questionTitle(reach({ host: 'example.com', port: 443 })),
    'curl wants to reach example.com:443',
  );
  assert.equal(
    questionTitle(write({}, { wish: 'write ~/elsewhere/x' })),
    'curl wants to write ~/elsewhere/x',
  );
});

test('a title says that a place is protected', () => {
  assert.equal(
    questionTitle(write({ protected: true }, { wish: 'create the folder ~/ws/.vscode' })),
    'curl wants to create the folder ~/ws/.vscode (protected)',
  );
});

test('a title says when a name leads to this computer, a private network or cloud metadata', () => {
  const titles = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '169.254.169.254'].map(
    (address) =>
      questionTitle(reach({ host: 'a.test', port: 80 }, { privateAddresses: [address] })),
  );
  assert.deepEqual(
    titles.map((title) => title.replace('curl wants to reach a.test:80 ', '')),
    [
      '(127.0.0.1, this computer)',
      '(::1, this computer)',
      '(::ffff:127.0.0.1, this computer)',
      '(10.1.2.3, private network)',
      '(169.254.169.254, cloud metadata service)',
    ],
  );
});

test('a program cannot put links, icons, line breaks or hidden text into a title', () => {
  const title = questionTitle(
    write(
      {},
      {
        wish: 'write /ws/[B](command:y)$(b)',
        subject: { executable: '/tmp/[A](command:x)\n$(a)\u202e' },
      },
    ),
  );
  assert.equal(
    title,
    '“[A] (command:x)\\u{a}$ (a)\\u{202e}” wants to write /ws/[B] (command:y)$ (b)',
  );
});

test('a name that reads like our own words is quoted', () => {
  const title = questionTitle(
    reach(
      { host: 'b.test', port: 1 },
      { subject: { executable: '/tmp/curl wants to reach a.test:443” and x' } },
    ),
  );
  assert.equal(title, "“curl wants to reach a.test:443' and x” wants to reach b.test:1");
});

test('a program without a name is told by its process id', () => {
  const title = questionTitle(reach({ host: 'a.test', port: 80 }, { subject: { executable: '' } }));
  assert.equal(title, 'process 1234 wants to reach a.test:80');
});

test('what a program says for itself is quoted as its own words', () => {
  const because = 'tests” need [it](command:x)\nCordon: allowed';
  assert.equal(
    reasonText(write({}, { because })),
    ". It says: “tests' need [it] (command:x)\\u{a}Cordon: allowed”",
  );
  assert.equal(reasonText(write({})), '');
});
