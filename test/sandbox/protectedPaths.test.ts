import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside } from '../support/breaches.js';
import { changes, createPlace, snapshot } from '../support/sandbox.js';
import type { Attempt } from '../support/breaches.js';
import type { Place } from '../support/sandbox.js';

/** What runs later outside, or decides what runs: every one a file that exists before the run. */
const PROTECTED_FILES = [
  '.git/config',
  '.git/hooks/pre-commit',
  '.git/info/attributes',
  '.codex/config.toml',
  '.agents/skill.md',
  '.vscode/tasks.json',
  '.idea/workspace.xml',
  '.devcontainer/devcontainer.json',
  '.claude/settings.json',
  '.cursor/mcp.json',
  '.husky/pre-push',
  '.envrc',
  '.pre-commit-config.yaml',
  '.github/workflows/ci.yml',
  '.github/hooks/hook.json',
  '.mcp.json',
  '.cordon.json',
];

function createProtected(place: Place): void {
  for (const name of PROTECTED_FILES) {
    const file = path.join(place.workspace, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name === '.cordon.json' ? '{}\n' : 'original\n');
  }
}

test('protected paths that exist do not change without an answer, by any call', async (t) => {
  const place = createPlace(t);
  createProtected(place);
  const at = (name: string): string => path.join(place.workspace, name);
  const attempts = PROTECTED_FILES.flatMap((name): readonly Attempt[] => [
    ['append', at(name)],
    ['truncate', at(name)],
    ['unlink', at(name)],
    ['chmod', at(name)],
    ['rename', at(name), at('moved')],
    ['exchange', at('spare'), at(name)],
    ['rename', at('spare'), at(name)],
    ['read', at(name)],
  ]);
  writeFileSync(at('spare'), 'spare\n');
  const before = snapshot(place.workspace);
  const outcomes = await attemptInside(place, [], attempts);
  assert.deepEqual(changes(place.workspace, before), []);
  const open = Object.entries(outcomes).filter(([, outcome]) => outcome === 'done');
  assert.deepEqual(
    open.map(([words]) => words),
    PROTECTED_FILES.map((name) => `read ${at(name)}`),
    'reading works, nothing else does',
  );
});

test('a protected folder cannot be moved, removed, or reached by moving a folder above it', async (t) => {
  const place = createPlace(t);
  createProtected(place);
  const at = (name: string): string => path.join(place.workspace, name);
  const folders = ['.git', '.vscode', '.github/workflows', '.github', '.husky'];
  const attempts = folders.flatMap((name): readonly Attempt[] => [
    ['rename', at(name), at('moved')],
    ['exchange', at('spare'), at(name)],
    ['rmdir', at(name)],
  ]);
  mkdirSync(at('spare'));
  const before = snapshot(place.workspace);
  const outcomes = await attemptInside(place, [], attempts);
  assert.deepEqual(changes(place.workspace, before), []);
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
});

test('a repository below the workspace is protected when it is a writable root of its own', async (t) => {
  const place = createPlace(t);
  const nested = path.join(place.workspace, 'vendor/library');
  mkdirSync(nested, { recursive: true });
  await place.host(['git', 'init', '-q', nested]);
  const at = (name: string): string => path.join(nested, name);
  writeFileSync(at('.git/hooks/pre-commit'), '#!/bin/sh\n');
  const attempts: readonly Attempt[] = [
    ['append', at('.git/config')],
    ['append', at('.git/hooks/pre-commit')],
    ['write', at('.git/hooks/post-checkout')],
    ['rename', at('.git'), at('.git2')],
    ['rename', nested, `${nested}2`],
    ['rename', path.dirname(nested), path.join(place.workspace, 'vendor2')],
    ['write', at('source.c')],
  ];
  const before = snapshot(path.join(nested, '.git'));
  const outcomes = await attemptInside(place, ['--write', nested], attempts);
  assert.deepEqual(changes(path.join(nested, '.git'), before), []);
  assert.deepEqual(
    Object.entries(outcomes)
      .filter(([, outcome]) => outcome === 'done')
      .map(([words]) => words),
    [`write ${at('source.c')}`],
  );
});

test('repositories and protected names further down are protected, whether or not they exist yet', async (t) => {
  const place = createPlace(t);
  const nested = path.join(place.workspace, 'a/library');
  mkdirSync(nested, { recursive: true });
  await place.host(['git', 'init', '-q', nested]);
  const at = (name: string): string => path.join(place.workspace, name);
  writeFileSync(at('spare'), 'spare\n');
  mkdirSync(at('folder'));
  const attempts: readonly Attempt[] = [
    ['append', at('a/library/.git/config')],
    ['write', at('a/library/.git/hooks/post-checkout')],
    ['write', at('a/library/.envrc')],
    ['mkdir', at('a/library/.vscode')],
    ['mkdir', at('a/.git')],
    ['mkdir', at('.vscode')],
    ['mkdir', at('.codex')],
    ['write', at('.mcp.json')],
    ['rename', at('spare'), at('.envrc')],
    ['link', at('spare'), at('.envrc')],
    ['symlink', 'folder', at('.husky')],
    ['rename', at('folder'), at('.agents')],
  ];
  const before = snapshot(place.workspace);
  const outcomes = await attemptInside(place, [], attempts);
  assert.deepEqual(changes(place.workspace, before), []);
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
  const { stdout } = await place.face(['plan']);
  assert.doesNotMatch(stdout, /at any depth|before they exist|by something else/);
});

