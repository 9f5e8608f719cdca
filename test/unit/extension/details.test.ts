import assert from 'node:assert/strict';
import { test } from 'node:test';

import { questionDetails } from '../../../src/extension/details.js';
import { questionFor, reach, write } from '../../support/question.js';

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;

test('details hold all that is known, in plain lines', () => {
  const text = questionDetails(
    reach(
      { host: 'example.com', port: 443 },
      {
        waiting: 3,
        always: [{ effect: 'allow', setting: 'network.allow', entry: 'example.com:443' }],
        never: [{ effect: 'deny', setting: 'network.deny', entry: 'example.com:443' }],
      },
    ),
    seconds,
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
      '  Allow once               Lets the 3 calls that wait now through; the next one asks',
      '                           again.',
      '  Allow for this session   Reached without a question in all sandboxed terminals, until',
      '                           this window closes.',
      '  Always allow             Adds example.com:443 to cordon.network.allow in your user',
      '                           settings.',
      '  Deny                     curl gets an error; the next call asks again.',
      '  Allow for this terminal  Reached without a question in this terminal, until it',
      '                           closes.',
      '  Deny for this terminal   Everything else this terminal asks is denied, too.',
      '  Always deny              Adds example.com:443 to cordon.network.deny in your user',
      '                           settings.',
      '',
    ].join('\n'),
  );
});

test('a path is shown whole, and a change with its own lines and nothing hidden', () => {
  const path = `/srv/${'deep/'.repeat(60)}x`;
  const text = questionDetails(
    write({
      path: path as never,
      call: 'rename',
      to: '/ws/.git/config.lock' as never,
      change: '[core]\n\thooksPath = /tmp\u202e\n',
    }),
    seconds,
  );
  const facts = text.split('\n').filter((line) => /^ {2}(Path|Call|Other path) /.test(line));
  assert.deepEqual(facts, [
    `  Path            ${path}`,
    '  Call            rename',
    '  Other path      /ws/.git/config.lock',
  ]);
  assert.ok(
    text.endsWith('\nWhat would be written\n\n[core]\n\thooksPath = /tmp\\u{202e}\n\n'),
    text,
  );
});

test('a signature names agent, key and purpose', () => {
  const text = questionDetails(
    questionFor({ action: 'sign', object: { agent: 'ssh', key: 'SHA256:abc me', purpose: '' } }),
    seconds,
  );
  const facts = text.split('\n').filter((line) => /^ {2}(Agent|Key|Purpose) /.test(line));
  assert.deepEqual(facts, [
    '  Agent           ssh',
    '  Key             SHA256:abc me',
    '  Purpose         not told',
  ]);
});

test('a line break in a command does not start a line of its own in the details', () => {
  const text = questionDetails(
    reach(
      { host: 'a.test', port: 80 },
      { subject: { arguments: ['sh', '-c', 'x\n  Program  /bin/true'] } },
    ),
    String,
  );
  assert.equal(text.split('\n').filter((line) => line.startsWith('  Program')).length, 1);
});
