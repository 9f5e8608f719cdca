import assert from 'node:assert/strict';
import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { remember } from '../../../src/cli/remember.js';
import type { AbsolutePath } from '../../../src/policy/paths.js';
import type { TestContext } from 'node:test';

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(os.tmpdir(), 'cordon-remember-'));
  t.after(() => {
    rmSync(made, { recursive: true });
  });
  return made;
}

const rule = { effect: 'allow', setting: 'network.allow', entry: 'example.com:443' } as const;

test('the entry is added once, and everything else stays', async (t) => {
  const file = path.join(folder(t), 'settings.json') as AbsolutePath;
  writeFileSync(file, '{"filesystem":{"temp":"shared"},"network":{"mode":"off","allow":["a"]}}');
  await remember(file, rule);
  await remember(file, rule);
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    filesystem: { temp: 'shared' },
    network: { mode: 'off', allow: ['a', 'example.com:443'] },
  });
});

test('a file that does not exist is made, for its owner alone, with nothing left beside it', async (t) => {
  const home = folder(t);
  const file = path.join(home, 'cordon/settings.json') as AbsolutePath;
  await remember(file, { effect: 'deny', setting: 'network.deny', entry: 'x' });
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { network: { deny: ['x'] } });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(path.dirname(file)), ['settings.json']);
});

test('a file that is a link stays one: the file it leads to is changed', async (t) => {
  const home = folder(t);
  writeFileSync(path.join(home, 'real.json'), '{}');
  symlinkSync('real.json', path.join(home, 'settings.json'));
  await remember(path.join(home, 'settings.json') as AbsolutePath, rule);
  assert.deepEqual(JSON.parse(readFileSync(path.join(home, 'real.json'), 'utf8')), {
    network: { allow: ['example.com:443'] },
  });
});

test('a file that is not an object is left as it is', async (t) => {
  const file = path.join(folder(t), 'settings.json') as AbsolutePath;
  for (const text of ['[]', '{ broken']) {
    writeFileSync(file, text);
    await assert.rejects(remember(file, rule));
    assert.equal(readFileSync(file, 'utf8'), text);
  }
});
