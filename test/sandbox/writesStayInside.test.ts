import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside, attemptOutside, each } from '../support/breaches.js';
import { changes, createPlace, snapshot } from '../support/sandbox.js';
import type { Attempt } from '../support/breaches.js';

test('the issue’s example: of three writes only the one in the workspace exists afterwards', async (t) => {
  const place = createPlace(t);
  const before = snapshot(place.home);
  const script = 'touch ~/x; touch ok; mkdir -p .git/hooks && echo x > .git/hooks/pre-commit';
  const result = await place.cordon([], ['sh', '-c', script]);
  assert.notEqual(result.code, 0);
  assert.match(result.stderr, /touch: cannot touch .*Read-only file system/);
  assert.match(result.stderr, /pre-commit: Permission denied/);
  assert.deepEqual(changes(place.home, before), ['+ workspace/ok 644 e3b0c44298fc1c14']);
});

test('a process cannot change anything outside its writable roots, by any call', async (t) => {
  const place = createPlace(t);
  const file = path.join(place.outside, 'file');
  const fresh = path.join(place.outside, 'new');
  symlinkSync(file, path.join(place.workspace, 'link'));
  writeFileSync(path.join(place.workspace, 'own'), 'own\n');
  const own = path.join(place.workspace, 'own');
  const attempts: readonly Attempt[] = [
    ['write', fresh],
    ['write', file],
    ['write', path.join(place.workspace, 'link')],
    ['write', '../outside/file'],
    ['write-below-parent', 'outside/file'],
    ['append', file],
    ['creat', fresh],
    ['openat2', file],
    ['reopen', file],
    ['tmpfile', place.outside],
    ['truncate', file],
    ['mkdir', fresh],
    ['rmdir', place.outside],
    ['unlink', file],
    ['rename', file, path.join(place.outside, 'moved')],
    ['symlink', file, fresh],
    ['fifo', fresh],
    ['chmod', file],
    ['fchmod', file],
    ['fchmodat2', file],
    ['chown', file],
    ['utimes', file],
    ['futimes', file],
    ['setxattr', file],
    ['open-writable', file],
    ['unix-bind', fresh],
  ];
  const across: readonly Attempt[] = [
    ['rename', file, path.join(place.workspace, 'taken')],
    ['rename', own, fresh],
    ['link', file, path.join(place.workspace, 'hard')],
    ['link', own, fresh],
    ['exchange', own, file],
  ];
  const before = snapshot(place.home);
  const outcomes = await attemptInside(place, [], [...attempts, ...across]);
  // openat2(2) is absent: what it is to do lies in memory, where it could change
  const allowed = ['EROFS', 'EXDEV', 'EACCES', 'EPERM', 'ENOSYS'];
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => !allowed.includes(outcome)),
    [],
  );
  assert.deepEqual(changes(place.home, before), []);
  assert.equal(outcomes[`write ${file}`], 'EROFS', 'the native error of a read-only file system');
});

test('the same calls work on the host: it was the boundary that refused them', async (t) => {
  const place = createPlace(t);
  const file = path.join(place.outside, 'file');
  const fresh = path.join(place.outside, 'new');
  const attempts: readonly Attempt[] = [
    ['write', fresh],
    ['append', file],
    ['openat2', file],
    ['reopen', file],
    ['tmpfile', place.outside],
    ['write-below-parent', 'outside/file'],
    ['chmod', file],
    ['fchmod', file],
    ['fchmodat2', file],
    ['utimes', file],
    ['futimes', file],
    ['truncate', file],
    ['rename', file, path.join(place.workspace, 'taken')],
    ['unlink', fresh],
    ['fifo', fresh],
    ['unlink', fresh],
    ['unix-bind', fresh],
  ];
  assert.deepEqual(await attemptOutside(place, attempts), each(attempts, 'done'));
});

test('a process works in its workspace as on the host', async (t) => {
  const place = createPlace(t);
  const at = (name: string): string => path.join(place.workspace, name);
  const attempts: readonly Attempt[] = [
    ['mkdir', at('folder')],
    ['write', at('folder/file')],
    ['append', at('folder/file')],
    ['creat', at('other')],
    ['reopen', at('other')],
    ['tmpfile', at('folder')],
    ['truncate', at('other')],
    ['rename', at('other'), at('folder/moved')],
    ['exchange', at('folder/moved'), at('folder/file')],
    ['link', at('folder/moved'), at('hard')],
    ['symlink', 'folder/moved', at('soft')],
    ['fifo', at('fifo')],
    ['chmod', at('hard')],
    ['utimes', at('hard')],
    ['unlink', at('hard')],
    ['unix-bind', at('socket')],
  ];
  assert.deepEqual(await attemptInside(place, [], attempts), each(attempts, 'done'));
  assert.equal(readFileSync(at('folder/moved'), 'utf8'), 'breach\nbreach\n');
});

test('files made inside belong to the person, with the umask of the command', async (t) => {
  const place = createPlace(t);
  const { code } = await place.cordon(
    [],
    ['sh', '-c', 'umask 027; touch a; mkdir d; umask 0; touch b'],
  );
  assert.equal(code, 0);
  const { stdout } = await place.host(['stat', '-c', '%n %a %u', 'a', 'd', 'b']);
  const uid = process.getuid?.();
  assert.equal(stdout, `a 640 ${uid}\nd 750 ${uid}\nb 666 ${uid}\n`);
});

test('--write opens one more folder, and nothing beside it', async (t) => {
  const place = createPlace(t);
  const extra = path.join(place.home, 'extra');
  mkdirSync(extra);
  const script = `echo in > ${extra}/a; echo out > ${place.outside}/a`;
  const { code } = await place.cordon(['--write', extra], ['sh', '-c', script]);
  assert.notEqual(code, 0);
  assert.equal(readFileSync(path.join(extra, 'a'), 'utf8'), 'in\n');
  assert.equal(existsSync(path.join(place.outside, 'a')), false);
});

test('temporary folders are private to a run, writable, and gone with it', async (t) => {
  const place = createPlace(t);
  const name = `cordon-test-${process.pid}-${Date.now()}`;
  const script = `touch /tmp/${name} /var/tmp/${name} && mktemp && env -u TMPDIR mktemp && ls /tmp /var/tmp | grep ${name}`;
  const result = await place.cordon([], ['sh', '-c', script], {
    environment: { TMPDIR: path.join(place.home, 'no-such-folder') },
  });
  assert.equal(result.code, 0, result.stderr);
  assert.equal(existsSync(`/tmp/${name}`) || existsSync(`/var/tmp/${name}`), false);
  const second = await place.cordon([], ['sh', '-c', `ls /tmp /var/tmp`]);
  assert.ok(!second.stdout.includes(name));
});

test('devices inside are the harmless ones', async (t) => {
  const place = createPlace(t);
  const { stdout, code } = await place.cordon(
    [],
    ['sh', '-c', 'ls /dev; echo x > /dev/null; head -c 1 /dev/urandom | wc -c'],
  );
  assert.equal(code, 0);
  const allowed =
    /^(null|zero|full|random|urandom|tty|fd|stdin|stdout|stderr|ptmx|pts|shm|core|mqueue|1)$/;
  assert.deepEqual(
    stdout
      .trim()
      .split('\n')
      .filter((name) => !allowed.test(name.trim())),
    [],
  );
});
