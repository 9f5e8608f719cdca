// Calls that are held for a person: what each answer lets through, for how long and for whom, with the host looked at after
// every one. The launcher is the real one; the test answers.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import type { AnswerKind } from '../support/realSession.js';
import { createRealPlace, openRealSession, openShell } from '../support/realSession.js';
import type { RealPlace, RealSession, Shell } from '../support/realSession.js';
import { until } from '../support/sessionBench.js';

type Test = Parameters<typeof createRealPlace>[0];

interface Bench extends RealSession {
  readonly place: RealPlace;
  /** A folder of the user's outside of the workspace. */
  readonly elsewhere: string;
  shell(): Shell;
  /** What the host finds in a file there. */
  onHost(name: string): string | undefined;
}

async function open(t: Test, settings: object = {}): Promise<Bench> {
  const place = createRealPlace(t);
  const elsewhere = path.join(place.folder, 'elsewhere');
  fs.mkdirSync(elsewhere);
  fs.writeFileSync(path.join(elsewhere, 'old'), 'old\n');
  const real = await openRealSession(t, place, { settings });
  return {
    ...real,
    place,
    elsewhere,
    shell: () => openShell(t, place),
    onHost(name) {
      const file = path.join(elsewhere, name);
      return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
    },
  };
}

/** A shell that is not interactive starts programs in the background without SIGINT. */
const STOPPABLE = 'env --default-signal=INT';

/** Runs a line that is held, and answers it. */
async function answering(
  { prompter }: Bench,
  shell: Shell,
  line: string,
  kind: AnswerKind,
): ReturnType<Shell['run']> {
  const done = shell.run(line);
  (await prompter.next()).answer({ kind });
  return done;
}

test('a write elsewhere waits, and the question names the program, the path and the folder', async (t) => {
  const bench = await open(t);
  const shell = bench.shell();
  const done = shell.run(`touch ${bench.elsewhere}/x`);
  const { question, answer } = await bench.prompter.next();
  assert.equal(path.basename(question.request.subject.executable), 'touch');
  assert.equal(question.request.action, 'write');
  assert.equal(question.wider, bench.elsewhere);
  assert.match(question.wish, /^create ~\/session-\w+\/elsewhere\/x$/u);
  assert.equal(bench.onHost('x'), undefined);
  answer({ kind: 'deny' });
  assert.equal((await done).code, 1);
  assert.equal(bench.onHost('x'), undefined);
});

test('"once" lets exactly that write through', async (t) => {
  const bench = await open(t);
  const shell = bench.shell();
  assert.equal((await answering(bench, shell, `echo hi > ${bench.elsewhere}/x`, 'once')).code, 0);
  assert.equal(bench.onHost('x'), 'hi\n');
  assert.notEqual(
    (await answering(bench, shell, `echo no > ${bench.elsewhere}/x`, 'deny')).code,
    0,
  );
  assert.notEqual(
    (await answering(bench, shell, `echo no > ${bench.elsewhere}/y`, 'deny')).code,
    0,
  );
  assert.deepEqual([bench.onHost('x'), bench.onHost('y')], ['hi\n', undefined]);
});

test('"run" opens the folder to every program of the run, and to no other run', async (t) => {
  const bench = await open(t);
  const [shell, other] = [bench.shell(), bench.shell()];
  assert.equal((await answering(bench, shell, `echo hi > ${bench.elsewhere}/x`, 'run')).code, 0);
  const more = await shell.run(
    `cd ${bench.elsewhere} && mkdir d && sh -c 'echo two > d/y' && mv d/y z && rm old`,
  );
  assert.deepEqual([more.code, bench.onHost('z'), bench.onHost('old')], [0, 'two\n', undefined]);
  assert.equal(bench.prompter.asked.length, 1);
  assert.notEqual(
    (await answering(bench, other, `echo no > ${bench.elsewhere}/x`, 'deny')).code,
    0,
  );
  assert.equal(bench.onHost('x'), 'hi\n');
});

test('"session" opens the folder in a second run at once, and taking it back closes it again in both', async (t) => {
  const bench = await open(t);
  const [shell, other] = [bench.shell(), bench.shell()];
  assert.equal((await other.run('true')).code, 0);
  assert.equal(
    (await answering(bench, shell, `echo hi > ${bench.elsewhere}/x`, 'session')).code,
    0,
  );
  assert.equal((await other.run(`echo there > ${bench.elsewhere}/y`)).code, 0);
  const later = bench.shell();
  assert.equal((await later.run(`echo later > ${bench.elsewhere}/z`)).code, 0);
  assert.deepEqual(
    ['x', 'y', 'z'].map((name) => bench.onHost(name)),
    ['hi\n', 'there\n', 'later\n'],
  );
  assert.equal(bench.prompter.asked.length, 1);

  const [grant] = bench.session.snapshot().grants;
  bench.session.revoke(grant?.id ?? '');
  await untilNotices(bench, 'revoked', 3);
  for (const each of [shell, other, later]) {
    assert.notEqual(
      (await answering(bench, each, `echo no > ${bench.elsewhere}/x`, 'deny')).code,
      0,
    );
  }
  assert.equal(bench.onHost('x'), 'hi\n');
});

