// What a session opens, shares and takes back, as its launchers and its face see it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { listAudit, readAudit } from '../../../src/audit/reader.js';
import type { SessionNotice } from '../../../src/session/session.js';
import { createPlace, openSession, until } from '../../support/sessionBench.js';
import type { Place } from '../../support/sessionBench.js';
import { at, publish, write } from '../../support/wanted.js';

const elsewhere = { access: 'write', path: at('/home/ada/elsewhere') } as const;

function kindsOf(place: Place): readonly string[] {
  return listAudit(path.join(place.state, 'audit')).flatMap((file) =>
    readAudit(file).lines.map(({ kind }) => kind),
  );
}

test('an answer for the session opens the folder in both of its runs, and in one that begins later', async (t) => {
  const bench = await openSession(t, createPlace(t));
  const [one, two] = [await bench.launch(), await bench.launch()];
  one.launcher.want(1, write());
  (await bench.prompter.next()).answer({ kind: 'session' });
  assert.deepEqual((await one.launcher.nextOf('answer')).opens, [elsewhere]);
  assert.deepEqual((await two.launcher.nextOf('grant')).opens, [elsewhere]);
  const three = await bench.launch();
  three.launcher.want(1, write({ path: at('/home/ada/elsewhere/y') }));
  const { reason, opens } = await three.launcher.nextOf('answer');
  assert.deepEqual([reason, opens], ['grant', [elsewhere]]);
  assert.equal(bench.session.snapshot().pending.length, 0);
});

test('taking it back is recorded before any run hears of it, and who still uses it is told', async (t) => {
  const place = createPlace(t);
  const notices: SessionNotice[] = [];
  const bench = await openSession(t, place, { notices: (notice) => notices.push(notice) });
  const { launcher, run } = await bench.launch();
  launcher.want(1, write());
  (await bench.prompter.next()).answer({ kind: 'session' });
  await launcher.nextOf('answer');
  bench.session.revoke(bench.session.snapshot().grants[0]?.id ?? '');
  const frame = await launcher.nextOf('revoke');
  assert.deepEqual(frame, { kind: 'revoke', connections: [], opens: [elsewhere], ports: [] });
  assert.equal(kindsOf(place).at(-1), 'revoke');

  launcher.send({ kind: 'revoked', opens: [{ ...elsewhere, busy: true }] });
  const { text } = await launcher.nextOf('notice');
  assert.match(
    text,
    /taken back: to write to \/home\/ada\/elsewhere; programs that still have it/u,
  );
  assert.deepEqual(notices, [{ kind: 'revoked', run, opens: [{ ...elsewhere, busy: true }] }]);
  assert.equal(kindsOf(place).at(-1), 'revoked');
});

test('what was allowed but could not be opened is said, and recorded', async (t) => {
  const place = createPlace(t);
  const notices: SessionNotice[] = [];
  const bench = await openSession(t, place, { notices: (notice) => notices.push(notice) });
  const { launcher, run } = await bench.launch();
  launcher.send({ kind: 'opened', opens: [{ ...elsewhere, error: 'No such file or directory' }] });
  assert.match(
    (await launcher.nextOf('notice')).text,
    /allowed, but not possible: to write to \/home\/ada\/elsewhere \(No such file or directory\)/u,
  );
  assert.deepEqual(notices, [
    { kind: 'openFailed', run, ...elsewhere, error: 'No such file or directory' },
  ]);
  assert.equal(kindsOf(place).at(-1), 'opened');
});

test('a published port is in the snapshot until it is closed, whoever closes it', async (t) => {
  const notices: SessionNotice[] = [];
  const bench = await openSession(t, createPlace(t), { notices: (notice) => notices.push(notice) });
  const { launcher, run } = await bench.launch();
  launcher.want(1, publish);
  (await bench.prompter.next()).answer({ kind: 'once' });
  assert.equal((await launcher.nextOf('answer')).effect, 'allow');
  launcher.send({ kind: 'published', port: 5173, hostPort: 5174, address: '127.0.0.1' });
  const shared = { run, port: 5173, hostPort: 5174, address: '127.0.0.1' };
  await until(bench.session, () => bench.session.snapshot().ports.length === 1);
  assert.deepEqual(bench.session.snapshot().ports, [shared]);

  assert.equal(bench.session.stopSharing(run, 1), false);
  assert.equal(bench.session.stopSharing(run, 5173), true);
  assert.deepEqual((await launcher.nextOf('revoke')).ports, [5173]);
  launcher.send({ kind: 'unpublished', port: 5173, reason: 'revoked' });
  await until(bench.session, () => bench.session.snapshot().ports.length === 0);
  assert.equal(bench.session.stopSharing(run, 5173), false);
  assert.deepEqual(notices, [
    { kind: 'published', ...shared },
    { kind: 'unpublished', run, port: 5173, hostPort: 5174, reason: 'revoked' },
  ]);
});

test('the ports of a run that has ended are shared no more', async (t) => {
  const bench = await openSession(t, createPlace(t));
  const { launcher } = await bench.launch();
  launcher.send({ kind: 'published', port: 5173, hostPort: 5173, address: '127.0.0.1' });
  await until(bench.session, () => bench.session.snapshot().ports.length === 1);
  launcher.send({ kind: 'exit', status: { exited: 0 } });
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.exit !== undefined);
  assert.deepEqual(bench.session.snapshot().ports, []);
});

test('a run that comes back is told what stays open: what the record knows, and nothing that was taken back', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  const other = { access: 'write', path: at('/srv/other') } as const;
  for (const [id, folder] of [elsewhere.path, other.path].entries()) {
    launcher.want(id + 1, write({ path: at(`${folder}/x`), folder }));
    (await bench.prompter.next()).answer({ kind: 'run' });
    await launcher.nextOf('answer');
  }
  // The window is gone, and one of them is taken back before the run finds the next.
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.exit !== undefined);
  await bench.session.close();

  const second = await openSession(t, place);
  const again = second.connect();
  again.hello({ directory: place.workspace, run });
  assert.deepEqual((await again.nextOf('welcome')).opens, [elsewhere, other]);
  const taken = second.session
    .snapshot()
    .grants.find(({ target }) => 'path' in target && target.path === other.path);
  second.session.revoke(taken?.id ?? '');
  await again.nextOf('revoke');
  again.close();
  await until(second.session, () => second.session.snapshot().runs[0]?.exit !== undefined);
  await second.session.close();

  const third = await openSession(t, place);
  const last = third.connect();
  last.hello({ directory: place.workspace, run });
  assert.deepEqual((await last.nextOf('welcome')).opens, [elsewhere]);
});

test('a run whose record was damaged is told that nothing stays open', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  launcher.want(1, write());
  (await bench.prompter.next()).answer({ kind: 'run' });
  await launcher.nextOf('answer');
  await bench.session.close();
  const [file = ''] = listAudit(path.join(place.state, 'audit'));
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"scope":"run"', '"scope":"run" '));
  const next = await openSession(t, place);
  const again = next.connect();
  again.hello({ directory: place.workspace, run });
  assert.deepEqual((await again.nextOf('welcome')).opens, []);
});
