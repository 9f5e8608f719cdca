import assert from 'node:assert/strict';
import { test } from 'node:test';
import countReporter from '../../setup/countReporter.mjs';

async function count(...events: readonly (readonly [type: string, data: object])[]) {
  const source = (async function* () {
    for (const [type, data] of events) yield await Promise.resolve({ type, data });
  })();
  let text = '';
  for await (const chunk of countReporter(source)) text += chunk;
  return JSON.parse(text) as unknown;
}

const none = { passed: 0, failed: 0, skipped: 0, silent: [], unfinished: [], skips: [] };
const at = (name: string, more: object = {}) => ({ file: '/a', nesting: 0, name, ...more });

test('passed, failed and skipped tests are counted, suites are not', async () => {
  assert.deepEqual(
    await count(
      ['test:pass', at('one')],
      ['test:fail', at('two')],
      [
        'test:fail',
        at('suite', { details: { type: 'suite', error: { failureType: 'subtestsFailed' } } }),
      ],
      ['test:pass', at('three', { skip: 'no kernel for it' })],
      ['test:fail', at('four', { todo: true })],
    ),
    {
      ...none,
      passed: 1,
      failed: 1,
      skipped: 2,
      skips: [
        { name: 'three', reason: 'no kernel for it' },
        { name: 'four', reason: 'true' },
      ],
    },
  );
});

test('a file in which no test ran is a failure, though node reports it as passed', async () => {
  assert.deepEqual(await count(['test:pass', at('/a')]), { ...none, failed: 1, silent: ['/a'] });
});

test('a file that cannot be loaded is one failure', async () => {
  assert.deepEqual(await count(['test:fail', at('/a')]), { ...none, failed: 1 });
});

test('a test that began and never ended is a failure', async () => {
  assert.deepEqual(
    await count(
      ['test:dequeue', at('one')],
      ['test:pass', at('one')],
      ['test:dequeue', at('gone')],
    ),
    { ...none, passed: 1, failed: 1, unfinished: [['/a', 0, 'gone']] },
  );
});

test('a failing hook of a suite is a failure', async () => {
  assert.deepEqual(
    await count(
      ['test:pass', at('one')],
      [
        'test:fail',
        at('suite', { details: { type: 'suite', error: { failureType: 'hookFailed' } } }),
      ],
    ),
    { ...none, passed: 1, failed: 1 },
  );
});
