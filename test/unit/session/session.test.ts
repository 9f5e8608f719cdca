import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { readAudit, listAudit } from '../../../src/audit/reader.js';
import type { AuditLine } from '../../../src/audit/schema.js';
import type { AbsolutePath } from '../../../src/policy/paths.js';
import { createFakeClock } from '../../support/fakeClock.js';
import { createPlace, openSession, support, until } from '../../support/sessionBench.js';
import type { Place } from '../../support/sessionBench.js';
import { settle } from '../../support/fakePrompter.js';

/** Everything that was recorded in this place. */
function recordOf(place: Place): readonly AuditLine[] {
  return listAudit(path.join(place.state, 'audit')).flatMap((file) => {
    const { lines, problems } = readAudit(file);
    assert.deepEqual(problems, []);
    return lines;
  });
}

test('a launcher gets the plan of its policy, and the run is recorded from start to end', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const launcher = bench.connect();
  launcher.hello({ directory: place.workspace, arguments: ['make', '--token=x'] });
  const plan = await launcher.nextOf('plan');
  assert.deepEqual(
    [plan.directory, plan.brokerLoss, plan.network.mode],
    [place.workspace, 'wait', 'ask'],
  );
  assert.ok(plan.mounts.some((mount) => mount.op === 'writable' && mount.path === place.workspace));
  launcher.send({
    kind: 'ready',
    run: plan.run,
    init: 2,
    gaps: [{ promise: 'p', reason: 'late' }],
  });
  await until(bench.session, () => bench.session.snapshot().runs[0]?.state === 'running');
  assert.ok(bench.session.snapshot().gaps.some(({ reason }) => reason === 'late'));
  launcher.send({ kind: 'exit', status: { exited: 3 } });
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.state === 'exited');

  const record = recordOf(place);
  assert.deepEqual([...new Set(record.map(({ kind }) => kind))], ['session', 'run', 'gap', 'exit']);
  assert.deepEqual(record, bench.lines);
  const [run, exit] = [record.find(({ kind }) => kind === 'run'), record.at(-1)];
  assert.deepEqual(run?.kind === 'run' ? run.command : [], ['make', '--token=***']);
  assert.deepEqual(exit?.kind === 'exit' ? [exit.outcome, exit.exitCode] : [], ['exited', 3]);
});

test('with settings that are not valid every launcher is refused with the reason', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, { settings: { network: { mod: 'ask' } } });
  const launcher = bench.connect();
  launcher.hello({ directory: place.workspace });
  const { code, message } = await launcher.nextOf('error');
  assert.equal(code, 'settingsInvalid');
  assert.match(message, /settings\.json.*network\.mod/su);
  const { posture, problem } = bench.session.snapshot();
  assert.deepEqual([posture, problem], ['not enforcing', message]);
  assert.ok(!recordOf(place).some(({ kind }) => kind === 'run'));
});

test('a working directory that is not there is refused in words', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const launcher = bench.connect();
  launcher.hello({ directory: path.join(place.workspace, 'gone') as AbsolutePath });
  const { message } = await launcher.nextOf('error');
  assert.match(message, /gone does not exist/u);
  assert.equal((await launcher.closed).kind, 'ended');
});

test('a host that cannot enforce the boundary runs nothing', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, {
    probe: () => ({ ...support, problem: 'no user namespaces' }),
  });
  assert.equal(bench.session.snapshot().posture, 'not enforcing');
  const launcher = bench.connect();
  launcher.hello({ directory: place.workspace });
  assert.match((await launcher.nextOf('error')).message, /no user namespaces/u);
});

test('a build without a launcher runs nothing and says what to do', async (t) => {
  const place = createPlace(t);
  fs.rmSync(place.dist, { recursive: true });
  const bench = await openSession(t, place);
  assert.equal(bench.session.launcher, undefined);
  assert.match(bench.session.snapshot().problem ?? '', /npm run build:native/u);
  const exit = await bench.session.start(['true']).exited;
  assert.deepEqual([exit.kind, exit.exitCode], ['failed', 125]);
});

