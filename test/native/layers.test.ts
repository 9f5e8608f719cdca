import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { claimLayer } from '../../src/launch/layers.js';
import { createTempTree } from '../support/tempTree.js';

test('a layer that an earlier boot left is thrown away, whatever permissions it has', async (t) => {
  const state = createTempTree(t);
  const layer = claimLayer(state, '/ws', process.pid);
  assert.deepEqual(fs.readdirSync(layer), ['boot']);
  fs.mkdirSync(path.join(layer, 'go/upper/mod'), { recursive: true });
  fs.writeFileSync(path.join(layer, 'go/upper/mod/half-written'), '');
  fs.chmodSync(path.join(layer, 'go/upper/mod'), 0o555); // as go leaves its modules
  fs.mkdirSync(path.join(layer, 'go/work/work'), { recursive: true });
  fs.chmodSync(path.join(layer, 'go/work/work'), 0o000); // as overlayfs leaves its own
  const release = (): void => {
    fs.rmSync(`${layer}.lock`);
  };
  release();
  assert.equal(claimLayer(state, '/ws', process.pid), layer);
  assert.equal(fs.existsSync(path.join(layer, 'go')), true, 'the same boot keeps it');

  fs.writeFileSync(path.join(layer, 'boot'), 'another boot');
  release();
  assert.equal(claimLayer(state, '/ws', process.pid), layer);
  assert.deepEqual(fs.readdirSync(layer), ['boot']);
  const others = (): string[] =>
    fs.readdirSync(path.dirname(layer)).filter((name) => name.includes('.old-'));
  for (let round = 0; others().length > 0; round += 1) {
    assert.ok(round < 200, `still there after ten seconds: ${others().join()}`);
    await sleep(50);
  }
});