async function untilNotices(bench: RealSession, kind: string, count: number): Promise<void> {
  while (bench.notices.filter((notice) => notice.kind === kind).length < count) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a program that is killed while it waits takes its question with it, and nothing is written', async (t) => {
  for (const signal of ['INT', 'TERM', 'KILL']) {
    const bench = await open(t);
    const shell = bench.shell();
    const done = shell.run(`${STOPPABLE} touch ${bench.elsewhere}/x & wait $!; echo status $?`);
    const asked = await bench.prompter.next();
    process.kill(asked.question.request.subject.pid, `SIG${signal}`);
    await until(bench.session, () => bench.session.snapshot().pending.length === 0);
    assert.equal(asked.signal.aborted, true);
    assert.match((await done).output, /status (?:130|143|137)/u);
    assert.equal(bench.onHost('x'), undefined);
  }
});

test('a question that stands stops no other program of the run, and no other run', async (t) => {
  const bench = await open(t);
  const [shell, other] = [bench.shell(), bench.shell()];
  shell.type(`touch ${bench.elsewhere}/x & `);
  const { answer } = await bench.prompter.next();
  const here = await shell.run('echo a > a && mkdir b && mv a b/a && cat b/a && ls / > /dev/null');
  const there = await other.run('echo c > c && cat c');
  assert.deepEqual([here.code, here.output, there.code, there.output], [0, 'a\n', 0, 'c\n']);
  answer({ kind: 'deny' });
  assert.equal(bench.onHost('x'), undefined);
});

test('eight programs that want the same are one question, and one answer', async (t) => {
  const bench = await open(t);
  const shell = bench.shell();
  const done = shell.run(
    `for i in 1 2 3 4 5 6 7 8; do touch ${bench.elsewhere}/x & done; wait; echo over`,
  );
  const { question, answer } = await bench.prompter.next();
  await until(bench.session, () => bench.session.snapshot().pending[0]?.waiting === 8);
  answer({ kind: 'run' });
  assert.match((await done).output, /over/u);
  assert.equal(question.wider, bench.elsewhere);
  assert.equal(bench.prompter.asked.length, 1);
  assert.equal(bench.onHost('x'), '');
});

test('a run that lost its broker keeps waiting, and is asked again by the next, with what the record knows', async (t) => {
  const bench = await open(t);
  const shell = bench.shell();
  assert.equal((await answering(bench, shell, `echo hi > ${bench.elsewhere}/x`, 'run')).code, 0);
  await bench.session.close();

  const next = await openRealSession(t, bench.place);
  await until(next.session, () => next.session.snapshot().runs[0]?.state === 'running');
  assert.equal((await shell.run(`echo again > ${bench.elsewhere}/x`)).code, 0);
  assert.equal(bench.onHost('x'), 'again\n');
  assert.equal(next.prompter.asked.length, 0);
  next.session.revoke(next.session.snapshot().grants[0]?.id ?? '');
  await untilNotices(next, 'revoked', 1);
  const done = shell.run(`echo no > ${bench.elsewhere}/x`);
  (await next.prompter.next()).answer({ kind: 'deny' });
  assert.notEqual((await done).code, 0);
  assert.equal(bench.onHost('x'), 'again\n');
});

test('a grant that was taken back while no broker was there is closed when the run finds the next', async (t) => {
  const bench = await open(t);
  const shell = bench.shell();
  assert.equal((await answering(bench, shell, `echo hi > ${bench.elsewhere}/x`, 'run')).code, 0);
  await bench.session.close();
  // A record that does not fit restores nothing.
  const folder = path.join(bench.place.state, 'audit');
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    fs.writeFileSync(
      file,
      fs.readFileSync(file, 'utf8').replace('"scope":"run"', '"scope":"run" '),
    );
  }
  const next = await openRealSession(t, bench.place);
  // Closed a moment after it was found, on a thread of the supervisor's own: then writing is a question again.
  const asked = next.prompter.next().then(({ answer }) => {
    answer({ kind: 'deny' });
    return true;
  });
  while ((await shell.run(`echo late > ${bench.elsewhere}/late`)).code === 0);
  assert.equal(await asked, true);
  assert.equal(bench.onHost('x'), 'hi\n');
});

test('where nobody is asked, a write elsewhere fails at once and says what would allow it', async (t) => {
  const place = createRealPlace(t);
  const elsewhere = path.join(place.folder, 'elsewhere');
  fs.mkdirSync(elsewhere);
  await openRealSession(t, place, {
    prompter: undefined,
    wording: { howToAllow: () => 'Allow it with --write' },
  });
  const shell = openShell(t, place);
  const { code, output } = await shell.run(`touch ${elsewhere}/x`);
  assert.equal(code, 1);
  assert.match(
    output,
    /cordon: denied: touch to create .*elsewhere\/x \(there is nobody to ask\)\. Allow it with --write/u,
  );
  assert.deepEqual(fs.readdirSync(elsewhere), []);
});

