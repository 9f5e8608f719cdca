// After a window reload, or when an extension host was killed: runs come back to the next session.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { listAudit } from '../../../src/audit/reader.js';
import type { Answer } from '../../../src/broker/prompter.js';
import { createPlace, openSession, until } from '../../support/sessionBench.js';
import type { Place, SessionBench } from '../../support/sessionBench.js';
import { settle } from '../../support/fakePrompter.js';

type Test = Parameters<typeof createPlace>[0] & Parameters<typeof openSession>[0];

interface Before {
  readonly place: Place;
  readonly bench: SessionBench;
  readonly run: string;
}

/** A session in which example.com was allowed for a run. */
async function before(t: Test, kind: Exclude<Answer['kind'], 'dismissed'>): Promise<Before> {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  launcher.ask(1, 'example.com');
  (await bench.prompter.next()).answer({ kind });
  await launcher.nextOf('answer');
  return { place, bench, run };
}

/** A launcher of this run says hello again, and asks for example.com. */
async function comeBack(bench: SessionBench, place: Place, run: string): Promise<string> {
  const launcher = bench.connect();
  launcher.hello({ directory: place.workspace, run });
  const first = await launcher.next();
  if (first.kind !== 'welcome') return first.kind;
  launcher.ask(1, 'example.com');
  const answered = launcher.nextOf('answer').then(({ reason }) => reason);
  const { session } = bench;
  const asked = until(session, () => session.snapshot().pending.length > 0).then(() => 'asked');
  return Promise.race([answered, asked]);
}

for (const kind of ['run', 'session', 'always'] as const) {
  test(`a grant for "${kind}" holds for its run after a reload`, async (t) => {
    const { place, bench, run } = await before(t, kind);
    await bench.session.close();
    const next = await openSession(t, place);
    assert.deepEqual(next.session.snapshot().grants, []);
    assert.equal(await comeBack(next, place, run), 'grant');
  });
}

test('"once" does not hold after a reload', async (t) => {
  const { place, bench, run } = await before(t, 'once');
  await bench.session.close();
  assert.equal(await comeBack(await openSession(t, place), place, run), 'asked');
});

test('grants hold after a second reload, and when the window was killed without a word', async (t) => {
  const { place, run } = await before(t, 'session'); // not closed: nothing says goodbye
  const second = await openSession(t, place);
  assert.equal(await comeBack(second, place, run), 'grant');
  const third = await openSession(t, place);
  assert.equal(await comeBack(third, place, run), 'grant');
});

test('a session’s grants come back for its own runs, and for no new ones', async (t) => {
  const { place, bench, run } = await before(t, 'session');
  await bench.session.close();
  const next = await openSession(t, place);
  assert.equal(await comeBack(next, place, run), 'grant');
  const { launcher } = await next.launch();
  launcher.ask(1, 'example.com');
  await next.prompter.next();
});

test('a face that keeps the session’s name across a reload keeps its grants for new runs, too', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, { id: 'window' });
  const { launcher, run } = await bench.launch();
  launcher.ask(1, 'example.com');
  (await bench.prompter.next()).answer({ kind: 'session' });
  await launcher.nextOf('answer');
  await bench.session.close();
  const next = await openSession(t, place, { id: 'window' });
  assert.equal(await comeBack(next, place, run), 'grant');
  const later = await next.launch();
  later.launcher.ask(1, 'example.com');
  assert.equal((await later.launcher.nextOf('answer')).reason, 'grant');
});

test('what was taken back stays so after a reload', async (t) => {
  const { place, bench, run } = await before(t, 'session');
  bench.session.revoke(bench.session.snapshot().grants[0]?.id ?? '');
  await bench.session.close();
  assert.equal(await comeBack(await openSession(t, place), place, run), 'asked');
});

