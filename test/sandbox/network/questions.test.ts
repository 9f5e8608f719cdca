// Calls that are held while a person thinks: what the program notices of it, and what an answer opens and for how long.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { readEvents, waitForEvent } from '../../support/events.js';
import { createWorld } from '../../support/netns.js';
import { buildPrograms, script } from '../../support/programs.js';
import type { World } from '../../support/netns.js';
import type { Program } from '../../support/programs.js';

let world: World;
let program: (name: Program) => string;

before(async () => {
  world = await createWorld();
  program = await buildPrograms(path.join(world.folder, 'programs'), ['sockets', 'httpget']);
});
beforeEach(() => world.forget());
after(() => world.close());

const HELLO = /^hello\r?$/mu;
const get = (host: string) => ['curl', '-sS', `http://${host}/hello`];
const twice = (host: string) => ['sh', '-c', `${get(host).join(' ')}; ${get(host).join(' ')}`];

function countHello(stdout: string): number {
  return stdout.match(/^hello\r?$/gmu)?.length ?? 0;
}

describe('a connect held for three seconds is survived by', { concurrency: 4 }, () => {
  const rows: readonly (readonly [name: string, argv: () => readonly string[]])[] = [
    [
      'curl with a time limit of one',
      () => ['curl', '-sS', '--connect-timeout', '1', 'http://h0.example.com/hello'],
    ],
    [
      'node fetch',
      () => [
        'node',
        '-e',
        "fetch('http://h1.example.com/hello').then((r) => r.text()).then(console.log)",
      ],
    ],
    [
      'python requests with a time limit of one',
      () => [
        '/usr/bin/python3',
        '-c',
        "import requests; print(requests.get('http://h2.example.com/hello', timeout=1).text)",
      ],
    ],
    ['Go net/http', () => [program('httpget'), 'http://h3.example.com/hello']],
    [
      'a timer whose signals interrupt calls',
      () => [program('sockets'), 'alarm', 'h4.example.com'],
    ],
    [
      'a timer whose signals restart calls',
      () => [program('sockets'), 'alarm-restart', 'h5.example.com'],
    ],
  ];
  for (const [name, argv] of rows) {
    test(name, async () => {
      const { stdout, questions } = await world.answering('o', 3, [], argv());
      assert.match(stdout, HELLO);
      assert.equal(questions, 1);
    });
  }
});

test('200 connects at once to one host are one question', async () => {
  const argv = [program('sockets'), 'many', 'web.example.com'];
  const { stdout, questions } = await world.answering('r', 1, [], argv);
  assert.match(stdout, HELLO);
  assert.equal(questions, 1);
});

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a program that ${signal} ends while it is held takes its question with it`, async () => {
    const events = path.join(world.folder, `${signal}.jsonl`);
    const argv = ['sh', '-c', `"$0" blocking web.example.com; echo status $?`, program('sockets')];
    const held = world.answering('-', 0, ['--events', events], argv);
    const { subject } = await waitForEvent(events, 'request');
    process.kill(subject.pid, signal);
    const { stdout } = await held;
    assert.match(stdout, new RegExp(`status ${signal === 'SIGTERM' ? 143 : 137}`, 'u'));
    const answers = (await readEvents(events)).filter((line) => line.kind === 'answer');
    assert.deepEqual(
      answers.map(({ effect, reason }) => ({ effect, reason })),
      [{ effect: 'deny', reason: 'withdrawn' }],
    );
    assert.deepEqual((await world.seen()).connections, []);
  });
}

test('an open question holds no other call', async () => {
  const allow = ['--allow', 'api.example.com'];
  const { stdout, questions } = await world.answering('-', 0, allow, [
    'sh', '-c',
    `${get('web.example.com').join(' ')} & sleep 0.5; ${get('api.example.com').join(' ')}; getent hosts h1.example.com >/dev/null && echo named; kill $!`,
  ]); // prettier-ignore
  assert.match(stdout, /hello\r*$/mu); // on the line of the question, which stands open
  assert.match(stdout, /^named\r*$/mu);
  assert.equal(questions, 1);
});

test('no answer in time is a refusal that says so', async () => {
  const policy = path.join(world.folder, 'impatient.json');
  await writeFile(policy, JSON.stringify({ approvals: { timeout: 5 } }));
  const events = path.join(world.folder, 'impatient.jsonl');
  const { stdout } = await world.answering('-', 0, ['--policy', policy, '--events', events], [
    program('sockets'), 'blocking', 'web.example.com',
  ]); // prettier-ignore
  assert.match(stdout, /errno 13/u);
  assert.match(stdout, /web\.example\.com/u);
  const answer = (await readEvents(events)).find((line) => line.kind === 'answer');
  assert.equal(answer?.kind === 'answer' && answer.reason, 'noAnswer');
});

describe('an answer', () => {
  test('once is for the connections that wait, not for later ones', async () => {
    const { stdout, questions } = await world.answering('o', 0, [], twice('web.example.com'));
    assert.deepEqual({ hello: countHello(stdout), questions }, { hello: 2, questions: 2 });
  });

  test('for the run is for its host and port until the run ends', async () => {
    const { stdout, questions } = await world.answering('r', 0, [], twice('web.example.com'));
    assert.deepEqual({ hello: countHello(stdout), questions }, { hello: 2, questions: 1 });
    const again = await world.cordon(['--ask', 'deny'], get('web.example.com'));
    assert.notEqual(again.code, 0);
  });

  test('for one host or port is for no other', async () => {
    const targets = [
      'http://web.example.com/',
      'http://api.example.com/',
      'https://web.example.com/',
    ];
    const { questions } = await world.answering('r', 0, [], ['curl', '-sS', ...targets]);
    assert.equal(questions, 3);
  });

  test('deny is EACCES at connect, and nothing was dialled', async () => {
    const { stdout, questions } = await world.answering(
      'd',
      0,
      [],
      [program('sockets'), 'blocking', 'web.example.com'],
    );
    assert.match(stdout, /errno 13/u);
    assert.equal(questions, 1);
    assert.deepEqual((await world.seen()).connections, []);
  });

  test('always is kept in the settings of the user, for the next run too', async () => {
    const first = await world.answering('a', 0, [], get('h9.example.com'));
    assert.match(first.stdout, HELLO);
    const { stdout } = await world.cordon(['--ask', 'deny'], get('h9.example.com'));
    assert.equal(stdout, 'hello\n');
    assert.notEqual((await world.cordon(['--ask', 'deny'], get('h8.example.com'))).code, 0);
  });
});

test('a script that only looks a name up is not asked about', async () => {
  const { questions } = await world.answering('d', 0, [], ['getent', 'hosts', 'web.example.com']);
  assert.equal(questions, 0);
  assert.deepEqual((await world.seen()).queries, []);
});

test('node programs of 50 requests to ten hosts are ten questions', async () => {
  const { stdout, questions } = await world.answering(
    'r',
    0,
    [],
    ['node', script('fetch.mjs'), '50', 'example.com'],
  );
  assert.match(stdout, /^50\r?$/mu);
  assert.equal(questions, 10);
});
