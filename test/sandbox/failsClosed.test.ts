import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { cordonCommand, createPlace } from '../support/sandbox.js';
import type { Place } from '../support/sandbox.js';

const dist = path.resolve(import.meta.dirname, '../../dist');

/** The words in a shell's quotes. */
const shellWords = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

/** `command` where creating a user namespace is refused by the kernel (ENOSPC). */
function withoutUserNamespaces(command: readonly string[]): readonly string[] {
  return [
    'unshare',
    '-Ur',
    'sh',
    '-c',
    `echo 0 > /proc/sys/user/max_user_namespaces && exec ${shellWords(command)}`,
  ];
}

test('without user namespaces nothing is run, and the reason and the way out are named', async (t) => {
  const place = createPlace(t);
  const probe = spawnSync('sh', [
    '-c',
    shellWords(withoutUserNamespaces(['unshare', '-U', 'true'])),
  ]);
  assert.notEqual(probe.status, 0, 'the simulation works');
  const started = performance.now();
  const result = await place.host(withoutUserNamespaces(cordonCommand([], ['touch', 'ran'])));
  assert.equal(result.code, 125, result.stderr);
  assert.match(result.stderr, /cordon: .*user namespaces/);
  assert.ok(performance.now() - started < 5000, 'within 5 seconds');
  assert.equal(existsSync(path.join(place.workspace, 'ran')), false);
  const doctor = await place.host(
    withoutUserNamespaces([process.execPath, path.join(dist, 'cli.js'), 'doctor']),
  );
  assert.notEqual(doctor.code, 0);
  assert.match(doctor.stdout, /user namespaces/);
});

test('a run inside an ordinary user namespace works: no stage needs the first one', async (t) => {
  const place = createPlace(t);
  const result = await place.host([
    'unshare',
    '-Ur',
    ...cordonCommand([], ['sh', '-c', 'touch made; touch ../escaped']),
  ]);
  assert.notEqual(result.code, 0);
  assert.equal(existsSync(path.join(place.workspace, 'made')), true, result.stderr);
  assert.equal(existsSync(path.join(place.home, 'escaped')), false);
});

/** A copy of what is installed, to break. */
function installed(place: Place): string {
  const copy = path.join(place.folder, 'dist');
  cpSync(realpathSync(dist), copy, { recursive: true });
  return copy;
}

const launcherOf = (copy: string): string => {
  const folder = readdirSync(path.join(copy, 'native')).find((name) =>
    name.startsWith(`linux-${process.arch}`),
  );
  return path.join(copy, 'native', folder ?? '', 'cordon-launch');
};

test('a launcher that is missing, not executable, or not ours: refused with the reason, never run unconfined', async (t) => {
  const place = createPlace(t);
  const copy = installed(place);
  const launcher = launcherOf(copy);
  const run = (): Promise<{ code: number | null; stderr: string }> =>
    place.host([process.execPath, path.join(copy, 'cli.js'), 'run', '--', 'touch', 'ran']);
  assert.equal((await run()).code, 0, 'the copy works');
  rmSync(path.join(place.workspace, 'ran'));

  chmodSync(launcher, 0o644);
  const notExecutable = await run();
  writeFileSync(launcher, '#!/bin/sh\nshift; exec "$@"\n', { mode: 0o755 });
  chmodSync(launcher, 0o755);
  const foreign = await run();
  rmSync(launcher);
  const missing = await run();
  for (const result of [notExecutable, foreign, missing]) {
    assert.equal(result.code, 125, result.stderr);
    assert.match(result.stderr, /^cordon: [^\n]+\n$/);
  }
  assert.equal(existsSync(path.join(place.workspace, 'ran')), false);
});

test('it starts with an empty PATH: nothing has to be installed', async (t) => {
  const place = createPlace(t);
  const result = await place.cordon([], ['/bin/sh', '-c', 'echo x > made'], {
    environment: { PATH: undefined },
  });
  assert.equal(result.code, 0, result.stderr);
});

test('it starts and confines with an empty bounding set and no_new_privs already set', async (t) => {
  const place = createPlace(t);
  const result = await place.host([
    'setpriv',
    '--no-new-privs',
    ...cordonCommand([], ['sh', '-c', 'touch made; touch ../escaped']),
  ]);
  assert.equal(existsSync(path.join(place.workspace, 'made')), true, result.stderr);
  assert.equal(existsSync(path.join(place.home, 'escaped')), false);
});

test('the doctor tries to break out and says that it could not', async (t) => {
  const place = createPlace(t);
  const { code, stdout, stderr } = await place.face(['doctor', '--json']);
  assert.equal(code, 0, stdout + stderr);
  const report = JSON.parse(stdout) as {
    posture: string;
    attempts: readonly { name: string; refused: boolean }[];
  };
  assert.deepEqual(
    report.attempts.map(({ name, refused }) => [name, refused]),
    [
      ['write outside', true],
      ['read a secret', true],
      ['connect out', true],
    ],
  );
  assert.match((await place.face(['doctor'])).stdout, /refused/);
});
