// The launcher's file read back: what the compiler and linker were told must be in it (native/Makefile).

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { launcher } from '../support/launcherPeer.js';

// elf(5), 64 bit, little endian.
const ET_DYN = 3;
const [PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_GNU_STACK, PT_GNU_RELRO] = [
  1, 2, 3, 0x6474e551, 0x6474e552,
];
const [PF_X, PF_W] = [1, 2];
const [DT_NEEDED, DT_FLAGS, DT_FLAGS_1] = [1n, 30n, 0x6ffffffbn];
const [DF_BIND_NOW, DF_1_NOW, DF_1_PIE] = [8n, 1n, 0x08000000n];

const file = readFileSync(launcher);

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly size: number;
}

const segments: readonly Segment[] = Array.from({ length: file.readUInt16LE(56) }, (_, index) => {
  const at = Number(file.readBigUInt64LE(32)) + index * file.readUInt16LE(54);
  return {
    type: file.readUInt32LE(at),
    flags: file.readUInt32LE(at + 4),
    offset: Number(file.readBigUInt64LE(at + 8)),
    size: Number(file.readBigUInt64LE(at + 32)),
  };
});

/** All values of one tag in the dynamic section. */
function dynamic(tag: bigint): readonly bigint[] {
  const values: bigint[] = [];
  for (const { offset, size } of segments.filter(({ type }) => type === PT_DYNAMIC)) {
    for (let at = offset; at < offset + size; at += 16) {
      if (file.readBigInt64LE(at) === tag) values.push(file.readBigUInt64LE(at + 8));
    }
  }
  return values;
}

test('it is a position independent program that needs nothing at run time', () => {
  assert.equal(file.readUInt16LE(16), ET_DYN);
  assert.ok(dynamic(DT_FLAGS_1).some((flags) => (flags & DF_1_PIE) !== 0n));
  assert.deepEqual(
    segments.filter(({ type }) => type === PT_INTERP),
    [],
  );
  assert.deepEqual(dynamic(DT_NEEDED), []);
});

test('its relocated data is read-only and bound at start', () => {
  assert.ok(segments.some(({ type }) => type === PT_GNU_RELRO));
  assert.ok(
    dynamic(DT_FLAGS).some((flags) => (flags & DF_BIND_NOW) !== 0n) ||
      dynamic(DT_FLAGS_1).some((flags) => (flags & DF_1_NOW) !== 0n),
  );
});

test('nothing in it is both writable and executable, the stack included', () => {
  const mapped = segments.filter(({ type }) => type === PT_LOAD || type === PT_GNU_STACK);
  assert.ok(mapped.some(({ type }) => type === PT_GNU_STACK));
  assert.deepEqual(
    mapped.filter(({ flags }) => (flags & PF_W) !== 0 && (flags & PF_X) !== 0),
    [],
  );
});
