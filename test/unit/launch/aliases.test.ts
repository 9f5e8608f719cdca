import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aliasesOf,
  parseMounts,
  possibleAliases,
  readMounts,
} from '../../../src/launch/aliases.js';
import type { AbsolutePath } from '../../../src/policy/paths.js';

const at = (path: string) => path as AbsolutePath;

const MOUNTS = parseMounts(
  [
    '22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw',
    '23 22 0:21 / /proc rw - proc proc rw',
    '24 22 0:4 net:[4026531833] /run/netns/a rw - nsfs nsfs rw',
    '25 22 8:2 / /home rw shared:2 - ext4 /dev/sda2 rw',
    '26 22 8:1 / /mnt/wslg/distro ro - ext4 /dev/sda1 rw',
    '27 26 8:2 / /mnt/wslg/distro/home rw - ext4 /dev/sda2 rw',
    '28 22 8:2 /ann/.ssh /srv/two\\040words rw - ext4 /dev/sda2 rw',
    '29 22 8:2 /bob /srv/bob rw - ext4 /dev/sda2 rw',
    '',
  ].join('\n'),
);

describe('possibleAliases', () => {
  test('a second mount of the whole file system shows every place again', () => {
    assert.deepEqual(possibleAliases(MOUNTS, at('/etc/shadow')), ['/mnt/wslg/distro/etc/shadow']);
  });

  test('a folder on a file system of its own shows wherever that or a part of it is mounted', () => {
    assert.deepEqual(possibleAliases(MOUNTS, at('/home/ann/.ssh')), [
      '/mnt/wslg/distro/home/ann/.ssh',
      '/srv/two words',
    ]);
    assert.deepEqual(possibleAliases(MOUNTS, at('/home/ann/.ssh/id')), [
      '/mnt/wslg/distro/home/ann/.ssh/id',
      '/srv/two words/id',
    ]);
  });

  test('a place reached by the alias is known by its other paths, too', () => {
    assert.deepEqual(possibleAliases(MOUNTS, at('/srv/bob/.aws')), [
      '/home/bob/.aws',
      '/mnt/wslg/distro/home/bob/.aws',
    ]);
  });

  test('what is mounted once has none', () => {
    assert.deepEqual(possibleAliases(MOUNTS, at('/proc/1')), []);
  });
});

test('what is only named alike, or covered by another mount, is no alias', () => {
  const mounts = parseMounts('1 0 8:1 / / rw - x x rw\n2 1 8:1 /etc /nowhere/at/all rw - x x rw\n');
  assert.deepEqual(possibleAliases(mounts, at('/etc/passwd')), ['/nowhere/at/all/passwd']);
  assert.deepEqual(aliasesOf(mounts, at('/etc/passwd')), []);
});

test('the mounts of this system can be read', () => {
  assert.ok(readMounts().some(({ point }) => point === '/proc'));
});
