import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Answer } from '../../../src/broker/prompter.js';
import { ANSWER_MS, createBench, example } from '../../support/brokerBench.js';
import type { Bench } from '../../support/brokerBench.js';
import { settle } from '../../support/fakePrompter.js';

/** The record in short: kinds, and how requests ended. */
function recordOf(bench: Bench): readonly string[] {
  return bench.record.map((entry) => {
    if (entry.kind === 'answer') return `answer ${entry.request} ${entry.effect} ${entry.reason}`;
    if (entry.kind === 'request') return `request ${entry.request}`;
    return entry.kind === 'grant' ? `grant ${entry.grant.scope}` : entry.kind;
  });
}

test('a rule that allows needs no person, and the addresses are handed out', async () => {
  const bench = createBench({ targets: { 'example.com': 'allow' } });
  assert.deepEqual(await bench.ask(example), {
    effect: 'allow',
    by: 'rule',
    reason: 'rule',
    addresses: ['192.0.2.1'],
    opens: [],
  });
  assert.deepEqual(bench.prompter.asked, []);
  assert.deepEqual(recordOf(bench), ['request 1', 'answer 1 allow rule']);
});

test('a rule that denies resolves nothing and says which rule', async () => {
  const bench = createBench({ targets: { 'example.com': 'deny' } });
  assert.deepEqual(await bench.ask(example), {
    effect: 'deny',
    by: 'rule',
    reason: 'rule',
    addresses: [],
    opens: [],
    message: 'cordon: denied: curl to example.com:443 (deny example.com)',
  });
  assert.deepEqual(bench.lookups, []);
});

test('no name is looked up before a person has allowed it', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  const { question, answer } = await bench.prompter.next();
  assert.deepEqual(bench.lookups, []);
  assert.deepEqual(question.request.object, example);
  answer({ kind: 'once' });
  assert.equal((await decision).effect, 'allow');
  assert.deepEqual(bench.lookups, ['example.com']);
});

test('while a question waits, one line on the terminal says so', async () => {
  const bench = createBench();
  void bench.ask(example);
  void bench.ask(example);
  await bench.prompter.next();
  assert.deepEqual(bench.run().notices, [
    'cordon: waiting for an answer: curl wants to reach example.com:443 (answer here)',
  ]);
});

test('"once" holds for the calls that wait, and for no later one', async () => {
  const bench = createBench();
  const first = bench.ask(example);
  const { answer } = await bench.prompter.next();
  answer({ kind: 'once' });
  assert.equal((await first).effect, 'allow');
  void bench.ask(example);
  const again = await bench.prompter.next();
  assert.deepEqual(again.question.request.object, example);
  assert.deepEqual(bench.broker.grants(), []);
});

for (const [kind, elsewhere] of [
  ['run', true],
  ['session', false],
  ['always', false],
] as const) {
  test(`"${kind}" is recorded before it takes effect and ${elsewhere ? 'does not hold' : 'holds'} for another run`, async () => {
    const bench = createBench();
    const first = bench.ask(example);
    (await bench.prompter.next()).answer({ kind });
    assert.equal((await first).reason, 'user');
    assert.deepEqual(recordOf(bench), ['request 1', `grant ${kind}`, 'answer 1 allow user']);
    assert.equal((await bench.ask(example)).reason, 'grant');
    const other = bench.ask(example, { run: 'r2' });
    await settle();
    assert.equal(bench.prompter.asked.length, elsewhere ? 2 : 1);
    if (!elsewhere) assert.equal((await other).reason, 'grant');
  });
}

test('a grant is for one port', async () => {
  const bench = createBench();
  void bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'session' });
  await settle();
  void bench.ask({ host: 'example.com', port: 80 });
  assert.deepEqual((await bench.prompter.next()).question.request.object, {
    host: 'example.com',
    port: 80,
  });
});

