import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { bytesToText, textToBytes } from '../../../src/base/bytes.js';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** Random bytes with parts of UTF-8 sequences among them: where decoders go wrong. */
const byteSoup = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 3 }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.constantFrom(
        bytes(0xc0, 0x80),
        bytes(0xe2, 0x82),
        bytes(0xed, 0xa0, 0x80),
        bytes(0xf0, 0x9f, 0x98),
        bytes(0xf4, 0x90, 0x80, 0x80),
        bytes(0xef, 0xbf, 0xbd),
        bytes(0xef, 0xbb, 0xbf),
        bytes(0x80),
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

test('bytes become text and the same bytes again', () => {
  fc.assert(
    fc.property(byteSoup, (buffer) => {
      assert.deepEqual(textToBytes(bytesToText(buffer)), buffer);
    }),
    { numRuns: 5000 },
  );
});

test('text survives JSON, whatever the bytes', () => {
  fc.assert(
    fc.property(byteSoup, (buffer) => {
      const text = JSON.parse(JSON.stringify(bytesToText(buffer))) as string;
      assert.deepEqual(textToBytes(text), buffer);
    }),
  );
});

test('valid UTF-8 is read as it is, also the replacement character and a byte order mark', () => {
  for (const text of ['', 'a', 'ä€😀', '\ufffd', '\ufeffa', 'a\0b']) {
    assert.equal(bytesToText(Buffer.from(text)), text);
  }
});

test('a byte that is not part of UTF-8 travels as U+DC00 and the byte', () => {
  assert.equal(bytesToText(bytes(0x61, 0xff, 0x62)), 'a\udcffb');
  assert.equal(bytesToText(bytes(0xc3)), '\udcc3');
  // An encoded surrogate, an overlong form and a code point beyond Unicode are no UTF-8 (RFC 3629, 3).
  assert.equal(bytesToText(bytes(0xed, 0xa0, 0x80)), '\udced\udca0\udc80');
  assert.equal(bytesToText(bytes(0xc0, 0xaf)), '\udcc0\udcaf');
  assert.equal(bytesToText(bytes(0xf4, 0x90, 0x80, 0x80)), '\udcf4\udc90\udc80\udc80');
});