test('a question is answered, and the answer stands in the record before it is sent', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.com');
  assert.match(
    (await launcher.nextOf('notice')).text,
    /waiting for an answer: curl .*example\.com:443 \(answer here\)/u,
  );
  (await bench.prompter.next()).answer({ kind: 'session' });
  const answer = await launcher.nextOf('answer');
  const record = recordOf(place).map(({ kind }) => kind);
  assert.deepEqual(answer, {
    kind: 'answer',
    id: 1,
    effect: 'allow',
    reason: 'user',
    addresses: ['192.0.2.1'],
    opens: [],
    message: null,
  });
  assert.deepEqual(record.slice(-3), ['request', 'grant', 'answer']);
});

test('a question can be answered through the session, once', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.com');
  const { question } = await bench.prompter.next();
  assert.deepEqual(
    bench.session.snapshot().pending.map(({ id }) => id),
    [question.id],
  );
  assert.equal(bench.session.answer(question.id, { kind: 'deny' }), true);
  assert.equal(bench.session.answer(question.id, { kind: 'once' }), false);
  const { effect, message } = await launcher.nextOf('answer');
  assert.deepEqual(
    [effect, message],
    ['deny', 'cordon: denied: curl to example.com:443 (you denied it)'],
  );
});

test('a name that leads to this machine is asked about twice, and always is written with its address', async (t) => {
  const place = createPlace(t);
  const written: string[] = [];
  const bench = await openSession(t, place, {
    resolve: () => Promise.resolve(['::ffff:127.0.0.1']),
    onAlways: ({ effect, entry }) => {
      written.push(`${effect} ${entry}`);
      return Promise.resolve();
    },
  });
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.test');
  (await bench.prompter.next()).answer({ kind: 'always' });
  const { question, answer } = await bench.prompter.next();
  assert.deepEqual(question.places, ['127.0.0.1 (this machine)']);
  answer({ kind: 'always' });
  assert.deepEqual((await launcher.nextOf('answer')).addresses, ['127.0.0.1']);
  assert.deepEqual([...new Set(written)], ['allow example.test:443', 'allow 127.0.0.1:443']);

  // The next window, with what was written: no question is left.
  const allow = ['example.test:443', '127.0.0.1:443'];
  const next = await openSession(t, place, {
    settings: { network: { mode: 'ask', allow } },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  const later = await next.launch();
  later.launcher.ask(1, 'example.test');
  assert.deepEqual((await later.launcher.nextOf('answer')).addresses, ['127.0.0.1']);
});

test('the addresses of an allowed name are checked as they are handed out, though it resolves anew', async (t) => {
  const place = createPlace(t);
  const clock = createFakeClock();
  const answers = [['192.0.2.1'], ['169.254.169.254']];
  const bench = await openSession(t, place, {
    clock,
    settings: { network: { mode: 'ask', allow: ['example.com'] } },
    resolve: () => Promise.resolve(answers.shift() ?? []),
  });
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.com');
  assert.deepEqual((await launcher.nextOf('answer')).addresses, ['192.0.2.1']);
  clock.advance(10_000);
  launcher.ask(2, 'example.com');
  const { question, answer } = await bench.prompter.next();
  assert.deepEqual(question.places, ['169.254.169.254 (a cloud metadata service)']);
  answer({ kind: 'deny' });
  assert.equal((await launcher.nextOf('answer')).effect, 'deny');
});

test('a look-up and the connect after it ask the host’s resolver once', async (t) => {
  const place = createPlace(t);
  let lookups = 0;
  const bench = await openSession(t, place, {
    settings: { network: { mode: 'ask', allow: ['example.com'] } },
    resolve: () => {
      lookups += 1;
      return Promise.resolve(['192.0.2.1']);
    },
  });
  const { launcher } = await bench.launch();
  for (let id = 1; id <= 20; id += 1) launcher.ask(id, 'example.com');
  for (let id = 1; id <= 20; id += 1) await launcher.nextOf('answer');
  assert.equal(lookups, 1);
});

test('taking a grant back tells the launcher to close its connections', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.com');
  (await bench.prompter.next()).answer({ kind: 'run' });
  await launcher.nextOf('answer');
  bench.session.revoke(bench.session.snapshot().grants[0]?.id ?? '');
  assert.deepEqual(await launcher.nextOf('revoke'), {
    kind: 'revoke',
    connections: [{ host: 'example.com', port: 443 }],
    opens: [],
    ports: [],
  });
});

test('a run can be stopped by its id', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher, run } = await bench.launch();
  assert.equal(bench.session.stop(run), true);
  assert.deepEqual(await launcher.nextOf('stop'), { kind: 'stop', reason: 'user' });
  launcher.send({ kind: 'exit', status: { signalled: 15 } });
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.exit !== undefined);
  assert.deepEqual(bench.session.snapshot().runs[0]?.exit, {
    kind: 'stopped',
    reason: 'user',
    exitCode: 143,
  });
  assert.equal(bench.session.stop(run), false);
});