test('"always" is written to the settings; without a place for that it holds for the session', async () => {
  const bench = createBench();
  void bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'always' });
  await settle();
  assert.deepEqual(bench.written, ['allow example.com:443 in network.allow']);
  assert.deepEqual(bench.broker.grants()[0]?.written, [
    { effect: 'allow', setting: 'network.allow', entry: 'example.com:443' },
  ]);

  const noPlace = createBench({}, { onAlways: undefined as never });
  void noPlace.ask(example);
  (await noPlace.prompter.next()).answer({ kind: 'always' });
  await settle();
  assert.equal(noPlace.broker.grants()[0]?.scope, 'session');
});

test('"always" that cannot be written still holds for now', async () => {
  const bench = createBench({}, { onAlways: () => Promise.reject(new Error('read-only')) });
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'always' });
  assert.equal((await decision).effect, 'allow');
  assert.equal((await bench.ask(example)).reason, 'grant');
});

test('"deny" refuses, once, and asks again the next time', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'deny' });
  assert.deepEqual(await decision, {
    effect: 'deny',
    by: 'user',
    reason: 'user',
    addresses: [],
    opens: [],
    message: 'cordon: denied: curl to example.com:443 (you denied it)',
  });
  void bench.ask(example);
  await bench.prompter.next();
});

test('"deny always" is written, and holds for every run from now on', async () => {
  const bench = createBench();
  const here = bench.ask(example);
  const there = bench.ask(example, { run: 'r2' });
  (await bench.prompter.next()).answer({ kind: 'denyAlways' });
  assert.deepEqual([(await here).reason, (await there).reason], ['user', 'user']);
  assert.equal((await bench.ask(example, { run: 'r3' })).reason, 'user');
  assert.deepEqual(bench.written, ['deny example.com:443 in network.deny']);
  assert.equal(bench.prompter.asked.length, 2);
});

test('"deny the rest of this run" ends its other questions, and leaves other runs alone', async () => {
  const bench = createBench();
  const one = bench.ask(example);
  const two = bench.ask({ host: 'two.test', port: 1 });
  void bench.ask(example, { run: 'r2' });
  (await bench.prompter.next()).answer({ kind: 'denyRun' });
  assert.deepEqual([(await one).effect, (await two).effect], ['deny', 'deny']);
  assert.equal((await bench.ask({ host: 'three.test', port: 1 })).reason, 'user');
  assert.deepEqual(
    bench.broker.questions().map(({ request }) => request.run),
    ['r2'],
  );
});

test('two hundred equal requests are one question with one answer, and one line', async () => {
  const bench = createBench();
  const decisions = Array.from({ length: 200 }, () => bench.ask(example));
  const { answer } = await bench.prompter.next();
  await settle();
  assert.equal(bench.broker.questions()[0]?.waiting, 200);
  answer({ kind: 'deny' });
  const all = await Promise.all(decisions);
  assert.equal(all.filter(({ effect }) => effect === 'deny').length, 200);
  assert.equal(all.filter(({ message }) => message !== undefined).length, 1);
  assert.equal(bench.prompter.asked.length, 1);
});

test('equal requests of two runs are two questions, and a grant for the session answers both', async () => {
  const bench = createBench();
  const here = bench.ask(example);
  const there = bench.ask(example, { run: 'r2' });
  const { answer } = await bench.prompter.next();
  const other = await bench.prompter.next();
  answer({ kind: 'session' });
  assert.deepEqual([(await here).reason, (await there).reason], ['user', 'grant']);
  assert.equal(other.signal.aborted, true);
});

test('without an answer in time it is a denial that says what to do, and the prompt is taken down', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  const { signal } = await bench.prompter.next();
  bench.clock.advance(ANSWER_MS - 1);
  assert.equal(signal.aborted, false);
  bench.clock.advance(1);
  assert.deepEqual(await decision, {
    effect: 'deny',
    by: 'default',
    reason: 'noAnswer',
    addresses: [],
    opens: [],
    message: 'cordon: denied: curl to example.com:443 (nobody answered). Allow it in the settings',
  });
  assert.equal(signal.aborted, true);
  assert.equal(bench.clock.pending, 0);
});