const closed = { filesystem: { caches: 'off', denyRead: ['SECRET'] } };

/** A bench whose folder `secret` is closed for reading. */
async function openClosed(t: Test): Promise<Bench & { readonly secret: string }> {
  const place = createRealPlace(t);
  const secret = path.join(place.folder, 'secret');
  fs.mkdirSync(secret);
  fs.writeFileSync(path.join(secret, 'config'), 'the secret\n');
  fs.writeFileSync(path.join(secret, 'key'), 'the key\n');
  const settings = { filesystem: { ...closed.filesystem, denyRead: [secret] } };
  const real = await openRealSession(t, place, { settings });
  return {
    ...real,
    place,
    secret,
    elsewhere: secret,
    shell: () => openShell(t, place),
    onHost: () => undefined,
  };
}

test('a read of a closed place waits; "once" shows it once', async (t) => {
  const bench = await openClosed(t);
  const shell = bench.shell();
  const done = shell.run(`cat ${bench.secret}/config`);
  const { question, answer } = await bench.prompter.next();
  assert.deepEqual(question.request.object, {
    path: `${bench.secret}/config`,
    folder: bench.secret,
  });
  answer({ kind: 'once' });
  assert.deepEqual(await done, { code: 0, output: 'the secret\n' });
  const again = await answering(bench, shell, `cat ${bench.secret}/config`, 'deny');
  assert.equal(again.code, 1);
  assert.doesNotMatch(again.output, /the secret/u);
});

for (const kind of ['run', 'session'] as const) {
  test(`"${kind}" opens the closed folder for reading ${kind === 'run' ? 'in that run alone' : 'in other runs at once'}, and taking it back closes it`, async (t) => {
    const bench = await openClosed(t);
    const [shell, other] = [bench.shell(), bench.shell()];
    assert.equal((await other.run('true')).code, 0);
    const first = await answering(bench, shell, `cat ${bench.secret}/config`, kind);
    assert.deepEqual(first, { code: 0, output: 'the secret\n' });
    assert.deepEqual(await shell.run(`cat ${bench.secret}/key`), { code: 0, output: 'the key\n' });
    if (kind === 'session') {
      assert.deepEqual(await other.run(`cat ${bench.secret}/key`), {
        code: 0,
        output: 'the key\n',
      });
    } else {
      assert.equal((await answering(bench, other, `cat ${bench.secret}/key`, 'deny')).code, 1);
    }
    bench.session.revoke(bench.session.snapshot().grants[0]?.id ?? '');
    await untilNotices(bench, 'revoked', kind === 'session' ? 2 : 1);
    const closedAgain = await answering(bench, shell, `cat ${bench.secret}/config`, 'deny');
    assert.doesNotMatch(closedAgain.output, /the secret/u);
  });
}

test('a program that is killed in a held read takes its question with it', async (t) => {
  for (const signal of ['INT', 'TERM', 'KILL']) {
    const bench = await openClosed(t);
    const shell = bench.shell();
    const done = shell.run(`${STOPPABLE} cat ${bench.secret}/config & wait $!; echo status $?`);
    const asked = await bench.prompter.next();
    process.kill(asked.question.request.subject.pid, `SIG${signal}`);
    await until(bench.session, () => bench.session.snapshot().pending.length === 0);
    assert.match((await done).output, /status (?:130|143|137)/u);
  }
});

test('a write to a closed place waits, too, "once" makes it, and shows nothing of what is there', async (t) => {
  const bench = await openClosed(t);
  const shell = bench.shell();
  const config = `${bench.secret}/config`;
  assert.equal((await answering(bench, shell, `echo more >> ${config}`, 'once')).code, 0);
  assert.equal(fs.readFileSync(config, 'utf8'), 'the secret\nmore\n');
  const reading = await answering(bench, shell, `cat 0<> ${config}`, 'once');
  assert.notEqual(reading.code, 0);
  assert.doesNotMatch(reading.output, /the secret/u);
  assert.notEqual((await answering(bench, shell, `echo x > ${bench.secret}/new`, 'deny')).code, 0);
  assert.equal(fs.existsSync(`${bench.secret}/new`), false);
});

test('where only roots are read, a write elsewhere waits as well', async (t) => {
  const bench = await open(t, { filesystem: { read: 'roots' } });
  const shell = bench.shell();
  assert.equal((await answering(bench, shell, `echo hi > ${bench.elsewhere}/x`, 'once')).code, 0);
  assert.equal(bench.onHost('x'), 'hi\n');
  assert.notEqual(
    (await answering(bench, shell, `echo no > ${bench.elsewhere}/y`, 'deny')).code,
    0,
  );
  assert.equal(bench.onHost('y'), undefined);
});
