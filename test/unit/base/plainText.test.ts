import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { plainText } from '../../../src/base/plainText.js';

test('ordinary text in any script stays as it is', () => {
  for (const text of ['curl', 'naïve café', '日本語', 'кириллица', 'a/b-c_d.e', '😀']) {
    assert.equal(plainText(text, 40), text);
  }
});

test('what cannot be seen, or changes what is seen, is spelled out', () => {
  assert.deepEqual(
    [
      '\u001b[2Jx',
      'a\u202egpj.exe',
      'a\u200bb',
      'a\nb',
      'a\u2028b',
      '\udc80',
      '\u3164',
      'a\ufeffb',
    ].map((text) => plainText(text, 40)),
    [
      '\\u{1b}[2Jx',
      'a\\u{202e}gpj.exe',
      'a\\u{200b}b',
      'a\\u{a}b',
      'a\\u{2028}b',
      '\\u{dc80}',
      '\\u{3164}',
      'a\\u{feff}b',
    ],
  );
});

test('marks cannot be piled up over the lines around', () => {
  assert.equal(plainText(`e${'\u0301'.repeat(50)}x`, 40), 'e\u0301\u0301x');
});

test('long text is cut in the middle, so that both ends stay', () => {
  assert.equal(plainText('abcdefghij', 7), 'abc…hij');
  assert.equal(plainText('abcdefg', 7), 'abcdefg');
});

test('whatever comes in, the result is one short visible line', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 1, max: 100 }),
      (text, limit) => {
        const shown = plainText(text, limit);
        assert.ok(Array.from(shown).length <= limit);
        assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      },
    ),
  );
});
