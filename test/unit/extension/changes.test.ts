import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { showChange } from '../../../src/extension/changes.js';
import type { Documents } from '../../../src/extension/documents.js';
import { createTempTree } from '../../support/tempTree.js';
import { write } from '../../support/question.js';

/** What was shown, as the calls that showed it. */
async function shown(file: string, change: string | null): Promise<readonly unknown[]> {
  const calls: unknown[] = [];
  const documents: Documents = {
    show: (...page) => Promise.resolve(void calls.push(page)),
    compare: (...pages) => Promise.resolve(void calls.push(pages)),
    dispose: () => undefined,
  };
  await showChange(documents, write({ path: file as never, change }));
  return calls;
}

test('a change stands beside the file that is there, both with nothing hidden', async (context) => {
  const file = path.join(createTempTree(context), 'config');
  writeFileSync(file, 'a\u200b\n');
  assert.deepEqual(await shown(file, 'b\u202e\n'), [
    [`${file} ↔ what curl would write`, 'a\\u{200b}\n', 'b\\u{202e}\n'],
  ]);
});

test('of a long file only as much is read as of a change is known', async (context) => {
  const file = path.join(createTempTree(context), 'long');
  writeFileSync(file, 'x'.repeat(100_000));
  const [pages] = (await shown(file, 'y')) as readonly (readonly string[])[];
  assert.equal(pages?.[1]?.length, 16 * 1024);
});

test('a change of what is not there, or is no file, stands alone', async (context) => {
  const missing = path.join(createTempTree(context), 'missing');
  for (const place of [missing, '/dev/null', '/'])
    assert.deepEqual(await shown(place, 'new'), [
      ['Change', `${place}: what curl would write\n\nnew`],
    ]);
});

test('lines of a git directory’s file, and where a link would lead, stand alone', async (context) => {
  const folder = path.join(createTempTree(context), '.git');
  mkdirSync(folder);
  const files = [
    [path.join(folder, 'config'), '+ core.hooksPath = x\n'],
    [path.join(folder, 'todo'), 'exec x\n'],
    [path.join(folder, '..', 'link'), '-> /etc\n'],
  ] as const;
  for (const [file, change] of files) {
    writeFileSync(file, 'old');
    assert.deepEqual(await shown(file, change), [
      ['Change', `${file}: what curl would write\n\n${change}`],
    ]);
  }
});

test('where nothing is known of a change, nothing is shown', async () => {
  assert.deepEqual(await shown('/ws/x', null), []);
});
