import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { readJson } from '../../../src/settings/json.js';

test('a value is read with the line of every key', () => {
  const result = readJson(
    '\ufeff{\n  "network": {\r\n    "allow": [\n      "a",\n      "b"\n    ]\n  }\n}\n',
  );
  assert.deepEqual(result, {
    kind: 'read',
    value: { network: { allow: ['a', 'b'] } },
    lines: new Map([
      ['', 1],
      ['network', 2],
      ['network.allow', 3],
      ['network.allow[0]', 4],
      ['network.allow[1]', 5],
    ]),
  });
});

const broken: readonly (readonly [text: string, line: number, message: string])[] = [
  ['', 1, 'ends too early'],
  ['{', 1, 'ends too early'],
  ['{"a":1,\n"a":2}', 2, 'has the key "a" twice'],
  ['{\n  // why\n}', 2, 'has a comment; plain JSON has none'],
  ['{\n/* why */}', 2, 'has a comment; plain JSON has none'],
  ['[1,\n2,\n]', 2, 'has a comma before ]'],
  ['{"a":1,}', 1, 'has a comma before }'],
  ["{'a':1}", 1, 'has a text in single quotes; JSON wants double quotes'],
  ['{\n"a: 1}', 2, 'has a text that does not end or holds a wrong escape'],
  ['{"a":"\\x"}', 1, 'has a text that does not end or holds a wrong escape'],
  ['{"a" 1}', 1, 'has 1 where : belongs'],
  ['{"a":}', 1, 'has } where a value belongs'],
  ['{"a":1 "b":2}', 1, 'has "b" where a comma or } belongs'],
  ['{1:2}', 1, 'has 1 where a key in double quotes belongs'],
  ['{} {}', 1, 'has something after its end'],
  ['{"a":NaN}', 1, 'is not valid JSON at "N"'],
  ['['.repeat(40), 1, 'is nested too deeply'],
  [' '.repeat((1 << 20) + 1), 1, 'is larger than 1 MiB'],
];

for (const [text, line, message] of broken) {
  test(`broken JSON is pointed at: ${JSON.stringify(text.slice(0, 20))} ${message}`, () => {
    assert.deepEqual(readJson(text), { kind: 'broken', line, message });
  });
}

test('what JSON.stringify writes is read back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat(4), (value, indent) => {
      const result = readJson(JSON.stringify(value, null, indent));
      assert.equal(result.kind, 'read');
      assert.deepEqual(result.value, JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('any text is read as JSON.parse reads it, or refused', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '1',
    '-',
    '.5',
    'e3',
    'true',
    'nul',
    ' ',
    '\n',
    '\\',
    '/',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      const result = readJson(text);
      if (result.kind === 'read') assert.deepEqual(result.value, JSON.parse(text));
    }),
    { numRuns: 2000 },
  );
});

test('a long text that does not end is refused at once', () => {
  const started = performance.now();
  assert.equal(readJson(`{"a":"${'x\\n'.repeat(200_000)}`).kind, 'broken');
  assert.ok(performance.now() - started < 2000);
});
