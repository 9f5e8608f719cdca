// `cordon request`: a program asks beforehand. The frame is answered by rule, by what is open, or by a person; the
// socket that it is said to decides nothing and cannot be worn out.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { answerAll, answerTo, asked } from '../support/asked.js';
import { launch, planFor, startLauncher } from '../support/launcherPeer.js';
import type { Ended, Frame } from '../support/launcherPeer.js';
import type { TestContext } from 'node:test';

/** Says each of its arguments as a frame on a connection of its own, and prints what it hears. */
const CLIENT = `
const net = require('node:net');
const say = (text) => new Promise((resolve) => {
  const socket = net.connect('\\0cordon.request');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(Buffer.byteLength(text));
  let heard = Buffer.alloc(0);
  socket.on('error', (error) => resolve(error.code));
  socket.on('data', (data) => { heard = Buffer.concat([heard, data]); });
  socket.on('close', () => resolve(heard.subarray(4).toString()));
  socket.write(Buffer.concat([length, Buffer.from(text)]));
});
(async () => { for (const text of process.argv.slice(1)) console.log(await say(text)); })();
`;

function place(t: TestContext): string {
  const folder = mkdtempSync(path.join(os.homedir(), 'r-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(path.join(folder, 'ws'));
  return folder;
}

const request = (want: readonly unknown[], because = 'to build'): string =>
  JSON.stringify({ kind: 'request', want, because });

async function say(
  folder: string,
  texts: readonly string[],
  reply: (frame: Frame) => Frame | undefined,
  parts: Readonly<Record<string, unknown>> = {},
): Promise<Ended & { readonly heard: readonly unknown[] }> {
  const cwd = path.join(folder, 'ws');
  const ended = await launch([process.execPath, '-e', CLIENT, ...texts], {
    cwd,
    plan: planFor(cwd, parts),
    reply,
  });
  const lines = ended.stdout.trimEnd().split('\n');
  return { ...ended, heard: lines.map((line) => (line ? JSON.parse(line) : line) as unknown) };
}

const results = (...each: readonly (readonly [effect: string, reason: string])[]): unknown => ({
  kind: 'decision',
  results: each.map(([effect, reason]) => ({ effect, reason, message: null })),
});

describe('a request', () => {
  test('becomes questions with the program’s own words, and gets their answers', async (t) => {
    const folder = place(t);
    const path_ = path.join(folder, 'elsewhere');
    mkdirSync(path_);
    const wants = [
      { access: 'write', path: path_ },
      { access: 'socket', path: '/nowhere/docker.sock' },
      { host: 'example.com', port: 443 },
      { host: '192.0.2.1', port: 22 },
      { publish: 5173 },
    ];
    const { heard, frames } = await say(
      folder,
      [request(wants)],
      (frame) =>
        frame.kind === 'ask'
          ? answerTo(frame, frame['action'] === 'connect' ? 'deny' : 'allow')
          : undefined,
      {
        network: { mode: 'ask', rules: [], hostPorts: [] },
        publish: { mode: 'ask', ports: [] },
      },
    );
    assert.deepEqual(heard, [
      results(
        ['allow', 'user'],
        ['allow', 'user'],
        ['deny', 'user'],
        ['deny', 'user'],
        ['allow', 'user'],
      ),
    ]);
    const asks = frames.filter(({ kind }) => kind === 'ask');
    assert.deepEqual(new Set(asks.map((ask) => ask['because'])), new Set(['to build']));
    const objects = new Map(
      asked(frames).map(([action, object]) => [JSON.stringify(object), action]),
    );
    assert.equal(asked(frames).length, wants.length);
    assert.equal(
      objects.get(JSON.stringify({ path: '/nowhere/docker.sock', call: 'connect' })),
      'socket',
    );
    assert.equal(objects.get(JSON.stringify({ host: 'example.com', port: 443 })), 'connect');
    assert.equal(objects.get(JSON.stringify({ address: '192.0.2.1', port: 22 })), 'connect');
    assert.equal(objects.get(JSON.stringify({ port: 5173 })), 'publish');
  });

  test('all its questions stand at the same time', async (t) => {
    const folder = place(t);
    const cwd = path.join(folder, 'ws');
    const wants = [1, 2, 3].map((port) => ({ host: 'example.com', port }));
    const peer = await startLauncher([process.execPath, '-e', CLIENT, request(wants)], {
      cwd,
      plan: planFor(cwd, { network: { mode: 'ask', rules: [], hostPorts: [] } }),
    });
    const asks = await Promise.all([0, 1, 2].map((others) => peer.frame('ask', others)));
    for (const ask of asks) peer.send(answerTo(ask, 'allow'));
    assert.deepEqual(JSON.parse((await peer.ended).stdout), results(['allow', 'user'], ['allow', 'user'], ['allow', 'user'])); // prettier-ignore
  });

  test('is answered at once where a rule or an open place does', async (t) => {
    const folder = place(t);
    const wants = [
      { access: 'write', path: path.join(folder, 'ws', 'new') },
      { access: 'read', path: '/etc/passwd' },
      { access: 'socket', path: '/run/closed/s' },
      { access: 'socket', path: '/run/open/s' },
      { host: 'example.com', port: 443 },
      { publish: 5173 },
    ];
    const { heard, frames } = await say(folder, [request(wants)], answerAll('allow'), {
      sockets: { rules: [{ effect: 'deny', path: '/run/closed' }], agents: [] },
      opens: [{ access: 'socket', path: '/run/open' }],
    });
    assert.deepEqual(heard, [
      results(
        ['allow', 'rule'],
        ['allow', 'rule'],
        ['deny', 'rule'],
        ['allow', 'grant'],
        ['deny', 'rule'],
        ['deny', 'rule'],
      ),
    ]);
    assert.deepEqual(asked(frames), []);
  });

  test('that opens a place has opened it when it is answered', async (t) => {
    const folder = place(t);
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'file'), 'old');
    const { heard } = await say(
      folder,
      [
        request([{ access: 'write', path: elsewhere }]),
        request([{ access: 'write', path: path.join(elsewhere, 'file') }]),
      ],
      (frame) =>
        frame.kind === 'ask'
          ? answerTo(frame, 'allow', [{ access: 'write', path: elsewhere }])
          : undefined,
    );
    assert.deepEqual((heard[0] as { results: unknown[] }).results[0], {
      effect: 'allow',
      reason: 'user',
      message: null,
    });
    assert.equal((heard[1] as { results: { effect: string }[] }).results[0]?.effect, 'allow');
  });
});

