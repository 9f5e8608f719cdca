// `cordon request` as a program inside runs it: from the command line to the person and back.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { createRealPlace, dist, openRealSession, openShell } from '../../support/realSession.js';

const cordon = `${process.execPath} ${path.join(dist, 'cli.js')}`;

test('what is allowed beforehand is open when the command returns, and the reason was shown', async (t) => {
  const place = createRealPlace(t);
  const elsewhere = path.join(place.folder, 'elsewhere');
  fs.mkdirSync(elsewhere);
  const { prompter } = await openRealSession(t, place);
  const shell = openShell(t, place);
  const done = shell.run(
    `${cordon} request --write ${elsewhere} --because 'the report goes there'`,
  );
  const { question, answer } = await prompter.next();
  assert.deepEqual(
    [question.request.because, question.offers],
    ['the report goes there', ['run', 'session']],
  );
  answer({ kind: 'run' });
  assert.deepEqual(await done, { code: 0, output: '' });
  assert.equal((await shell.run(`echo hi > ${elsewhere}/report`)).code, 0);
  assert.equal(fs.readFileSync(path.join(elsewhere, 'report'), 'utf8'), 'hi\n');
  assert.equal(prompter.asked.length, 1);
});

test('what is refused is said and gives 1; the rest is allowed all the same', async (t) => {
  const place = createRealPlace(t);
  const names = ['one', 'two'].map((name) => path.join(place.folder, name));
  for (const name of names) fs.mkdirSync(name);
  const { prompter } = await openRealSession(t, place);
  const shell = openShell(t, place);
  const flags = names.map((name) => `--write ${name}`).join(' ');
  const done = shell.run(`${cordon} request ${flags} --because 'both'`);
  for (let times = 0; times < 2; times += 1) {
    const { question, answer } = await prompter.next();
    answer({ kind: question.wish.endsWith('/one') ? 'run' : 'deny' });
  }
  const { code, output } = await done;
  assert.equal(code, 1);
  assert.match(output, /cordon: --write .*\/two: not allowed \(you denied it\)/u);
  assert.equal((await shell.run(`touch ${names[0] ?? ''}/x`)).code, 0);
});

test('outside of a run there is nobody to ask, and wrong use is said as such', async (t) => {
  const place = createRealPlace(t);
  await openRealSession(t, place);
  const shell = openShell(t, place);
  const wrong = await shell.run(`${cordon} request --because 'nothing'`);
  assert.deepEqual([wrong.code, wrong.output.includes('nothing is asked for')], [125, true]);
  const outside = spawnSync(
    process.execPath,
    [path.join(dist, 'cli.js'), 'request', '--write', '/x', '--because', 'x'],
    { encoding: 'utf8' },
  );
  assert.equal(outside.status, 125);
  assert.match(outside.stderr, /^cordon: This is not a sandboxed run/u);
});
