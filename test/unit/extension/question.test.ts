import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  choicesOf,
  editorText,
  questionDetails,
  questionTitle,
} from '../../../src/extension/question.js';
import { questionFor } from '../../support/question.js';

test('a title names the program, the host and the port', () => {
  assert.equal(
    questionTitle(questionFor({ host: 'example.com', port: 443 })),
    'curl wants to reach example.com:443',
  );
  assert.equal(
    questionTitle(questionFor({ address: '2001:db8::1', port: 443 })),
    'curl wants to reach [2001:db8::1]:443',
  );
  assert.equal(
    questionTitle(questionFor({ host: 'example.com' })),
    'curl wants to look up example.com',
  );
});

test('a title says when a name leads to this computer, a private network or cloud metadata', () => {
  const titles = ['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '169.254.169.254'].map(
    (address) =>
      questionTitle(questionFor({ host: 'a.test', port: 80 }, { privateAddresses: [address] })),
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
    questionFor(
      { host: 'example.com', port: 443 },
      { subject: { executable: '/tmp/[A](command:x)\n$(a)\u202e' } },
    ),
  );
  assert.equal(title, '“[A] (command:x)\\u{a}$ (a)\\u{202e}” wants to reach example.com:443');
  assert.equal(editorText('x'.repeat(500), 40).length, 40);
});

test('a name that reads like our own words is quoted', () => {
  const title = questionTitle(
    questionFor(
      { host: 'b.test', port: 1 },
      { subject: { executable: '/tmp/curl wants to reach a.test:443” and x' } },
    ),
  );
  assert.equal(title, "“curl wants to reach a.test:443' and x” wants to reach b.test:1");
});

test('a program without a name is told by its process id', () => {
  const title = questionTitle(
    questionFor({ host: 'a.test', port: 80 }, { subject: { executable: '' } }),
  );
  assert.equal(title, 'process 1234 wants to reach a.test:80');
});

test('Always allow names each pattern that it writes', () => {
  const always = (addresses: readonly string[]): string | undefined =>
    choicesOf(questionFor({ host: 'a.test', port: 80 }, { privateAddresses: addresses })).find(
      ({ kind }) => kind === 'always',
    )?.effect;
  assert.equal(always([]), 'Adds a.test:80 to cordon.network.allow in your user settings.');
  assert.equal(
    always(['127.0.0.1']),
    'Adds a.test:80 and 127.0.0.1:80 to cordon.network.allow in your user settings.',
  );
});

test('details hold all that is known, in plain lines', () => {
  const text = questionDetails(
    questionFor({ host: 'example.com', port: 443 }, { waiting: 3 }),
    (milliseconds) => `${milliseconds / 1000} s`,
  );
  assert.equal(
    text,
    [
      'curl wants to reach example.com:443',
      '',
      '  Program         /usr/bin/curl (process 1234)',
      "  Command         curl -sS 'https://example.com/a b'",
      '  Folder          /ws/web',
      '  Started by      bash (1200)',
      '  Terminal runs   /bin/bash',
      '  Run             run1',
      '  Asked because   network.mode is "ask"',
      '  Waiting         3 calls, since 0 s',
      '  Without answer  denied at 300 s',
      '',
      'What each answer changes',
      '  Allow once               Lets the 3 calls that wait now through; the next one asks again.',
      '  Allow for this session   All sandboxed terminals of this window, until it closes.',
      '  Always allow             Adds example.com:443 to cordon.network.allow in your user settings.',
      '  Deny                     curl gets an error; the next call asks again.',
      '  Allow for this terminal  This terminal only, until it closes.',
      '  Deny for this terminal   Everything else this terminal asks is denied, too.',
      '  Always deny              Adds example.com:443 to cordon.network.deny in your user settings.',
      '',
    ].join('\n'),
  );
});

test('a line break in a command does not start a line of its own in the details', () => {
  const text = questionDetails(
    questionFor(
      { host: 'a.test', port: 80 },
      { subject: { arguments: ['sh', '-c', 'x\n  Program  /bin/true'] } },
    ),
    String,
  );
  assert.equal(text.split('\n').filter((line) => line.startsWith('  Program')).length, 1);
});
