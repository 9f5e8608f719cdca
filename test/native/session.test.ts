// A real session with the real launcher: started by it, or finding it by its registration.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import type { AbsolutePath } from '../../src/policy/paths.js';
import { LAUNCHER_VERSION } from '../../src/launch/probe.js';
import {
  createRealPlace as createPlace,
  dist,
  openRealSession as open,
  program,
} from '../support/realSession.js';
import { until } from '../support/sessionBench.js';

const root = path.resolve(import.meta.dirname, '../..');

type Test = Parameters<typeof createPlace>[0];

/** A server of this machine that says one line to whoever connects. */
async function listen(t: Test, line: string): Promise<number> {
  const server = net.createServer((socket) => socket.end(`${line}\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
  });
  return (server.address() as net.AddressInfo).port;
}

/** Reads a line from host:port into the file `got`. */
const fetchLine = (host: string, port: number): string =>
  `exec 3<>/dev/tcp/${host}/${port} && read -r line <&3 && echo "$line" > got`;

const exits: readonly (readonly [name: string, command: readonly string[], exit: object])[] = [
  ['a success', ['true'], { kind: 'exited', status: { exited: 0 }, exitCode: 0 }],
  ['a status', ['sh', '-c', 'exit 3'], { kind: 'exited', status: { exited: 3 }, exitCode: 3 }],
  [
    'a signal',
    ['sh', '-c', 'kill -KILL $$'],
    { kind: 'exited', status: { signalled: 9 }, exitCode: 137 },
  ],
];

for (const [name, command, expected] of exits) {
  test(`a run that was started here ends as its command does: ${name}`, async (t) => {
    const place = createPlace(t);
    const { session } = await open(t, place, { brokerLoss: 'end' });
    const run = session.start(command, { directory: place.workspace, stdio: 'ignore' });
    assert.deepEqual(await run.exited, expected);
  });
}

for (const [name, command, code] of [
  ['a program that is not there', ['/nowhere/at-all'], 127],
  ['a file that is no program', ['/etc/passwd'], 126],
] as const) {
  test(`${name} ends with ${code} and is said by the launcher`, async (t) => {
    const place = createPlace(t);
    const { session } = await open(t, place, { brokerLoss: 'end' });
    const run = session.start(command, { directory: place.workspace, stdio: 'ignore' });
    const exit = await run.exited;
    assert.equal(exit.exitCode, code);
    if (exit.kind === 'failed') assert.equal(exit.shown, true);
  });
}

test('a run can be stopped, and the first reason stands', async (t) => {
  const place = createPlace(t);
  const { session } = await open(t, place, { brokerLoss: 'end' });
  const run = session.start(['sleep', '100'], { directory: place.workspace, stdio: 'ignore' });
  await until(session, () => session.snapshot().runs[0]?.state === 'running');
  const ends = await Promise.all([run.stop('user'), run.stop('limit'), run.exited]);
  for (const exit of ends)
    assert.deepEqual([exit.kind, 'reason' in exit && exit.reason], ['stopped', 'user']);
});

test('a run that is stopped before it began runs nothing', async (t) => {
  const place = createPlace(t);
  const { session } = await open(t, place, { brokerLoss: 'end' });
  const run = session.start(['touch', 'ran'], { directory: place.workspace, stdio: 'ignore' });
  assert.equal((await run.stop('user')).kind, 'stopped');
  assert.deepEqual(fs.readdirSync(place.workspace), []);
});

test('closing a session ends what it started', async (t) => {
  const place = createPlace(t);
  const { session } = await open(t, place, { brokerLoss: 'end' });
  const run = session.start(['sleep', '100'], { directory: place.workspace, stdio: 'ignore' });
  await until(session, () => session.snapshot().runs[0]?.state === 'running');
  await session.close();
  const exit = await run.exited;
  assert.deepEqual([exit.kind, 'reason' in exit && exit.reason], ['stopped', 'sessionClosed']);
});

for (const [name, script] of [
  ['a program that knows no probe', '#!/bin/sh\ntouch "$0.ran"\n'],
  [
    'a launcher of another version',
    `#!/bin/sh\n[ "$1" = --probe ] || { touch "$0.ran"; exit 0; }\necho '{"protocol":1,"version":"${LAUNCHER_VERSION}-old","problem":null,"overlay":true,"gaps":[],"landlock":1,"features":{}}'\n`,
  ],
] as const) {
  test(`C014: ${name} in the launcher's place is not given the command`, async (t) => {
    const place = createPlace(t);
    const other = path.join(place.state, 'dist');
    const file = path.join(other, program);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, script, { mode: 0o755 });
    const { session } = await open(t, place, { brokerLoss: 'end', dist: other as AbsolutePath });
    const run = session.start(['touch', 'ran'], { directory: place.workspace, stdio: 'ignore' });
    const exit = await run.exited;
    assert.deepEqual([exit.kind, exit.exitCode], ['failed', 125]);
    assert.match(exit.kind === 'failed' ? exit.message : '', /npm run build:native/u);
    assert.deepEqual(fs.readdirSync(place.workspace), []);
    // The first one is asked for its probe, and nothing else.
    if (name.includes('version')) assert.equal(fs.existsSync(`${file}.ran`), false);
  });
}

