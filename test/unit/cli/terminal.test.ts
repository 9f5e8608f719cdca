import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineEditor } from '../../../src/cli/terminal.js';

function type(...chunks: readonly string[]): {
  readonly line: string | undefined;
  readonly shown: string;
} {
  let shown = '';
  const editor = createLineEditor((echo) => (shown += echo));
  let line: string | undefined;
  for (const chunk of chunks) line ??= editor(Buffer.from(chunk));
  return { line, shown };
}

test('a line ends at Enter, in one piece or in many', () => {
  assert.deepEqual(type('once\r'), { line: 'once', shown: 'once\r\n' });
  assert.deepEqual(type('o', 'n', 'c', 'e', '\n'), { line: 'once', shown: 'once\r\n' });
  assert.equal(type('once').line, undefined);
});

test('backspace and Ctrl-U take back', () => {
  assert.deepEqual(type('ax\x7f\r'), { line: 'a', shown: 'ax\b \b\r\n' });
  assert.equal(type('\x7f\x7fd\r').line, 'd');
  assert.equal(type('yarn\x15d\r').line, 'd');
});

test('Ctrl-C and Ctrl-D deny', () => {
  assert.equal(type('a\x03').line, 'deny');
  assert.equal(type('\x04').line, 'deny');
});

test('keys without a letter, other alphabets and endless lines change nothing', () => {
  assert.equal(type('\x1b[A\x00\x1bd\r').line, '[Ad');
  assert.equal(type('\u0430\r').line, '');
  assert.equal(type(`${'x'.repeat(1000)}\r`).line?.length, 20);
});

test('what follows Enter is not kept for the next question', () => {
  assert.equal(type('d\ra\r').line, 'd');
});
