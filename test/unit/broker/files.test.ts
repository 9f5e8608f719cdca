// What is not about the network: nothing is looked up, and an answer for more than the call opens something.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Open, Wanted } from '../../../src/policy/request.js';
import { ANSWER_MS, createBench } from '../../support/brokerBench.js';
import type { Bench } from '../../support/brokerBench.js';
import { settle } from '../../support/fakePrompter.js';
import { at, git, publish, read, sign, socket, write } from '../../support/wanted.js';

const elsewhere: Open = { access: 'write', path: at('/home/ada/elsewhere') };

async function answered(bench: Bench, wanted: Wanted, kind: 'once' | 'run' | 'session' | 'always') {
  const decision = bench.want(wanted);
  const { question, answer } = await bench.prompter.next();
  answer({ kind });
  return { question, decision: await decision };
}

test('a rule, not a person, answers what the administrator has settled', async () => {
  const bench = createBench({ targets: { write: 'deny' } });
  assert.deepEqual(await bench.want(write()), {
    effect: 'deny',
    by: 'rule',
    reason: 'rule',
    addresses: [],
    opens: [],
    message: 'cordon: denied: curl to create ~/elsewhere/x (deny write)',
  });
  assert.deepEqual(bench.prompter.asked, []);
});

test('a question says what is wanted, what it would open, and what always would write', async () => {
  const bench = createBench();
  void bench.want(write({ change: 'echo hi\n' }));
  const { question } = await bench.prompter.next();
  assert.deepEqual(
    [question.wish, question.wider, question.offers, question.always, question.never],
    [
      'create ~/elsewhere/x',
      '/home/ada/elsewhere',
      ['once', 'run', 'session', 'always'],
      [{ effect: 'allow', setting: 'filesystem.writableRoots', entry: '/home/ada/elsewhere' }],
      [],
    ],
  );
  assert.deepEqual(bench.run().notices, [
    'cordon: waiting for an answer: curl wants to create ~/elsewhere/x (answer here)',
  ]);
});

test('"once" lets exactly that call through and opens nothing', async () => {
  const bench = createBench();
  const { decision } = await answered(bench, write(), 'once');
  assert.deepEqual(decision, {
    effect: 'allow',
    by: 'user',
    reason: 'user',
    addresses: [],
    opens: [],
  });
  void bench.want(write());
  await bench.prompter.next();
  assert.deepEqual(bench.broker.grants(), []);
});

test('"run" opens the folder for the run, and for no other', async () => {
  const bench = createBench();
  bench.run('r2');
  const { decision } = await answered(bench, write(), 'run');
  assert.deepEqual(decision.opens, [elsewhere]);
  assert.deepEqual(bench.run('r2').opened, []);
  void bench.want(write(), { run: 'r2' });
  await bench.prompter.next();
});

test('"session" reaches the other runs at once, and later ones when they first ask', async () => {
  const bench = createBench();
  bench.run('r2');
  await answered(bench, write(), 'session');
  assert.deepEqual(bench.run('r1').opened, [], 'the answer itself opens it there');
  assert.deepEqual(bench.run('r2').opened, [elsewhere]);
  const later = await bench.want(write({ path: at('/home/ada/elsewhere/a/b') }), { run: 'r3' });
  assert.deepEqual([later.by, later.opens], ['grant', [elsewhere]]);
});

test('a wider answer settles the other open questions that it covers, here and elsewhere', async () => {
  const bench = createBench();
  const first = bench.want(write());
  const sibling = bench.want(write({ path: at('/home/ada/elsewhere/y') }));
  const there = bench.want(write(), { run: 'r2' });
  const outside = bench.want(write({ path: at('/home/ada/z'), folder: at('/home/ada') }));
  (await bench.prompter.next()).answer({ kind: 'session' });
  const settled = await Promise.all([first, sibling, there]);
  assert.deepEqual(
    settled.map(({ by, opens }) => [by, opens]),
    [
      ['user', [elsewhere]],
      ['grant', [elsewhere]],
      ['grant', [elsewhere]],
    ],
  );
  assert.equal(bench.broker.questions().length, 1);
  bench.broker.close();
  assert.equal((await outside).effect, 'deny');
});

test('a grant of a folder does not open what is protected in it', async () => {
  const bench = createBench();
  await answered(bench, write(), 'session');
  void bench.want(
    write({ path: at('/home/ada/elsewhere/.vscode'), folder: null, protected: true }),
  );
  assert.equal((await bench.prompter.next()).question.wish, 'create ~/elsewhere/.vscode');
});

test('what opens nothing is remembered all the same: a key, a port', async () => {
  const bench = createBench();
  for (const wanted of [sign, publish]) {
    const { question, decision } = await answered(bench, wanted, 'session');
    assert.equal(question.wider, null);
    assert.deepEqual([decision.effect, decision.opens], ['allow', []]);
    const later = await bench.want(wanted, { run: 'r2' });
    assert.deepEqual([later.by, later.opens], ['grant', []]);
  }
  assert.deepEqual(bench.run('r2').opened, []);
});