test('the version is the same in the launcher, in TypeScript and in package.json', () => {
  const about = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const header = fs.readFileSync(path.join(root, 'native/common/cordon.h'), 'utf8');
  assert.equal(LAUNCHER_VERSION, about.version);
  assert.match(header, new RegExp(`CORDON_VERSION "${LAUNCHER_VERSION}"`, 'u'));
});

test('a launcher that was started by nobody of ours finds the session of its folder', async (t) => {
  const place = createPlace(t);
  const { session } = await open(t, place);
  const child = spawn(path.join(dist, program), ['--', 'sh', '-c', 'echo inside > ok; exit 4'], {
    cwd: place.workspace,
    env: place.environment,
    stdio: 'ignore',
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(code, 4);
  assert.equal(fs.readFileSync(path.join(place.workspace, 'ok'), 'utf8'), 'inside\n');
  await until(session, () => session.snapshot().runs[0]?.exit !== undefined);
  assert.equal(session.snapshot().runs[0]?.exit?.exitCode, 4);
});

test('a held call is asked about, answered, and reaches the server that was approved', async (t) => {
  const place = createPlace(t);
  const port = await listen(t, 'hello from the host');
  const { session, prompter } = await open(t, place, {
    brokerLoss: 'end',
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  const run = session.start(['bash', '-c', fetchLine('example.test', port)], {
    directory: place.workspace,
    stdio: 'ignore',
  });
  const first = await prompter.next();
  assert.deepEqual(first.question.request.object, { host: 'example.test', port });
  assert.equal(path.basename(first.question.request.subject.executable), 'bash');
  first.answer({ kind: 'once' });
  const second = await prompter.next();
  assert.deepEqual(second.question.privateAddresses, ['127.0.0.1']);
  second.answer({ kind: 'once' });
  assert.equal((await run.exited).exitCode, 0);
  assert.equal(fs.readFileSync(path.join(place.workspace, 'got'), 'utf8'), 'hello from the host\n');
});

test('a program that is killed while its call is held withdraws the question', async (t) => {
  const place = createPlace(t);
  const { session, prompter } = await open(t, place, { brokerLoss: 'end' });
  const script = `bash -c '${fetchLine('example.test', 80)}' & pid=$!; until [ -e go ]; do sleep 0.05; done; kill -9 $pid; wait $pid; exit 0`;
  const run = session.start(['bash', '-c', script], {
    directory: place.workspace,
    stdio: 'ignore',
  });
  const { signal } = await prompter.next();
  fs.writeFileSync(path.join(place.workspace, 'go'), '');
  await until(session, () => session.snapshot().pending.length === 0);
  assert.equal(signal.aborted, true);
  assert.equal((await run.exited).exitCode, 0);
});

test('a run outlives its session, comes back to the next one, and its grant with it', async (t) => {
  const place = createPlace(t);
  const port = await listen(t, 'again');
  const resolve = (): Promise<readonly string[]> => Promise.resolve(['127.0.0.1']);
  const before = await open(t, place, { resolve });
  const script = `(${fetchLine('one.test', port)}); until [ -e go ]; do sleep 0.05; done; rm got; (${fetchLine('one.test', port)}) && (${fetchLine('two.test', port)})`;
  const child = spawn(path.join(dist, program), ['--', 'bash', '-c', script], {
    cwd: place.workspace,
    env: place.environment,
    stdio: 'ignore',
  });
  const ended = new Promise((settle) => child.once('exit', settle));
  (await before.prompter.next()).answer({ kind: 'run' });
  (await before.prompter.next()).answer({ kind: 'run' });
  await until(before.session, () =>
    before.session.snapshot().grants.some((grant) => grant.privateAddresses.length > 0),
  );
  await before.session.close();

  const next = await open(t, place, { resolve });
  await until(next.session, () => next.session.snapshot().runs[0]?.state === 'running');
  fs.writeFileSync(path.join(place.workspace, 'go'), '');
  // Only the name that was never allowed is a question.
  const { question, answer } = await next.prompter.next();
  assert.deepEqual(question.request.object, { host: 'two.test', port });
  answer({ kind: 'deny' });
  assert.equal(await ended, 1);
  assert.equal(fs.readFileSync(path.join(place.workspace, 'got'), 'utf8'), 'again\n');
  assert.equal(next.prompter.asked.length, 1);
});
