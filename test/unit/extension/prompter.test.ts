import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { createPrompter } from '../../../src/extension/prompter.js';
import { reach, write } from '../../support/question.js';
import type { ShownMessage } from '../../support/vscode.js';
import { stub } from '../../support/vscode.js';

const question = reach({ host: 'example.com', port: 443 });
const prompter = createPrompter({ details: 'cordon.showDetails', change: 'cordon.showChange' });

beforeEach(() => {
  stub.reset();
});

async function message(index: number): Promise<ShownMessage> {
  await turn();
  const shown = stub.messages[index];
  assert.ok(shown, `message ${index} was not shown`);
  return shown;
}

test('the notification has the four answers, and Details as a link that leaves it open', async () => {
  void prompter.ask(question, new AbortController().signal);
  const { level, message: text, buttons } = await message(0);
  assert.deepEqual(
    { level, text, buttons },
    {
      level: 'warning',
      text: 'curl wants to reach example.com:443 · [Details](command:cordon.showDetails?%5B%22q1%22%5D)',
      buttons: ['Allow once', 'Allow for this session', 'Always allow', 'Deny'],
    },
  );
});

test('an answer that is not offered has no button', async () => {
  void prompter.ask(write({}, { offers: ['session', 'always'] }), new AbortController().signal);
  assert.deepEqual((await message(0)).buttons, ['Allow for this session', 'Always allow', 'Deny']);
});

test('a change that is known before has a link of its own', async () => {
  void prompter.ask(
    write({ change: 'x\n' }, { wish: 'change .envrc', because: 'to see [it](command:x)' }),
    new AbortController().signal,
  );
  assert.equal(
    (await message(0)).message,
    'curl wants to change .envrc. It says: “to see [it] (command:x)” · [Details](command:cordon.showDetails?%5B%22q1%22%5D) · [Change](command:cordon.showChange?%5B%22q1%22%5D)',
  );
});

for (const [button, kind] of [
  ['Allow once', 'once'],
  ['Allow for this session', 'session'],
  ['Always allow', 'always'],
  ['Deny', 'deny'],
  [undefined, 'dismissed'],
] as const) {
  test(`${button ?? 'closing it'} means ${kind}`, async () => {
    const answer = prompter.ask(question, new AbortController().signal);
    (await message(0)).press(button);
    assert.deepEqual(await answer, { kind });
  });
}

test('when the question is over it asks no longer, and a late click is told that it changed nothing', async () => {
  const over = new AbortController();
  const answer = prompter.ask(question, over.signal);
  const toast = await message(0);
  over.abort();
  assert.deepEqual(await answer, { kind: 'dismissed' });
  toast.press('Always allow');
  assert.equal(
    (await message(1)).message,
    'This question is over, nothing was changed: curl wants to reach example.com:443',
  );
});

test('a question that is over before it could be asked shows nothing', async () => {
  assert.deepEqual(await prompter.ask(question, AbortSignal.abort()), {
    kind: 'dismissed',
  });
  assert.equal(stub.messages.length, 0);
});