test('what was taken back after a reload is not restored by a run that comes later, nor by a later session', async (t) => {
  const { place, bench, run } = await before(t, 'session');
  const { run: slow } = await bench.launch();
  await bench.session.close();
  const second = await openSession(t, place);
  assert.equal(await comeBack(second, place, run), 'grant');
  second.session.revoke(second.session.snapshot().grants[0]?.id ?? '');
  assert.equal(await comeBack(second, place, slow), 'asked');
  await second.session.close();

  const { place: other, bench: first, run: early } = await before(t, 'session');
  const { run: late } = await first.launch();
  await first.session.close();
  const between = await openSession(t, other);
  assert.equal(await comeBack(between, other, early), 'grant');
  between.session.revoke(between.session.snapshot().grants[0]?.id ?? '');
  await between.session.close();
  assert.equal(await comeBack(await openSession(t, other), other, late), 'asked');
});

test('a run that no record knows is not let in', async (t) => {
  const { place, bench } = await before(t, 'session');
  await bench.session.close();
  assert.equal(await comeBack(await openSession(t, place), place, 'invented'), 'error');
});

test('a run that has ended is not let in again', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  launcher.send({ kind: 'exit', status: { exited: 0 } });
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.exit !== undefined);
  await bench.session.close();
  assert.equal(await comeBack(await openSession(t, place), place, run), 'error');
});

test('another process cannot come back as a run', async (t) => {
  const { place, bench, run } = await before(t, 'session');
  await bench.session.close();
  const next = await openSession(t, place);
  const launcher = next.connect();
  launcher.hello({ directory: place.workspace, run, pid: process.pid + 1 });
  assert.equal((await launcher.nextOf('error')).code, 'unknownRun');
  assert.deepEqual(next.session.snapshot().grants, []);
});

test('a run that is connected cannot be taken over', async (t) => {
  const { place, bench, run } = await before(t, 'session');
  const second = bench.connect();
  second.hello({ directory: place.workspace, run });
  assert.equal((await second.nextOf('error')).code, 'unknownRun');
  assert.equal(bench.session.snapshot().runs[0]?.state, 'running');
});

test('from a record that was changed no grant is restored, and the run goes on', async (t) => {
  const { place, bench, run } = await before(t, 'run');
  await bench.session.close();
  const [file = ''] = listAudit(`${place.state}/audit`);
  const text = fs.readFileSync(file, 'utf8');
  fs.writeFileSync(file, text.replace('"scope":"run"', '"scope":"run" '));
  assert.equal(await comeBack(await openSession(t, place), place, run), 'asked');
});

test('a grant is not invented: one that was added to the record does not hold', async (t) => {
  const { place, bench, run } = await before(t, 'once');
  await bench.session.close();
  const [file = ''] = listAudit(`${place.state}/audit`);
  const grant = {
    id: 'g',
    scope: 'run',
    run,
    session: 's',
    target: { host: 'example.com', port: 443 },
    origin: { run, program: 'curl', command: ['curl'] },
  };
  const line = {
    t: new Date().toISOString(),
    kind: 'grant',
    run,
    grant: { ...grant, privateAddresses: [], written: [], at: 0 },
  };
  fs.appendFileSync(file, `${JSON.stringify({ ...line, hash: '0'.repeat(64) })}\n`);
  assert.equal(await comeBack(await openSession(t, place), place, run), 'asked');
});

test('a run that lost its connection comes back to the same session, with its grants', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  launcher.ask(1, 'example.com');
  (await bench.prompter.next()).answer({ kind: 'run' });
  await launcher.nextOf('answer');
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.exit !== undefined);
  assert.equal(bench.session.snapshot().runs[0]?.exit?.kind, 'lost');
  assert.equal(await comeBack(bench, place, run), 'grant');
  assert.deepEqual(
    bench.session.snapshot().runs.map(({ id, state }) => [id, state]),
    [[run, 'running']],
  );
});

test('a question that was open at the reload is asked again by the next session', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  launcher.ask(1, 'example.com');
  await bench.prompter.next();
  await bench.session.close();
  await launcher.closed;

  const next = await openSession(t, place);
  const again = next.connect();
  again.hello({ directory: place.workspace, run });
  await again.nextOf('welcome');
  again.ask(1, 'example.com');
  (await next.prompter.next()).answer({ kind: 'once' });
  assert.equal((await again.nextOf('answer')).effect, 'allow');
  await settle();
  assert.equal(next.session.snapshot().runs[0]?.state, 'running');
});