test('two signatures with one key are two questions', async () => {
  const bench = createBench();
  void bench.want(sign);
  void bench.want(sign);
  await bench.prompter.next();
  await bench.prompter.next();
  assert.equal(bench.broker.questions().length, 2);
});

test('always is written where it has a place, and is a grant that can be taken back', async () => {
  const bench = createBench();
  await answered(bench, git, 'always');
  assert.deepEqual(bench.written, ['allow allow in filesystem.git']);
  const [grant] = bench.broker.grants();
  assert.deepEqual(grant?.written, [
    { effect: 'allow', setting: 'filesystem.git', entry: 'allow' },
  ]);
  assert.deepEqual(grant.origin, { run: 'r1', program: 'curl', command: ['sh', '-c', 'curl'] });
});

test('an answer wider than what is offered counts as the widest that is', async () => {
  const bench = createBench({ isNarrow: true });
  const { question, decision } = await answered(bench, write(), 'always');
  assert.deepEqual([question.offers, question.wider, question.always], [['once'], null, []]);
  assert.deepEqual([decision.effect, decision.opens], ['allow', []]);
  assert.deepEqual([bench.broker.grants(), bench.written], [[], []]);

  const key = createBench();
  await answered(key, sign, 'always');
  assert.equal(key.broker.grants()[0]?.scope, 'session');
});

test('what is asked beforehand holds no call, so there is nothing to allow once', async () => {
  const bench = createBench();
  const decision = bench.want(read, { because: 'the deploy reads its host list' });
  const { question, answer } = await bench.prompter.next();
  assert.deepEqual(question.offers, ['run', 'session', 'always']);
  assert.equal(question.request.because, 'the deploy reads its host list');
  answer({ kind: 'run' });
  assert.deepEqual((await decision).opens, [{ access: 'read', path: '/home/ada/.ssh' }]);
});

test('"deny always" holds for the whole folder and every run, and is written for a socket', async () => {
  const bench = createBench();
  const decision = bench.want(write());
  (await bench.prompter.next()).answer({ kind: 'denyAlways' });
  assert.equal((await decision).effect, 'deny');
  const other = await bench.want(write({ path: at('/home/ada/elsewhere/y') }), { run: 'r2' });
  assert.equal(
    other.message,
    'cordon: denied: curl to create ~/elsewhere/y (you denied it for good)',
  );
  assert.deepEqual(bench.written, []);

  const docker = bench.want(socket('/run/docker.sock'));
  (await bench.prompter.next()).answer({ kind: 'denyAlways' });
  await docker;
  assert.deepEqual(bench.written, ['deny /run/docker.sock in sockets.deny']);
});

test('"deny the rest of this run" holds for every action', async () => {
  const bench = createBench();
  const decision = bench.want(write());
  (await bench.prompter.next()).answer({ kind: 'denyRun' });
  await decision;
  for (const wanted of [read, git, sign, publish, socket('/run/x')]) {
    assert.equal((await bench.want(wanted)).reason, 'user');
  }
});

test('taking a grant back closes it in every run that has it, and is recorded', async () => {
  const bench = createBench();
  bench.run('r2');
  await answered(bench, write(), 'session');
  bench.broker.revoke(bench.broker.grants()[0]?.id ?? '');
  const expected = [{ connections: [], opens: [elsewhere], ports: [] }];
  assert.deepEqual([bench.run('r1').revoked, bench.run('r2').revoked], [expected, expected]);
  assert.equal(bench.record.at(-1)?.kind, 'revoke');
  void bench.want(write());
  await bench.prompter.next();
});

test('a place that another grant of the run still opens stays open there', async () => {
  const bench = createBench();
  await answered(bench, write(), 'run');
  const there = bench.want(write(), { run: 'r2' });
  (await bench.prompter.next()).answer({ kind: 'session' });
  await there;
  const session = bench.broker.grants().find(({ scope }) => scope === 'session');
  bench.broker.revoke(session?.id ?? '');
  assert.deepEqual(bench.run('r1').revoked, []);
  assert.equal(bench.run('r2').revoked.length, 1);
});

test('taking a port back closes the port', async () => {
  const bench = createBench();
  await answered(bench, publish, 'run');
  bench.broker.revoke(bench.broker.grants()[0]?.id ?? '');
  assert.deepEqual(bench.run().revoked, [{ connections: [], opens: [], ports: [5173] }]);
});

test('when the program dies, its question about a file is withdrawn', async () => {
  const bench = createBench();
  const controller = new AbortController();
  const dying = bench.want(read, { signal: controller.signal });
  const { signal } = await bench.prompter.next();
  controller.abort();
  assert.equal((await dying).reason, 'withdrawn');
  assert.equal(signal.aborted, true);
});