test('a toast that was closed leaves the question, and it can be answered elsewhere', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  const { question, answer } = await bench.prompter.next();
  answer({ kind: 'dismissed' });
  await settle();
  assert.equal(bench.broker.questions().length, 1);
  assert.equal(bench.broker.answer(question.id, { kind: 'once' }), true);
  assert.equal((await decision).effect, 'allow');
});

test('a dismissed question that nobody answers is denied as unanswered', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'dismissed' });
  await settle();
  bench.clock.advance(ANSWER_MS);
  assert.equal((await decision).reason, 'noAnswer');
});

test('an answer to a question that is over does nothing and says so', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  const { question, answer } = await bench.prompter.next();
  assert.equal(bench.broker.answer(question.id, { kind: 'deny' }), true);
  assert.equal(bench.broker.answer(question.id, { kind: 'always' }), false);
  answer({ kind: 'always' });
  assert.equal((await decision).effect, 'deny');
  await settle();
  assert.deepEqual([bench.broker.grants(), bench.written], [[], []]);
});

test('nobody to ask is a denial of its own kind', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  (await bench.prompter.next()).fail(new Error('no window'));
  const { reason, message } = await decision;
  assert.deepEqual(
    [reason, message],
    [
      'noInterface',
      'cordon: denied: curl to example.com:443 (there is nobody to ask). Allow it in the settings',
    ],
  );
});

test('a prompter that throws at once is nobody to ask', async () => {
  const bench = createBench(
    {},
    {
      prompter: {
        ask: () => {
          throw new Error('broken');
        },
      },
    },
  );
  assert.equal((await bench.ask(example)).reason, 'noInterface');
});

test('when the program dies its question is withdrawn, and the others wait on', async () => {
  const bench = createBench();
  const controller = new AbortController();
  const dying = bench.ask(example, { signal: controller.signal });
  const living = bench.ask(example);
  const { signal, answer } = await bench.prompter.next();
  controller.abort();
  assert.equal((await dying).reason, 'withdrawn');
  assert.equal(signal.aborted, false);
  assert.equal(bench.broker.questions()[0]?.waiting, 1);
  answer({ kind: 'once' });
  assert.equal((await living).effect, 'allow');
});

test('when the last program that waits dies, the prompt is taken down', async () => {
  const bench = createBench();
  const controller = new AbortController();
  const dying = bench.ask(example, { signal: controller.signal });
  const { signal } = await bench.prompter.next();
  controller.abort();
  assert.deepEqual(await dying, {
    effect: 'deny',
    by: 'default',
    reason: 'withdrawn',
    addresses: [],
    opens: [],
  });
  assert.equal(signal.aborted, true);
  assert.deepEqual(bench.broker.questions(), []);
});

test('when the run ends, what it asked is withdrawn and its grants are gone', async () => {
  const bench = createBench();
  void bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'run' });
  await settle();
  const waiting = bench.ask({ host: 'two.test', port: 1 });
  await bench.prompter.next();
  bench.run().handle.dispose();
  assert.equal((await waiting).reason, 'withdrawn');
  assert.deepEqual(bench.broker.grants(), []);
});

test('closing settles everything, and everything later is denied at once', async () => {
  const bench = createBench({ targets: { 'allowed.test': 'allow' } });
  const waiting = bench.ask(example);
  const { signal } = await bench.prompter.next();
  bench.broker.close();
  assert.equal((await waiting).reason, 'sessionClosed');
  assert.equal(signal.aborted, true);
  assert.equal((await bench.ask({ host: 'allowed.test', port: 1 })).reason, 'sessionClosed');
  assert.equal(bench.clock.pending, 0);
});

test('what cannot be recorded is denied, whatever the rule says', async () => {
  const bench = createBench({ targets: { 'example.com': 'allow' } });
  bench.broken = 'append';
  const { effect, reason } = await bench.ask(example);
  assert.deepEqual([effect, reason], ['deny', 'auditFailed']);
  assert.deepEqual(bench.lookups, []);
});