test('a refusal that the plan made is recorded with its rule in words', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, {
    settings: { network: { mode: 'on', deny: ['example.com'] } },
  });
  const { launcher } = await bench.launch();
  const subject = { pid: 1, executable: '/usr/bin/curl', arguments: [], directory: '/', chain: [] };
  const object = { host: 'example.com', port: 443 };
  launcher.send({ kind: 'denial', subject, action: 'connect', object, reason: 'rule', rule: null });
  launcher.send({ kind: 'exit', status: { exited: 0 } });
  launcher.close();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.exit !== undefined);
  const denial = recordOf(place).find(({ kind }) => kind === 'denial');
  assert.deepEqual(denial?.kind === 'denial' ? [denial.object, denial.rule] : [], [
    object,
    'network mode on: network.mode in user settings (/home/ada/settings.json)',
  ]);
});

const breaches: readonly (readonly [name: string, bytes: Buffer])[] = [
  ['garbage', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['a frame that is too long', Buffer.from([0, 0, 0, 1])],
  ['an ask before its hello', frame('{"kind":"withdraw","id":1}')],
  ['a hello of another protocol', frame('{"kind":"hello","protocol":2}')],
];

for (const [name, bytes] of breaches) {
  test(`a peer that begins with ${name} is refused, and the session goes on`, async (t) => {
    const place = createPlace(t);
    const bench = await openSession(t, place);
    const peer = bench.connect();
    peer.write(bytes);
    assert.equal((await peer.nextOf('error')).code, 'protocol');
    await peer.closed;
    await bench.launch();
    assert.equal(bench.session.snapshot().runs.length, 1);
  });
}

test('a peer that says nothing is not kept', async (t) => {
  const place = createPlace(t);
  const clock = createFakeClock();
  const bench = await openSession(t, place, { clock });
  const peer = bench.connect();
  while (clock.pending === 0) await settle();
  clock.advance(10_000);
  await peer.closed;
});

const endings: readonly (readonly [name: string, bytes: Buffer | undefined])[] = [
  ['closes the connection', undefined],
  ['sends garbage', Buffer.from('garbage, and more of it')],
  ['stops inside a frame', Buffer.from([100, 0, 0, 0, 123])],
  [
    'says hello again',
    frame(
      '{"kind":"hello","protocol":1,"pid":1,"directory":"/","arguments":[],"terminal":false,"run":null}',
    ),
  ],
  [
    'asks the same again',
    frame(
      JSON.stringify({
        kind: 'ask',
        id: 1,
        subject: { pid: 1, executable: '', arguments: [], directory: '', chain: [] },
        because: null,
        action: 'lookup',
        object: { host: 'a' },
        rule: null,
        want: 'decision',
      }),
    ),
  ],
];

for (const [name, bytes] of endings) {
  test(`when a launcher ${name} in the middle of a question, the question is withdrawn`, async (t) => {
    const place = createPlace(t);
    const bench = await openSession(t, place);
    const { launcher } = await bench.launch();
    const other = await bench.launch();
    launcher.ask(1, 'example.com');
    other.launcher.ask(1, 'example.com');
    const asked = [await bench.prompter.next(), await bench.prompter.next()];
    const ours = asked.find(({ question }) => question.request.run !== other.run);
    if (bytes !== undefined) launcher.write(bytes);
    if (bytes === undefined || name.startsWith('stops')) launcher.close();
    await until(bench.session, () => bench.session.snapshot().pending.length === 1);
    assert.equal(ours?.signal.aborted, true);
    const answers = recordOf(place).flatMap((line) =>
      line.kind === 'answer' ? [line.reason] : [],
    );
    assert.deepEqual(answers, ['withdrawn']);
    const [pending] = bench.session.snapshot().pending;
    assert.equal(pending?.request.run, other.run);
  });
}

test('a withdrawn question is not answered any more', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.com');
  const { signal } = await bench.prompter.next();
  launcher.send({ kind: 'withdraw', id: 1 });
  await until(bench.session, () => bench.session.snapshot().pending.length === 0);
  assert.equal(signal.aborted, true);
  launcher.ask(2, 'example.com');
  (await bench.prompter.next()).answer({ kind: 'deny' });
  assert.equal((await launcher.nextOf('answer')).id, 2);
});

