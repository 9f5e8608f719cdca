import assert from 'node:assert/strict';
import os from 'node:os';
import { test } from 'node:test';

import { editorText, pageText, pathText } from '../../../src/extension/text.js';

test('text in a label is neither a link nor an icon, and is not too long', () => {
  assert.equal(editorText('[A](command:x)\n$(a)\u202e', 80), '[A] (command:x)\\u{a}$ (a)\\u{202e}');
  assert.equal(editorText('x'.repeat(500), 40).length, 40);
});

test('a path in the home folder begins with a tilde, and one beside it does not', () => {
  const home = os.homedir();
  assert.deepEqual([home, `${home}/.ssh/config`, `${home}2/x`, '/srv/x'].map(pathText), [
    '~',
    '~/.ssh/config',
    `${home}2/x`,
    '/srv/x',
  ]);
});

test('a page keeps lines and tabs, and shows what would hide or reorder text', () => {
  assert.equal(
    pageText('a\tb\r\n\u202ec\u200bd\n\u001b[31mred'),
    'a\tb\\u{d}\n\\u{202e}c\\u{200b}d\n\\u{1b}[31mred',
  );
});
