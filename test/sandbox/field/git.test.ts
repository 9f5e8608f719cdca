// Reported damage that other sandboxes did to repositories. In this version `.git` is read-only inside a run.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createPlace, snapshot } from '../../support/sandbox.js';
import type { Place } from '../../support/sandbox.js';

const STATUS = ['git', 'status', '--porcelain', '--ignored', '--untracked-files=all'];

/** Waits inside until the test ends its input, so that the host can be looked at meanwhile. */
const WAIT = ['sh', '-c', 'echo up; sleep 60'];

async function whileRunning(place: Place, look: () => Promise<void> | void): Promise<void> {
  const started = place.start([], WAIT);
  await started.said('up');
  try {
    await look();
  } finally {
    started.child.kill('SIGKILL');
    await started.finished;
  }
}

test('C015 git status is empty inside, on the host during a run, and afterwards', async (t) => {
  const place = createPlace(t);
  const inside = await place.cordon([], STATUS);
  assert.deepEqual({ code: inside.code, stdout: inside.stdout }, { code: 0, stdout: '' });
  await whileRunning(place, async () => {
    assert.equal((await place.host(STATUS)).stdout, '');
  });
  assert.equal((await place.host(STATUS)).stdout, '');
});

test('C016 git add -A finds exactly what it finds outside', async (t) => {
  const place = createPlace(t);
  for (const name of ['a', 'folder/b', 'folder/.hidden', 'with space']) {
    mkdirSync(path.dirname(path.join(place.workspace, name)), { recursive: true });
    writeFileSync(path.join(place.workspace, name), `${name}\n`);
  }
  // index and objects elsewhere: what is tried is what git meets in the tree
  const add = [
    'sh', '-c',
    'export GIT_INDEX_FILE=$1/index GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects GIT_OBJECT_DIRECTORY=$1/objects; ' +
      'mkdir -p "$1/objects" && git add -A && git ls-files --stage',
    'sh',
  ]; // prettier-ignore
  const inside = await place.cordon([], [...add, '/tmp/elsewhere']);
  const outside = await place.host([...add, path.join(place.folder, 'elsewhere')]);
  assert.equal(inside.stdout, outside.stdout, inside.stderr);
  assert.equal(inside.stdout.trimEnd().split('\n').length, 4);
});

test('C017 after SIGKILL of the launcher the workspace and the temporary folder are as before', async (t) => {
  const place = createPlace(t);
  const temporary = () =>
    readdirSync('/tmp').filter((name) => /^(\.git|\.agents|\.codex|cordon)/u.test(name));
  const before = { tree: snapshot(place.workspace), temporary: temporary() };
  const started = place.start([], WAIT);
  await started.said('up');
  const launchers = await place.host([
    'pgrep',
    '-f',
    '-P',
    `${started.child.pid ?? 0}`,
    'cordon-launch',
  ]);
  const pids = launchers.stdout.trim().split('\n').map(Number);
  assert.ok(pids.length > 0 && pids.every((pid) => pid > 0), 'the launcher is a child of the CLI');
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  const { code } = await started.finished;
  assert.notEqual(code, 0);
  assert.deepEqual({ tree: snapshot(place.workspace), temporary: temporary() }, before);
});

test('C018 no name appears in a folder that is no repository, neither during nor after a run', async (t) => {
  const place = createPlace(t);
  const plain = path.join(place.home, 'plain');
  mkdirSync(plain);
  const started = place.start(['--root', plain], WAIT, { cwd: plain });
  await started.said('up');
  assert.deepEqual(readdirSync(plain), []);
  started.child.kill('SIGKILL');
  await started.finished;
  assert.deepEqual(readdirSync(plain), []);
});
