import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createPlace } from '../support/sandbox.js';

test('the exit code of the command is the exit code of cordon', async (t) => {
  const place = createPlace(t);
  for (const code of [0, 1, 2, 42, 125, 126, 127, 255]) {
    const result = await place.cordon([], ['sh', '-c', `exit ${code}`]);
    assert.deepEqual(result, { code, signal: null, stdout: '', stderr: '' });
  }
});

test('a command that a signal ended gives 128 and its number', async (t) => {
  const place = createPlace(t);
  const { SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM } =
    os.constants.signals;
  const realTime = 34;
  const numbers = [SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM];
  for (const number of [...numbers, realTime]) {
    const { code, signal } = await place.cordon(
      [],
      ['sh', '-c', `ulimit -c 0; kill -${number} $$`],
    );
    assert.deepEqual({ code, signal }, { code: 128 + number, signal: null });
  }
});

test('signals keep their meaning: nothing is ignored or blocked that the host does not', async (t) => {
  const place = createPlace(t);
  const look = ['grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status'];
  const [inside, outside] = [await place.cordon([], look), await place.host(look)];
  assert.equal(inside.stdout, outside.stdout);
});

test('a program that does not exist: 127, and one line that names it', async (t) => {
  const place = createPlace(t);
  const result = await place.cordon([], ['no-such-program', 'x']);
  assert.deepEqual({ code: result.code, stdout: result.stdout }, { code: 127, stdout: '' });
  assert.match(result.stderr, /^cordon: [^\n]*no-such-program[^\n]*\n$/);
});

test('a file that may not be executed: 126, and one line that names it', async (t) => {
  const place = createPlace(t);
  const script = path.join(place.workspace, 'script');
  writeFileSync(script, '#!/bin/sh\n');
  chmodSync(script, 0o644);
  const expected = { './script': 126, '/etc': 126, './script/x': 127 };
  for (const [command, code] of Object.entries(expected)) {
    const result = await place.cordon([], [command]);
    assert.deepEqual({ code: result.code, stdout: result.stdout }, { code, stdout: '' }, command);
    assert.match(result.stderr, /^cordon: [^\n]*\n$/);
    assert.ok(result.stderr.includes(command), result.stderr);
  }
});

test('a script whose interpreter is missing, or without one, ends as in a shell', async (t) => {
  const place = createPlace(t);
  writeFileSync(path.join(place.workspace, 'bad'), '#!/no/such/interpreter\n', { mode: 0o755 });
  const result = await place.cordon([], ['./bad']);
  assert.ok(result.code === 126 || result.code === 127, String(result.code));
  assert.match(result.stderr, /^cordon: [^\n]*bad[^\n]*\n$/);
});

test('standard input, output and error are the command’s own', async (t) => {
  const place = createPlace(t);
  const input = 'x'.repeat(300_000);
  const result = await place.cordon([], ['sh', '-c', 'cat; echo error >&2'], { input });
  assert.deepEqual(result, { code: 0, signal: null, stdout: input, stderr: 'error\n' });
});

test('the command keeps its arguments, whatever is in them', async (t) => {
  const place = createPlace(t);
  const words = [
    '',
    ' ',
    'a b',
    "it's",
    '"',
    '\\',
    '\\\n',
    '$(id)',
    '*',
    '--',
    '-x',
    '--root',
    'ä€𝄞',
    '\u{1f600}',
    '\t',
  ];
  const result = await place.cordon([], ['printf', '%s\\0', ...words]);
  assert.deepEqual(result.stdout.split('\0').slice(0, -1), words);
});

test('the working directory is kept, below the root too', async (t) => {
  const place = createPlace(t);
  const { stdout } = await place.cordon(['--root', place.workspace], ['sh', '-c', 'pwd; ls'], {
    cwd: place.outside,
  });
  assert.equal(stdout, `${place.outside}\nfile\n`);
});