test('when the record cannot be written, what is asked is denied and new runs are refused', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, {
    settings: { network: { mode: 'ask' }, filesystem: { caches: 'off' } },
  });
  const { launcher } = await bench.launch();
  await until(bench.session, () => bench.session.snapshot().runs[0]?.state === 'running');
  t.mock.method(fs, 'writeSync', () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  });
  launcher.ask(1, 'example.com');
  const { effect, reason } = await launcher.nextOf('answer');
  const second = bench.connect();
  second.hello({ directory: place.workspace });
  const { message } = await second.nextOf('error');
  t.mock.restoreAll();
  assert.deepEqual([effect, reason], ['deny', 'auditFailed']);
  assert.match(message, /record.*no space left/su);
  assert.deepEqual(bench.prompter.asked, []);
});

test('a listener of the record that throws changes nothing', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, {
    events: () => {
      throw new Error('a full pipe');
    },
  });
  await bench.launch();
  assert.ok(recordOf(place).some(({ kind }) => kind === 'run'));
});

test('closing answers nobody, lets go of the runs, and leaves nothing in the runtime folder', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  const { launcher } = await bench.launch();
  launcher.ask(1, 'example.com');
  const { signal } = await bench.prompter.next();
  await bench.session.close();
  await bench.session.close();
  await launcher.closed;
  assert.equal(signal.aborted, true);
  assert.ok(!launcher.frames.some(({ kind }) => kind === 'answer'));
  assert.deepEqual(fs.readdirSync(place.runtime), []);
  const record = recordOf(place);
  assert.deepEqual(
    record.flatMap((line) => (line.kind === 'answer' ? [line.reason] : [])),
    ['sessionClosed'],
  );
  const last = record.at(-1);
  assert.deepEqual(last?.kind === 'exit' ? [last.outcome, last.exitCode] : [], ['lost', null]);
});

test('two sessions in one process know nothing of each other', async (t) => {
  const here = createPlace(t);
  const there = createPlace(t);
  const one = await openSession(t, here);
  const two = await openSession(t, there);
  const first = await one.launch();
  const second = await two.launch();
  first.launcher.ask(1, 'example.com');
  (await one.prompter.next()).answer({ kind: 'session' });
  await first.launcher.nextOf('answer');
  second.launcher.ask(1, 'example.com');
  await two.prompter.next();
  assert.deepEqual(
    [one.session.snapshot().grants.length, two.session.snapshot().grants.length],
    [1, 0],
  );
  await one.session.close();
  assert.equal(two.session.snapshot().pending.length, 1);
});

test('questions of a run whose terminal is relayed stop the relay, one at a time', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, { terminal: 'relay' });
  const { launcher } = await bench.launch({ terminal: true });
  launcher.ask(1, 'one.test');
  launcher.ask(2, 'two.test');
  await launcher.nextOf('hold');
  await settle();
  assert.deepEqual(bench.prompter.asked, []);
  launcher.send({ kind: 'held' });
  (await bench.prompter.next()).answer({ kind: 'deny' });
  await launcher.nextOf('resume');
  await launcher.nextOf('hold');
  assert.equal(bench.prompter.asked.length, 1);
  launcher.send({ kind: 'held' });
  (await bench.prompter.next()).answer({ kind: 'deny' });
  await launcher.nextOf('resume');
});

test('a run without a terminal is not relayed', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place, { terminal: 'relay' });
  const launcher = bench.connect();
  launcher.hello({ directory: place.workspace, terminal: false });
  assert.equal((await launcher.nextOf('plan')).terminal, 'inherit');
});

test('runs that are over are forgotten in the end', async (t) => {
  const place = createPlace(t);
  const bench = await openSession(t, place);
  for (let index = 0; index < 60; index += 1) {
    const { launcher, run } = await bench.launch();
    launcher.send({ kind: 'exit', status: { exited: 0 } });
    launcher.close();
    await until(bench.session, () =>
      bench.session.snapshot().runs.some(({ id, exit }) => id === run && exit !== undefined),
    );
  }
  assert.ok(bench.session.snapshot().runs.length <= 51);
});

function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(4);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}
