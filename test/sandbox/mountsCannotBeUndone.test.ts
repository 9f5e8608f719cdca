import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside, attemptOutside } from '../support/breaches.js';
import { changes, createPlace, snapshot } from '../support/sandbox.js';
import type { Attempt } from '../support/breaches.js';
import type { Place } from '../support/sandbox.js';

function attemptsAt(place: Place): readonly Attempt[] {
  const git = path.join(place.workspace, '.git');
  const secret = path.join(place.home, '.ssh');
  const shelf = '/dev/shm';
  const fromRoot = (name: string): string => path.join(place.outside, name).slice(1);
  return [
    ['remount', '/'],
    ['remount', git],
    ['remount', secret],
    ['set-writable', '/'],
    ['set-writable-recursive', '/'],
    ['set-writable', git],
    ['unmount', git],
    ['unmount', secret],
    ['unmount', place.workspace],
    ['unmount', '/tmp'],
    ['unmount', '/dev'],
    ['unmount', '/proc'],
    ['move-mount', git, shelf],
    ['move-mount', place.workspace, shelf],
    ['bind-without-children', '/', shelf],
    ['bind-without-children', place.home, shelf],
    ['bind-and-write', place.workspace, shelf, '.git/hooks/pre-commit'],
    ['bind-and-write', '/', shelf, fromRoot('file')],
    ['bind-and-read', '/', shelf, path.join(secret, 'id').slice(1)],
    ['bind-and-read', place.home, shelf, '.ssh/id'],
    ['clone-and-write', '/', fromRoot('file')],
    ['clone-all-and-write', '/', fromRoot('file')],
    ['clone-and-write', place.outside, 'file'],
    ['clone-all-and-write', place.home, 'outside/file'],
    ['clone-and-write', git, 'config'],
    ['clone-and-write', place.workspace, '.git/config'],
    ['pivot-root', place.workspace],
    ['setns', '/proc/1/ns/mnt'],
    ['setns', '/proc/1/ns/user'],
    ['setns', '/proc/1/ns/net'],
  ];
}

test('no process inside can undo or go round a mount, also from namespaces of its own', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.home, '.ssh'), { mode: 0o700 });
  writeFileSync(path.join(place.home, '.ssh/id'), 'secret\n');
  mkdirSync(path.join(place.workspace, '.git/hooks'), { recursive: true });
  const direct = attemptsAt(place);
  const nested = direct.map((words): Attempt => ['nested', ...words]);
  const before = snapshot(place.home);
  const outcomes = await attemptInside(place, [], [...direct, ...nested]);
  assert.deepEqual(changes(place.home, before), [], 'the host is as before');
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done' || outcome === 'usage'),
    [],
  );
});

test('such attempts work on the host, from namespaces of their own', async (t) => {
  const place = createPlace(t);
  const attempts: readonly Attempt[] = [
    ['nested', 'bind-and-write', place.home, place.workspace, 'outside/file'],
    ['nested', 'clone-and-write', place.outside, 'file'],
  ];
  const outcomes = await attemptOutside(place, attempts);
  assert.deepEqual(Object.values(outcomes), ['done', 'done'], JSON.stringify(outcomes));
});

test('mounts of its own, in a namespace of its own, change nothing that counts', async (t) => {
  const place = createPlace(t);
  const outcomes = await attemptInside(
    place,
    [],
    [
      ['mount-tmpfs', '/mnt'],
      ['chroot', '/dev/shm'],
      ['nested', 'overlay', place.outside, place.workspace, '/dev/shm', place.outside],
    ],
  );
  assert.deepEqual(
    Object.values(outcomes).filter((outcome) => outcome === 'done'),
    [],
  );
});