test('what a package brings along is no protected name', async (t) => {
  const place = createPlace(t);
  const script = 'mkdir -p node_modules/a/.vscode && echo x > node_modules/a/.vscode/settings.json';
  const { code, stderr } = await place.cordon([], ['sh', '-c', script]);
  assert.equal(code, 0, stderr);
  assert.ok(existsSync(path.join(place.workspace, 'node_modules/a/.vscode/settings.json')));
});

test('a root inside another cannot be moved away from its protected names', async (t) => {
  const place = createPlace(t);
  const inner = path.join(place.workspace, 'sub/inner');
  mkdirSync(path.join(inner, '.vscode'), { recursive: true });
  const at = (name: string): string => path.join(place.workspace, name);
  const attempts: readonly Attempt[] = [
    ['rename', inner, at('sub/moved')],
    ['rename', at('sub'), at('moved')],
    ['exchange', at('sub'), at('spare')],
    ['write', path.join(inner, '.vscode/tasks.json')],
    ['write', path.join(inner, 'file')],
  ];
  mkdirSync(at('spare'));
  const outcomes = await attemptInside(place, ['--write', inner], attempts);
  assert.deepEqual(
    Object.entries(outcomes)
      .filter(([, outcome]) => outcome === 'done')
      .map(([words]) => words),
    [`write ${inner}/file`],
  );
  assert.deepEqual(readdirSync(inner).sort(), ['.vscode', 'file']);
});

test('a protected path of the user’s own is protected like the built-in ones', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ filesystem: { protectedPaths: ['deploy'] } }),
  );
  mkdirSync(path.join(place.workspace, 'deploy'));
  const { code } = await place.cordon([], ['sh', '-c', 'echo x > deploy/script']);
  assert.notEqual(code, 0);
  assert.equal(existsSync(path.join(place.workspace, 'deploy/script')), false);
});

test('git reads its repository inside, and cannot write to it when nobody is there to ask', async (t) => {
  const place = createPlace(t);
  writeFileSync(path.join(place.workspace, 'a'), 'a\n');
  const result = await place.cordon(
    [],
    ['sh', '-c', 'git status --short; git log --oneline | wc -l; git add a'],
  );
  assert.equal(result.stdout, '?? a\n1\n');
  assert.notEqual(result.code, 0);
  assert.match(result.stderr, /index\.lock.*Permission denied/);
  const { stdout } = await place.host(['git', 'status', '--short']);
  assert.equal(stdout, '?? a\n');
});

test('protection does not depend on who may read: a folder without permissions stays as it is', async (t) => {
  const place = createPlace(t);
  const hooks = path.join(place.workspace, '.git/hooks');
  mkdirSync(hooks, { recursive: true });
  chmodSync(hooks, 0o500);
  try {
    await place.cordon([], ['sh', '-c', 'chmod 700 .git/hooks; echo x > .git/hooks/pre-commit']);
    assert.equal(existsSync(path.join(hooks, 'pre-commit')), false);
  } finally {
    chmodSync(hooks, 0o700);
  }
});

test('no phantom files: names that do not exist appear neither inside nor on the host, during and after a run', async (t) => {
  const place = createPlace(t);
  const before = snapshot(place.folder);
  const running = place.start(
    [],
    ['sh', '-c', 'git status --porcelain --ignored; ls -A; echo ready; sleep 30'],
  );
  await running.said('ready');
  const during = await place.host(['git', 'status', '--porcelain', '--ignored']);
  assert.equal(during.stdout, '', 'on the host while it runs');
  assert.deepEqual(changes(place.folder, before), []);
  running.child.kill('SIGTERM');
  const { stdout } = await running.finished;
  assert.equal(
    stdout,
    '.git\nready\n',
    'inside: git sees nothing, and the folder holds .git alone',
  );
  assert.deepEqual(changes(place.folder, before), []);
});

test('no phantom files in a folder that is no repository, and none when the workspace is empty', async (t) => {
  const place = createPlace(t);
  const plain = path.join(place.home, 'plain');
  mkdirSync(plain);
  const result = await place.cordon([], ['ls', '-A'], { cwd: plain });
  assert.deepEqual({ ...result, stderr: '' }, { code: 0, signal: null, stdout: '', stderr: '' });
  assert.deepEqual(snapshot(plain), ['./ 755']);
});

test('what is written to the workspace is what the host sees', async (t) => {
  const place = createPlace(t);
  await place.cordon(
    [],
    ['sh', '-c', 'mkdir -p src && printf hello > src/a && git status --short'],
  );
  assert.equal(readFileSync(path.join(place.workspace, 'src/a'), 'utf8'), 'hello');
});