test('an approval whose record fails is a denial', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  const { answer } = await bench.prompter.next();
  bench.broken = 'append';
  answer({ kind: 'once' });
  assert.deepEqual(await decision, {
    effect: 'deny',
    by: 'default',
    reason: 'auditFailed',
    addresses: [],
    opens: [],
    message: 'cordon: denied: curl to example.com:443 (the record of decisions cannot be written)',
  });
});

test('a grant that is not safe on disk is none, also for whoever reads the record later', async () => {
  const bench = createBench();
  const decision = bench.ask(example);
  const { answer } = await bench.prompter.next();
  bench.broken = 'flush';
  answer({ kind: 'session' });
  assert.equal((await decision).reason, 'auditFailed');
  assert.deepEqual(bench.broker.grants(), []);
  assert.deepEqual(recordOf(bench), [
    'request 1',
    'grant session',
    'revoke',
    'answer 1 deny auditFailed',
  ]);
});

test('a name without an address is allowed, unresolvable, and said to be', async () => {
  const bench = createBench();
  const decision = bench.ask({ host: 'nowhere.test', port: 1 });
  (await bench.prompter.next()).answer({ kind: 'once' });
  assert.deepEqual(await decision, {
    effect: 'allow',
    by: 'user',
    reason: 'unresolved',
    addresses: [],
    opens: [],
    message:
      'cordon: nowhere.test:1 is allowed, but its name could not be resolved (ENOTFOUND nowhere.test)',
  });
});

test('a resolver that never answers does not hold the program for ever', async () => {
  const bench = createBench(
    { targets: { 'example.com': 'allow' } },
    { resolve: () => new Promise(() => undefined) },
  );
  const decision = bench.ask(example);
  await settle();
  bench.clock.advance(20_000);
  assert.equal((await decision).reason, 'unresolved');
});

test('a program that dies during the look-up is not answered with addresses', async () => {
  let found: (addresses: readonly string[]) => void = () => undefined;
  const bench = createBench(
    { targets: { 'example.com': 'allow' } },
    { resolve: () => new Promise((resolve) => (found = resolve)) },
  );
  const controller = new AbortController();
  const decision = bench.ask(example, { signal: controller.signal });
  controller.abort();
  found(['192.0.2.1']);
  await settle();
  assert.deepEqual(await decision, {
    effect: 'deny',
    by: 'default',
    reason: 'withdrawn',
    addresses: [],
    opens: [],
  });
  assert.deepEqual(recordOf(bench), ['request 1', 'answer 1 deny withdrawn']);
});

test('a name that leads to this machine is a question of its own that says so', async () => {
  const bench = createBench({ addresses: { '127.0.0.1': 'ask' } });
  bench.names.set('example.com', ['127.0.0.1']);
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'once' });
  const { question, answer } = await bench.prompter.next();
  assert.deepEqual(
    [question.privateAddresses, question.places],
    [['127.0.0.1'], ['127.0.0.1 (this machine)']],
  );
  assert.equal(
    bench.run().notices[1],
    'cordon: waiting for an answer: curl wants to reach example.com:443, which resolves to 127.0.0.1 (this machine) (answer here)',
  );
  answer({ kind: 'once' });
  assert.deepEqual((await decision).addresses, ['127.0.0.1']);
});

test('a rule for a name does not cover where it must not lead', async () => {
  const bench = createBench({
    targets: { 'example.com': 'allow' },
    addresses: { '10.0.0.1': 'ask' },
  });
  bench.names.set('example.com', ['10.0.0.1']);
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'deny' });
  assert.deepEqual([(await decision).effect, (await decision).reason], ['deny', 'user']);
});

test('a grant that was given for private addresses is not asked for again, until the name leads elsewhere', async () => {
  const bench = createBench({ addresses: { '10.0.0.1': 'ask', '10.0.0.2': 'ask' } });
  bench.names.set('example.com', ['10.0.0.1']);
  const first = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'session' });
  (await bench.prompter.next()).answer({ kind: 'session' });
  await first;
  assert.deepEqual((await bench.ask(example)).addresses, ['10.0.0.1']);
  assert.equal(bench.broker.grants().length, 1);

  bench.names.set('example.com', ['10.0.0.2']);
  void bench.ask(example);
  assert.deepEqual((await bench.prompter.next()).question.privateAddresses, ['10.0.0.2']);
});

