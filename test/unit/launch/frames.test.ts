import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { createBrokerParser, createLauncherParser } from '../../../src/launch/control/schema.js';

const folder = new URL('../../fixtures/frames/', import.meta.url);

function fixtures(kind: 'valid' | 'invalid'): string[] {
  const names = fs.readdirSync(new URL(kind, folder));
  assert.ok(names.length > 20, `${kind} frames are missing`);
  return names;
}

function parserFor(name: string): (bytes: Uint8Array) => unknown {
  return name.startsWith('launcher-') ? createLauncherParser() : createBrokerParser();
}

for (const name of fixtures('valid')) {
  test(`the frame ${name} is taken as it is`, () => {
    const bytes = fs.readFileSync(new URL(`valid/${name}`, folder));
    assert.deepEqual(parserFor(name)(bytes), JSON.parse(bytes.toString('utf8')));
  });
}

for (const name of fixtures('invalid')) {
  test(`the frame ${name} is refused`, () => {
    const bytes = fs.readFileSync(new URL(`invalid/${name}`, folder));
    assert.throws(() => parserFor(name)(bytes), Error);
  });
}

test('each kind of frame has a valid fixture', () => {
  const kinds = new Set(fixtures('valid').map((name) => name.split(/[-.]/u).slice(0, 2).join(' ')));
  assert.deepEqual([...kinds].sort(), [
    'broker answer',
    'broker error',
    'broker grant',
    'broker hold',
    'broker notice',
    'broker plan',
    'broker resume',
    'broker revoke',
    'broker stop',
    'broker welcome',
    'launcher ask',
    'launcher denial',
    'launcher error',
    'launcher exit',
    'launcher held',
    'launcher hello',
    'launcher opened',
    'launcher published',
    'launcher ready',
    'launcher revoked',
    'launcher unpublished',
    'launcher withdraw',
  ]);
});

test('a frame with a key called __proto__ is refused', () => {
  const text = '{"kind":"held","__proto__":{"kind":"exit"}}';
  assert.throws(() => createLauncherParser()(Buffer.from(text)), Error);
});

test('a refusal says which kind and which key', () => {
  const text = '{"kind":"withdraw","id":"1"}';
  assert.throws(() => createLauncherParser()(Buffer.from(text)), /withdraw: .*id/u);
});
