// The set-up in front of `npm test`, as somebody who can install nothing meets it. Starts one process, which must stop early.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

const NOBODY = 65534;
const setup = path.resolve(import.meta.dirname, '../../setup');

test('without root or sudo the missing packages are named in one line, and nothing else happens', () => {
  const tree = mkdtempSync(path.join(os.tmpdir(), 'cordon-prepare-'));
  try {
    const folder = path.join(tree, 'test/setup');
    const bin = path.join(tree, 'bin');
    mkdirSync(folder, { recursive: true });
    mkdirSync(bin);
    for (const name of ['prepare.mjs', 'packages.txt']) {
      copyFileSync(path.join(setup, name), path.join(folder, name));
    }
    // Everything is installed but two; there is no sudo.
    writeFileSync(
      path.join(bin, 'dpkg-query'),
      '#!/bin/sh\nshift 2\nfor name; do case $name in gcc|tmux) ;; *) echo "$name installed";; esac; done\n',
    );
    for (const name of ['bin/dpkg-query', 'bin', '.', 'test/setup/prepare.mjs']) {
      chmodSync(path.join(tree, name), 0o755);
    }
    chmodSync(path.join(folder, 'packages.txt'), 0o644);

    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(folder, 'prepare.mjs'), 'test'],
      {
        cwd: tree,
        encoding: 'utf8',
        env: { PATH: bin },
        ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
      },
    );
    assert.deepEqual(
      { status, stdout, stderr },
      {
        status: 1,
        stdout: '',
        stderr: 'Missing Debian packages (apt-get install them as root): gcc tmux\n',
      },
    );
    assert.deepEqual(readdirSync(tree).sort(), ['bin', 'test']);
  } finally {
    rmSync(tree, { recursive: true });
  }
});
