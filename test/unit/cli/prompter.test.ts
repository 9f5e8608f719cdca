import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTerminalPrompter, summary } from '../../../src/cli/prompter.js';
import type { Question } from '../../../src/broker/prompter.js';
import type { Terminal } from '../../../src/cli/terminal.js';

const question: Question = {
  id: 'q',
  request: {
    run: 'r',
    subject: {
      pid: 4711,
      executable: '/usr/bin/curl',
      arguments: ['curl', '-sS', 'https://example.com'],
      directory: '/ws',
      chain: [
        { pid: 4711, name: 'curl' },
        { pid: 4700, name: 'sh' },
      ],
    },
    because: null,
    action: 'connect',
    object: { host: 'example.com', port: 443 },
  },
  wish: 'reach example.com:443',
  offers: ['once', 'run', 'session', 'always'],
  wider: null,
  always: [{ effect: 'allow', setting: 'network.allow', entry: 'example.com:443' }],
  never: [],
  waiting: 1,
  command: ['sh', 'script'],
  rule: 'network.mode is ask (built-in default)',
  privateAddresses: [],
  places: [],
  askedAt: 0,
  expiresAt: 1,
};

interface Script {
  readonly open: () => Terminal;
  readonly written: () => string;
  readonly disposed: () => number;
}

/** A terminal at which somebody types `lines`, and then nothing until the question is over. */
function typing(...lines: readonly string[]): Script {
  const left = [...lines];
  let written = '';
  let disposed = 0;
  return {
    written: () => written,
    disposed: () => disposed,
    open: () => ({
      write: (text) => {
        written += text;
      },
      readLine: (signal) => {
        const line = left.shift();
        if (line !== undefined) return Promise.resolve(line);
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve(undefined);
          });
        });
      },
      dispose: () => {
        disposed += 1;
      },
    }),
  };
}

const never = new AbortController().signal;

test('each word and its letter is one answer', async () => {
  const expected = {
    o: 'once',
    once: 'once',
    r: 'run',
    run: 'run',
    s: 'session',
    session: 'session',
    a: 'always',
    always: 'always',
    d: 'deny',
    deny: 'deny',
    n: 'denyRun',
    no: 'denyRun',
    ' A ': 'always',
  };
  for (const [line, kind] of Object.entries(expected)) {
    const script = typing(line);
    assert.deepEqual(await createTerminalPrompter(script.open).ask(question, never), { kind });
    assert.equal(script.disposed(), 1);
  }
});

test('anything else is asked again: a person may have been typing for the program', async () => {
  const script = typing('', 'yarn', 'y', 'aa', 'o d', '\u0430', 'd');
  assert.deepEqual(await createTerminalPrompter(script.open).ask(question, never), {
    kind: 'deny',
  });
  assert.equal(script.written().match(/details: /g)?.length, 7);
});

test('the question names program, host and port, and details name the rest', async () => {
  const script = typing('?', 'd');
  await createTerminalPrompter(script.open).ask(question, never);
  assert.equal(
    script.written(),
    `
cordon: curl (4711) wants to reach example.com:443
cordon: (o)nce, (r)un, (s)ession, (a)lways, (d)eny, (n)o to all; (?) details:   program       /usr/bin/curl (4711)
  started as    curl -sS https://example.com
  by            curl (4711) < sh (4700)
  in            /ws
  run           sh script
  asked because network.mode is ask (built-in default)
  always writes example.com:443 to network.allow
cordon: (o)nce, (r)un, (s)ession, (a)lways, (d)eny, (n)o to all; (?) details: `,
  );
});

test('a question that is over is taken down', async () => {
  const over = new AbortController();
  const script = typing();
  const answer = createTerminalPrompter(script.open).ask(question, over.signal);
  over.abort();
  assert.deepEqual(await answer, { kind: 'dismissed' });
  assert.match(script.written(), /the question is over/);
  assert.equal(script.disposed(), 1);
});

test('a terminal that is gone is no answer, and is left alone', async () => {
  let disposed = false;
  const prompter = createTerminalPrompter(() => ({
    write: () => undefined,
    readLine: () => Promise.reject(new Error('the terminal is gone')),
    dispose: () => (disposed = true),
  }));
  await assert.rejects(prompter.ask(question, never), /gone/);
  assert.ok(disposed);
});

test('text of programs stays on its line, whatever is in it', () => {
  const evil = {
    ...question,
    request: {
      ...question.request,
      subject: { ...question.request.subject, executable: '/ws/\x1b[2Jx\ncordon: safe\u202e' },
    },
  };
  assert.doesNotMatch(summary(evil), /[\x00-\x1f\x7f-\x9f\u202e]/);
});

test('calls that wait, and a name that leads to this machine, are told', () => {
  const more = { ...question, waiting: 3, places: ['127.0.0.1 (this machine)'] };
  assert.equal(
    summary(more),
    'curl (4711) wants to reach example.com:443, which is 127.0.0.1 (this machine), 3 calls wait',
  );
});