test('without an answer in time a file is denied for that, with what would allow it', async () => {
  const bench = createBench();
  const decision = bench.want(write());
  await bench.prompter.next();
  bench.clock.advance(ANSWER_MS);
  const { reason, message } = await decision;
  assert.deepEqual(
    [reason, message],
    [
      'noAnswer',
      'cordon: denied: curl to create ~/elsewhere/x (nobody answered). Allow it in the settings',
    ],
  );
});

test('where nobody is asked every request is answered at once, with the right reason', async () => {
  const bench = createBench({}, { prompter: undefined });
  const reasons = new Set<string>();
  for (let number = 0; number < 500; number += 1) {
    const path = at(`/home/ada/elsewhere/${number}`);
    reasons.add((await bench.want(write({ path }))).reason);
  }
  assert.deepEqual([...reasons], ['noInterface']);
  assert.equal(bench.clock.pending, 0);
});

test('where nobody is asked about a port, the program is told nothing: it listens inside all the same', async () => {
  const bench = createBench({}, { prompter: undefined });
  const { effect, reason, message } = await bench.want(publish);
  assert.deepEqual([effect, reason, message], ['deny', 'noInterface', undefined]);
  assert.equal(bench.record.at(-1)?.kind, 'answer');
});

test('five hundred refusals are not five hundred lines, and the last line says where the others are', async () => {
  const bench = createBench({ targets: { write: 'deny' } });
  const lines: string[] = [];
  for (let number = 0; number < 500; number += 1) {
    const { message } = await bench.want(write({ path: at(`/home/ada/elsewhere/${number}`) }));
    if (message !== undefined) lines.push(message);
  }
  assert.equal(lines.length, 21);
  assert.match(lines.at(-1) ?? '', /more in this minute.*cordon log/u);
  bench.clock.advance(61_000);
  assert.notEqual((await bench.want(write())).message, undefined);
});

test('a folder that was refused three times within a minute is not asked about again, whatever the file', async () => {
  const bench = createBench();
  for (let number = 0; number < 3; number += 1) {
    const decision = bench.want(write({ path: at(`/home/ada/elsewhere/${number}`) }));
    (await bench.prompter.next()).answer({ kind: 'deny' });
    await decision;
  }
  assert.equal((await bench.want(write())).reason, 'limit');
  void bench.want(write({ path: at('/srv/x'), folder: at('/srv') }));
  await bench.prompter.next();
});

test('a program that wants everything at once fills thirty questions, and leaves room for other runs', async () => {
  const bench = createBench();
  const wants = Array.from({ length: 100 }, (_, number) =>
    bench.want(write({ path: at(`/srv/${number}/x`), folder: at(`/srv/${number}`) })),
  );
  await settle();
  assert.equal(bench.broker.questions().length, 30);
  const refused = await Promise.all(wants.slice(30));
  assert.deepEqual([...new Set(refused.map(({ reason }) => reason))], ['limit']);
  void bench.want(write(), { run: 'r2' });
  await settle();
  assert.equal(bench.broker.questions().length, 31);
  bench.broker.close();
  await Promise.all(wants);
});

test('what would be written is never recorded, only its length and digest; the reason is, without secrets', async () => {
  const bench = createBench();
  void bench.want(write({ change: 'token=geheim\n' }), { because: 'api_key=hunter2 is needed' });
  await bench.prompter.next();
  const [request] = bench.record;
  assert.ok(request?.kind === 'request' && request.action === 'write');
  assert.deepEqual(request.object.change, {
    sha256: 'bfd69b0d6e3f92531173f8cc27fe760a9f3351f9d0ec60134cdd80da733d8f4d',
    bytes: 13,
  });
  assert.doesNotMatch(JSON.stringify(bench.record), /geheim|hunter2/u);
});

test('what was granted is recorded before it takes effect, and with what it opened', async () => {
  const bench = createBench();
  await answered(bench, write(), 'session');
  assert.deepEqual(
    bench.record.map((entry) => {
      if (entry.kind === 'grant') return ['grant', entry.grant.target];
      return entry.kind === 'answer' ? ['answer', entry.grant, entry.opens] : [entry.kind];
    }),
    [
      ['request'],
      ['grant', { ...elsewhere, protected: false }],
      ['answer', bench.broker.grants()[0]?.id, [elsewhere]],
    ],
  );
});

test('a grant that is not safe on disk opens nothing, here or elsewhere', async () => {
  const bench = createBench();
  bench.run('r2');
  const decision = bench.want(write());
  const { answer } = await bench.prompter.next();
  bench.broken = 'flush';
  answer({ kind: 'session' });
  assert.deepEqual([(await decision).reason, (await decision).opens], ['auditFailed', []]);
  assert.deepEqual([bench.run('r2').opened, bench.broker.grants()], [[], []]);
});
