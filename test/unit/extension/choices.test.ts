import assert from 'node:assert/strict';
import { test } from 'node:test';

import { choicesOf, notificationChoices } from '../../../src/extension/choices.js';
import type { AnswerKind } from '../../../src/extension/choices.js';
import type { Question } from '../../../src/broker/prompter.js';
import { questionFor, reach, write } from '../../support/question.js';

const effects = (question: Question): Partial<Record<AnswerKind, string>> =>
  Object.fromEntries(choicesOf(question).map(({ kind, effect }) => [kind, effect]));

const at = (path: string): never => path as never;

test('the notification has the four answers that matter most; the rest stands in the details', () => {
  const question = reach({ host: 'a.test', port: 80 });
  assert.deepEqual(
    notificationChoices(question).map(({ label }) => label),
    ['Allow once', 'Allow for this session', 'Always allow', 'Deny'],
  );
  assert.deepEqual(
    choicesOf(question).map(({ kind }) => kind),
    ['once', 'session', 'always', 'deny', 'run', 'denyRun', 'denyAlways'],
  );
});

test('what is not offered is not shown, and denying always is', () => {
  const question = questionFor(
    { action: 'sign', object: { agent: 'ssh', key: 'SHA256:abc', purpose: '' } },
    { offers: ['once', 'run', 'session'] },
  );
  assert.deepEqual(
    choicesOf(question).map(({ kind }) => kind),
    ['once', 'session', 'deny', 'run', 'denyRun', 'denyAlways'],
  );
});

test('Always allow names each entry and the setting that it writes to', () => {
  const rule = (entry: string): Question['always'][number] => ({
    effect: 'allow',
    setting: 'network.allow',
    entry,
  });
  assert.equal(
    effects(
      reach({ host: 'a.test', port: 80 }, { always: [rule('a.test:80'), rule('127.0.0.1:80')] }),
    ).always,
    'Adds a.test:80 and 127.0.0.1:80 to cordon.network.allow in your user settings.',
  );
});

test('a wider answer to a write names the folder that it opens', () => {
  const { once, run, session } = effects(write({}, { wider: '/srv/elsewhere' }));
  assert.deepEqual(
    [once, run, session],
    [
      'Lets the call that waits now through; the next one asks again.',
      'Opens the folder /srv/elsewhere for writing, in this terminal, until it closes.',
      'Opens the folder /srv/elsewhere for writing, in all sandboxed terminals, until this window closes.',
    ],
  );
});

test('a wider answer that opens the path alone says so', () => {
  assert.equal(
    effects(write({ path: at('/ws/.envrc'), protected: true })).session,
    'Opens only /ws/.envrc for writing, in all sandboxed terminals, until this window closes.',
  );
});

test('each other action says what a wider answer opens', () => {
  const session = (wanted: Parameters<typeof questionFor>[0], wider: string | null = null) =>
    effects(questionFor(wanted, { wider })).session?.split(/,? in all sandboxed/)[0];
  assert.deepEqual(
    [
      session({ action: 'read', object: { path: at('/s/config'), folder: at('/s') } }, '/s'),
      session({ action: 'read', object: { path: at('/s'), folder: null } }),
      session({
        action: 'git',
        object: { repository: at('/ws/.git'), path: at('/ws/.git/HEAD'), call: 'create' },
      }),
      session({ action: 'socket', object: { path: at('/run/x.sock'), call: 'connect' } }),
      session({ action: 'sign', object: { agent: 'gpg', key: 'AB', purpose: '' } }),
      session({ action: 'publish', object: { port: 5173 } }),
    ],
    [
      'Opens the folder /s for reading',
      'Opens only /s for reading',
      'Lets git change /ws/.git, but for hooks and settings that start programs',
      'Opens /run/x.sock',
      'Lets programs sign with this key',
      'Opens port 5173 whenever a program listens on it',
    ],
  );
});

test('git for good is one setting for every folder, and says so', () => {
  const question = questionFor(
    {
      action: 'git',
      object: { repository: at('/ws/.git'), path: at('/ws/.git/HEAD'), call: 'create' },
    },
    { always: [{ effect: 'allow', setting: 'filesystem.git', entry: 'allow' }] },
  );
  assert.equal(
    effects(question).always,
    'Sets cordon.filesystem.git to "allow" in your user settings, for every folder.',
  );
});

test('denying for good is called so only where it is written down', () => {
  const label = (question: Question): string | undefined =>
    choicesOf(question).find(({ kind }) => kind === 'denyAlways')?.label;
  const never = [{ effect: 'deny', setting: 'sockets.deny', entry: '/run/x.sock' }] as const;
  const socket = {
    action: 'socket',
    object: { path: at('/run/x.sock'), call: 'connect' },
  } as const;
  assert.deepEqual(
    [label(questionFor(socket, { never })), label(write({}))],
    ['Always deny', 'Deny for this session'],
  );
  assert.equal(
    effects(questionFor(socket, { never })).denyAlways,
    'Adds /run/x.sock to cordon.sockets.deny in your user settings.',
  );
});
