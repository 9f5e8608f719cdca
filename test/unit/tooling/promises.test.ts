// SECURITY.md promises what is tested and nothing else: each promise names its test, each guarantee its promise.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../../..');
const security = readFileSync(path.join(root, 'SECURITY.md'), 'utf8');
const named = [...security.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, file]) => file ?? '');

test('each test that SECURITY.md names is there', () => {
  assert.notEqual(named.length, 0);
  assert.deepEqual(
    named.filter((file) => !existsSync(path.join(root, file))),
    [],
  );
});

test('each guarantee in test/sandbox is promised in SECURITY.md', () => {
  const guarantees = readdirSync(path.join(root, 'test/sandbox'))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/sandbox/${file}`);
  assert.deepEqual(
    guarantees.filter((file) => !named.includes(file)),
    [],
  );
});