test('"always" for private addresses writes the addresses, too', async () => {
  const bench = createBench({ addresses: { '10.0.0.1': 'ask' } });
  bench.names.set('example.com', ['10.0.0.1']);
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'once' });
  (await bench.prompter.next()).answer({ kind: 'always' });
  assert.deepEqual((await decision).addresses, ['10.0.0.1']);
  assert.deepEqual(bench.written, [
    'allow example.com:443 in network.allow',
    'allow 10.0.0.1:443 in network.allow',
  ]);
});

test('a private address beside a public one is left out, and an address that a rule denies is, too', async () => {
  const bench = createBench({
    targets: { 'example.com': 'allow' },
    addresses: { '127.0.0.1': 'ask', '192.0.2.9': 'deny' },
  });
  bench.names.set('example.com', ['127.0.0.1', '192.0.2.9', '192.0.2.1', '192.0.2.1']);
  assert.deepEqual((await bench.ask(example)).addresses, ['192.0.2.1']);
});

test('a name whose addresses are all denied is denied by that rule', async () => {
  const bench = createBench({
    targets: { 'example.com': 'allow' },
    addresses: { '192.0.2.1': 'deny' },
  });
  const { effect, reason, message } = await bench.ask(example);
  assert.deepEqual(
    [effect, reason, message],
    ['deny', 'rule', 'cordon: denied: curl to example.com:443 (deny 192.0.2.1)'],
  );
});

test('what is dialled is what was checked: a name is looked up once for a request', async () => {
  const answers = [['192.0.2.1'], ['127.0.0.1']];
  const bench = createBench(
    { targets: { 'example.com': 'allow' }, addresses: { '127.0.0.1': 'ask' } },
    { resolve: () => Promise.resolve(answers.shift() ?? []) },
  );
  assert.deepEqual((await bench.ask(example)).addresses, ['192.0.2.1']);
  assert.deepEqual(answers, [['127.0.0.1']]);
});

test('a literal address is asked about and not looked up', async () => {
  const bench = createBench();
  const decision = bench.ask({ address: '10.1.2.3', port: 22 });
  (await bench.prompter.next()).answer({ kind: 'session' });
  assert.deepEqual((await decision).addresses, ['10.1.2.3']);
  assert.deepEqual(bench.lookups, []);
  assert.equal((await bench.ask({ address: '10.1.2.3', port: 22 })).reason, 'grant');
});

test('a look-up of an allowed name says whether there is such a name, and asks nobody', async () => {
  const bench = createBench({
    targets: { 'example.com': 'allow' },
    addresses: { '127.0.0.1': 'ask' },
  });
  bench.names.set('example.com', ['127.0.0.1']);
  assert.deepEqual((await bench.ask({ host: 'example.com' })).addresses, ['127.0.0.1']);
  assert.equal((await bench.ask({ host: 'two.test' })).effect, 'deny');
  assert.deepEqual(bench.lookups, ['example.com']);
  assert.deepEqual(bench.prompter.asked, []);
});

test('taking a grant back closes its connections, asks again, and is recorded', async () => {
  const bench = createBench();
  void bench.ask(example);
  bench.run('r2');
  (await bench.prompter.next()).answer({ kind: 'session' });
  await settle();
  const [grant] = bench.broker.grants();
  assert.equal(bench.broker.revoke(grant?.id ?? ''), true);
  assert.equal(bench.broker.revoke(grant?.id ?? ''), false);
  assert.deepEqual(bench.run('r1').revoked, [{ connections: [example], opens: [], ports: [] }]);
  assert.deepEqual(bench.run('r2').revoked, [{ connections: [example], opens: [], ports: [] }]);
  void bench.ask(example);
  await bench.prompter.next();
  assert.ok(recordOf(bench).includes('revoke'));
});

test('a grant of one run is not taken from another run', async () => {
  const bench = createBench();
  bench.run('r2');
  void bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'run' });
  await settle();
  bench.broker.revoke(bench.broker.grants()[0]?.id ?? '');
  assert.deepEqual(bench.run('r2').revoked, []);
});

