import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { createPrompter } from '../../../src/extension/prompter.js';
import { questionFor } from '../../support/question.js';
import type { ShownMessage } from '../../support/vscode.js';
import { stub } from '../../support/vscode.js';

const question = questionFor({ host: 'example.com', port: 443 });

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
  void createPrompter('cordon.showDetails').ask(question, new AbortController().signal);
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

for (const [button, kind] of [
  ['Allow once', 'once'],
  ['Allow for this session', 'session'],
  ['Always allow', 'always'],
  ['Deny', 'deny'],
  [undefined, 'dismissed'],
] as const) {
  test(`${button ?? 'closing it'} means ${kind}`, async () => {
    const answer = createPrompter('cordon.showDetails').ask(question, new AbortController().signal);
    (await message(0)).press(button);
    assert.deepEqual(await answer, { kind });
  });
}

test('when the question is over it asks no longer, and a late click is told that it changed nothing', async () => {
  const over = new AbortController();
  const answer = createPrompter('cordon.showDetails').ask(question, over.signal);
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
  assert.deepEqual(await createPrompter('cordon.showDetails').ask(question, AbortSignal.abort()), {
    kind: 'dismissed',
  });
  assert.equal(stub.messages.length, 0);
});
