import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { textToBytes } from '../../../src/base/bytes.js';
import { gatherFacts } from '../../../src/launch/facts.js';
import { claimLayer } from '../../../src/launch/layers.js';
import type { AbsolutePath } from '../../../src/policy/paths.js';
import { createTempTree } from '../../support/tempTree.js';

const host = { overlay: true, hold: true, holdReads: true };

test('what is at a path is told with its real path, links and absence included', (t) => {
  const root = createTempTree(t);
  const at = (name: string): AbsolutePath => path.join(root, name) as AbsolutePath;
  fs.mkdirSync(at('folder'));
  fs.writeFileSync(at('file'), '');
  fs.symlinkSync('folder', at('link'));
  fs.symlinkSync('nowhere', at('dangling'));
  fs.symlinkSync('loop', at('loop'));
  fs.writeFileSync(at('folder/inner'), '');
  const asked = [
    'folder',
    'file',
    'link',
    'dangling',
    'loop',
    'link/inner',
    'gone',
    'file/below',
    'link/deep/er',
  ];
  const { paths } = gatherFacts({ paths: asked.map(at), folders: [] }, host);
  assert.deepEqual(Object.fromEntries(asked.map((name) => [name, paths.get(at(name))])), {
    folder: { kind: 'directory', real: at('folder') },
    file: { kind: 'file', real: at('file') },
    link: {
      kind: 'symlink',
      place: at('link'),
      target: { kind: 'directory', real: at('folder') },
    },
    dangling: { kind: 'symlink', place: at('dangling') },
    loop: { kind: 'symlink', place: at('loop') },
    'link/inner': { kind: 'file', real: at('folder/inner') },
    gone: { kind: 'absent', place: at('gone') },
    'file/below': { kind: 'absent', place: at('file/below') },
    'link/deep/er': { kind: 'absent', place: at('folder/deep/er') },
  });
});

test('what is in a folder is told, one that cannot be listed is empty', (t) => {
  const root = createTempTree(t);
  const at = (name: string): AbsolutePath => path.join(root, name) as AbsolutePath;
  fs.mkdirSync(at('folder/inner'), { recursive: true });
  fs.writeFileSync(textToBytes(at('folder/a\udcff')), '');
  const facts = gatherFacts({ paths: [], folders: [at('folder'), at('gone')] }, host);
  assert.deepEqual(
    [...facts.entries].map(([folder, names]) => [folder, [...names].sort()]),
    [
      [at('folder'), [at('folder/a\udcff'), at('folder/inner')]],
      [at('gone'), []],
    ],
  );
  assert.equal(facts.paths.get(at('folder/inner'))?.kind, 'directory');
});

test('names are bytes: one that is not UTF-8 is found', (t) => {
  const root = createTempTree(t);
  const strange = path.join(root, 'a b\n\udcff') as AbsolutePath;
  fs.mkdirSync(textToBytes(strange));
  const { paths } = gatherFacts({ paths: [strange], folders: [] }, host);
  assert.deepEqual(paths.get(strange), { kind: 'directory', real: strange });
});

test('a .git file or link is followed to its directory and the common one', (t) => {
  const root = createTempTree(t);
  const at = (name: string): AbsolutePath => path.join(root, name) as AbsolutePath;
  fs.mkdirSync(at('main/.git/worktrees/side'), { recursive: true });
  fs.writeFileSync(at('main/.git/worktrees/side/commondir'), '../..\n');
  fs.mkdirSync(at('side'));
  fs.writeFileSync(at('side/.git'), 'gitdir: ../main/.git/worktrees/side\n');
  fs.mkdirSync(at('broken'));
  fs.writeFileSync(at('broken/.git'), 'gitdir: /nowhere\n');
  fs.mkdirSync(at('linked'));
  fs.symlinkSync('../main/.git', at('linked/.git'));
  const asked = ['side/.git', 'main/.git', 'broken/.git', 'linked/.git'];
  const { gitDirectories } = gatherFacts({ paths: asked.map(at), folders: [] }, host);
  assert.deepEqual(
    [...gitDirectories],
    [
      [at('side/.git'), [at('main/.git/worktrees/side'), at('main/.git')]],
      [at('linked/.git'), [at('main/.git')]],
    ],
  );
});

test('two runs at once have a layer each; one that has ended leaves its own to the next', (t) => {
  const state = createTempTree(t);
  const alive = process.pid;
  const first = claimLayer(state, '/ws', alive);
  const second = claimLayer(state, '/ws', process.ppid);
  assert.notEqual(first, second);
  assert.notEqual(path.dirname(claimLayer(state, '/other', alive)), path.dirname(first));
  const gone = 2 ** 22 + 1; // beyond pid_max: no such process
  fs.writeFileSync(`${first}.lock`, `${gone} 1`);
  assert.equal(claimLayer(state, '/ws', alive), first);
  fs.writeFileSync(`${second}.lock`, `${process.ppid} 1`); // the pid was given out again
  assert.equal(claimLayer(state, '/ws', alive), second);
});