describe('what is no request', () => {
  const malformed = {
    kind: 'error',
    code: 'malformedFrame',
    message: 'not a request as it should be',
  };

  test('is refused, whatever is wrong with it', async (t) => {
    const folder = place(t);
    const texts = [
      '',
      '{',
      '{}',
      '{"kind":"answer"}',
      request([]),
      request([{}]),
      request([{ access: 'everything', path: '/' }]),
      request([{ access: 'write', path: 'relative' }]),
      request([{ access: 'write', path: '/a/../b' }]),
      request([{ host: 'example.com', port: 0 }]),
      request([{ host: 'a b', port: 1 }]),
      request([{ publish: 0 }]),
      request([{ publish: 5173, extra: 1 }]),
      request(Array.from({ length: 33 }, () => ({ publish: 5173 }))),
      request([{ publish: 5173 }], 'x'.repeat(4001)),
    ];
    const { heard, frames } = await say(folder, texts, answerAll('allow'));
    assert.deepEqual(
      heard,
      texts.map(() => malformed),
    );
    assert.deepEqual(asked(frames), []);
  });

  test('a client that leaves takes its question with it', async (t) => {
    const folder = place(t);
    const cwd = path.join(folder, 'ws');
    const script = `
      const net = require('node:net');
      const text = ${JSON.stringify(request([{ host: 'example.com', port: 443 }]))};
      const length = Buffer.alloc(4); length.writeUInt32LE(text.length);
      const socket = net.connect('\\0cordon.request', () => socket.write(Buffer.concat([length, Buffer.from(text)])));
      process.stdin.on('data', () => socket.destroy());`;
    const peer = await startLauncher([process.execPath, '-e', script], {
      cwd,
      plan: planFor(cwd, { network: { mode: 'ask', rules: [], hostPorts: [] } }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const ask = await peer.frame('ask');
    peer.process.stdin?.write('leave');
    assert.deepEqual(await peer.frame('withdraw'), { kind: 'withdraw', id: ask['id'] });
    peer.process.stdin?.end();
    await peer.ended;
  });

  test('hundreds that say nothing keep nobody else from connecting to the network', async (t) => {
    const folder = place(t);
    const cwd = path.join(folder, 'ws');
    const script = `
      const net = require('node:net');
      const silent = Array.from({ length: 300 }, () => net.connect('\\0cordon.request').on('error', () => undefined));
      const server = net.createServer((c) => c.end('served')).listen(0, '127.0.0.1', () =>
        net.connect(server.address().port, '127.0.0.1').on('data', (d) => { console.log(String(d)); process.exit(); }));`;
    const { stdout } = await launch([process.execPath, '-e', script], { cwd, plan: planFor(cwd) });
    assert.equal(stdout, 'served\n');
  });
});