test('a permission that is taken back during the look-up does not take effect', async () => {
  let found: (addresses: readonly string[]) => void = () => undefined;
  const bench = createBench({}, { resolve: () => new Promise((resolve) => (found = resolve)) });
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'session' });
  await settle();
  bench.broker.revoke(bench.broker.grants()[0]?.id ?? '');
  found(['192.0.2.1']);
  assert.equal((await decision).effect, 'deny');
});

test('restored grants hold; one that was taken back is not restored for a run that comes later', async () => {
  const bench = createBench();
  void bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'session' });
  await settle();
  const grants = bench.broker.grants();

  const next = createBench();
  next.broker.restore(grants);
  assert.equal((await next.ask(example)).reason, 'grant');
  next.broker.revoke(grants[0]?.id ?? '');
  next.broker.restore(grants);
  assert.deepEqual(next.broker.grants(), []);
});

test('a grant of another session does not hold', async () => {
  const bench = createBench();
  void bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'session' });
  await settle();
  const other = createBench({}, { session: 's2' });
  other.broker.restore(bench.broker.grants());
  void other.ask(example);
  await other.prompter.next();
});

test('a run cannot wear a person out: after thirty questions in a minute it is denied unasked', async () => {
  const bench = createBench();
  for (let port = 1; port <= 30; port += 1) void bench.ask({ host: 'example.com', port });
  const { effect, reason } = await bench.ask({ host: 'example.com', port: 31 });
  assert.deepEqual([effect, reason], ['deny', 'limit']);
  assert.equal(bench.broker.questions().length, 30);
  const other = bench.ask(example, { run: 'r2' });
  await settle();
  assert.equal(bench.broker.questions().length, 31);
  bench.broker.close();
  await other;
});

test('what was refused three times within a minute is not asked a fourth time', async () => {
  const bench = createBench();
  for (let times = 0; times < 3; times += 1) {
    const decision = bench.ask(example);
    (await bench.prompter.next()).answer({ kind: 'deny' });
    await decision;
  }
  const { reason, message } = await bench.ask(example);
  assert.equal(reason, 'limit');
  assert.equal(message, undefined, 'that it is refused was told before');
  bench.clock.advance(61_000);
  void bench.ask(example);
  await bench.prompter.next();
});

test('each change is told once it can be seen', async () => {
  const bench = createBench();
  const seen: string[] = [];
  bench.broker.onDidChange(() => {
    seen.push(`${bench.broker.questions().length} ${bench.broker.grants().length}`);
  });
  const decision = bench.ask(example);
  (await bench.prompter.next()).answer({ kind: 'session' });
  await decision;
  await settle();
  assert.equal(seen.at(-1), '0 1');
  assert.ok(seen.includes('1 0'));
});

test('every kind of answer settles every request that waits for it', async () => {
  const kinds: readonly Answer['kind'][] = [
    'once',
    'run',
    'session',
    'always',
    'deny',
    'denyRun',
    'denyAlways',
  ];
  for (const kind of kinds) {
    const bench = createBench();
    const decisions = [bench.ask(example), bench.ask(example)];
    (await bench.prompter.next()).answer({ kind });
    const effects = (await Promise.all(decisions)).map(({ effect }) => effect);
    const expected = kind.startsWith('deny') ? 'deny' : 'allow';
    assert.deepEqual(effects, [expected, expected], kind);
    assert.deepEqual(bench.broker.questions(), []);
  }
});

test('text of programs cannot write to the terminal', async () => {
  const bench = createBench();
  const subject = {
    pid: 1,
    executable: '/tmp/x\u001b[2Jy',
    arguments: [],
    directory: '/',
    chain: [],
  };
  void bench
    .run()
    .handle.ask(
      { run: 'r1', subject, because: null, action: 'connect', object: example },
      new AbortController().signal,
    );
  await bench.prompter.next();
  assert.doesNotMatch(bench.run().notices.join(''), /\u001b/u);
});
