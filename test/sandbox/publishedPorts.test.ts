// Servers inside that the host may reach: asked about without holding them up, on loopback only, and closed again by
// whatever ends them. The launcher is driven by frames, so that each answer comes when the test says so.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { planFor, startLauncher } from '../support/launcherPeer.js';
import type { Frame, Peer } from '../support/launcherPeer.js';
import type { TestContext } from 'node:test';

const ASK = { mode: 'ask', ports: [] };

/** A port of the host's loopback that nobody listens on now. */
async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs a script of Node's inside; `say` is what it has printed. */
async function run(
  t: TestContext,
  script: string,
  publish: Readonly<Record<string, unknown>> = ASK,
): Promise<Peer> {
  const cwd = mkdtempSync(path.join(os.homedir(), 'published-'));
  const peer = await startLauncher([process.execPath, '-e', script], {
    cwd,
    plan: planFor(cwd, { publish }),
  });
  t.after(async () => {
    peer.process.kill('SIGKILL');
    await peer.ended;
    rmSync(cwd, { recursive: true });
  });
  return peer;
}

/** A server that says `hello` and what it was told, at each of the addresses. */
const serve = (port: number, addresses: readonly string[] = ['127.0.0.1'], more = ''): string => `
  const net = require('node:net');
  let left = ${addresses.length};
  const servers = ${JSON.stringify(addresses)}.map((host) =>
    net.createServer({ allowHalfOpen: true }, (c) => {
      c.on('error', () => undefined).on('end', () => c.end()).on('data', (d) => c.write('hello ' + d));
    }).listen({ port: ${port}, host, ipv6Only: true }, () => { if (--left === 0) ready(); }));
  function ready() { console.log('ready'); ${more} }
`;

function answer(peer: Peer, ask: Frame, effect: 'allow' | 'deny'): void {
  peer.send({
    kind: 'answer',
    id: ask['id'],
    effect,
    reason: 'user',
    addresses: [],
    message: null,
    opens: [],
  });
}

/** What a client of the host hears, or the code of its error. */
function talk(port: number, host = '127.0.0.1', words = 'you'): Promise<string> {
  return new Promise((resolve) => {
    let heard = '';
    const socket = net.connect(port, host, () => socket.end(words));
    socket.on('data', (data) => (heard += data.toString()));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    socket.on('close', () => resolve(heard));
  });
}

/** A connection that stays; resolves with what ends it. */
async function hold(port: number): Promise<{ readonly ended: Promise<string> }> {
  const socket = net.connect(port, '127.0.0.1');
  const ended = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    socket.on('close', () => resolve('closed'));
  });
  socket.write('me');
  await new Promise((resolve) => socket.once('data', resolve));
  return { ended };
}

describe('a port is published after a question', () => {
  test('the server runs on meanwhile, and the host reaches it once that is allowed', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port));
    const ask = await peer.frame('ask');
    assert.deepEqual(
      [ask['action'], ask['object'], ask['rule'], ask['want'], ask['because']],
      ['publish', { port }, null, 'decision', null],
    );
    assert.equal(await talk(port), 'ECONNREFUSED');
    answer(peer, ask, 'allow');
    const published = await peer.frame('published');
    assert.deepEqual(published, { kind: 'published', port, hostPort: port, address: '127.0.0.1' });
    assert.equal(await talk(port), 'hello you');
    assert.equal(await talk(port, '::1'), 'hello you');
  });

  test('a server on ::1 alone is reached at both of the host’s addresses', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port, ['::1']));
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    assert.deepEqual([await talk(port), await talk(port, '::1')], ['hello you', 'hello you']);
  });

  test('a hundred connections at once are all carried', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    const words = Array.from({ length: 100 }, (_, at) => `${at}`);
    const heard = await Promise.all(words.map((word) => talk(port, '127.0.0.1', word)));
    assert.deepEqual(
      heard,
      words.map((word) => `hello ${word}`),
    );
  });

  test('another port of the host is used when this one is taken', async (t) => {
    const port = await freePort();
    const taken = net.createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    t.after(() => taken.close());
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'allow');
    const published = await peer.frame('published');
    assert.notEqual(published['hostPort'], port);
    assert.equal(await talk(Number(published['hostPort'])), 'hello you');
  });

  test('several listeners of one port are one question', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port, ['127.0.0.1', '::1'], 'setTimeout(process.exit, 300)'));
    const { frames } = await peer.ended;
    assert.equal(frames.filter(({ kind }) => kind === 'ask').length, 1);
  });

  test('a planned port needs no question', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port), { mode: 'private', ports: [port] });
    await peer.frame('published');
    assert.equal(await talk(port), 'hello you');
  });
});

describe('nothing is published', () => {
  test('when the answer is no', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port, ['127.0.0.1'], 'setTimeout(process.exit, 500)'));
    answer(peer, await peer.frame('ask'), 'deny');
    const { frames, code } = await peer.ended;
    assert.equal(code, 0);
    assert.deepEqual(
      frames.map(({ kind }) => kind).filter((kind) => /publish|ask/u.test(kind)),
      ['ask'],
    );
  });

  for (const [name, listen, publish] of [
    ['for a port that the kernel chose', "{ port: 0, host: '127.0.0.1' }", ASK],
    ['for a socket that is no port', "'/tmp/s'", ASK],
    ['for an address that is not loopback', "{ port: 5173, host: '198.18.0.1' }", ASK],
    [
      'where listening is private',
      "{ port: 5173, host: '127.0.0.1' }",
      { mode: 'private', ports: [] },
    ],
  ] as const) {
    test(name, async (t) => {
      const script = `require('node:net').createServer().listen(${listen}, () => setTimeout(process.exit, 300))
        .on('error', (e) => { console.error(e.code); process.exit(1); });`;
      const peer = await run(t, script, publish);
      const { frames, code, stderr } = await peer.ended;
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(
        frames.map(({ kind }) => kind),
        ['hello', 'ready', 'exit'],
      );
    });
  }

  test('for a privileged port, which cannot even be bound', async (t) => {
    const script = `require('node:net').createServer().on('error', (e) => console.log(e.code)).listen(80, '127.0.0.1')`;
    const { stdout, frames } = await (await run(t, script)).ended;
    assert.equal(stdout, 'EACCES\n');
    assert.ok(frames.every(({ kind }) => kind !== 'ask'));
  });

  test('to other hosts: only loopback listens', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port, ['0.0.0.0']));
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    const others = Object.values(os.networkInterfaces())
      .flat()
      .filter((one) => one !== undefined && !one.internal && one.family === 'IPv4')
      .map((one) => one?.address ?? '');
    for (const address of others) assert.equal(await talk(port, address), 'ECONNREFUSED');
    assert.equal(await talk(port), 'hello you');
  });
});

describe('a published port ends', () => {
  test('with the server, at the next connection', async (t) => {
    const port = await freePort();
    const peer = await run(
      t,
      serve(
        port,
        ['127.0.0.1'],
        "process.stdin.on('data', () => undefined); setTimeout(() => servers[0].close(), 1000); setTimeout(() => {}, 60000);",
      ),
    );
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    const unpublished = await peer.frame('unpublished');
    assert.deepEqual(unpublished, { kind: 'unpublished', port, reason: 'closed' });
    assert.equal(await talk(port), 'ECONNREFUSED');
  });

  test('when it is revoked, and its connections with it; the server runs on', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    const held = await hold(port);
    peer.send({ kind: 'revoke', connections: [], opens: [], ports: [port] });
    assert.equal(await held.ended, 'ECONNRESET');
    assert.deepEqual(await peer.frame('unpublished'), {
      kind: 'unpublished',
      port,
      reason: 'revoked',
    });
    assert.equal(await talk(port), 'ECONNREFUSED');
    assert.equal(peer.process.exitCode, null);
  });

  test('with the run, and that is told before its end', async (t) => {
    const port = await freePort();
    const peer = await run(
      t,
      serve(port, ['127.0.0.1'], 'const end = () => process.exit(); setTimeout(end, 1500);'),
    );
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    const { frames } = await peer.ended;
    assert.deepEqual(
      frames.slice(-2).map(({ kind }) => kind),
      ['unpublished', 'exit'],
    );
    assert.equal(await talk(port), 'ECONNREFUSED');
  });

  test('a question whose server is gone is withdrawn', async (t) => {
    const port = await freePort();
    const peer = await run(
      t,
      serve(port, ['127.0.0.1'], 'servers[0].close(); setTimeout(() => {}, 60000);'),
    );
    const ask = await peer.frame('ask');
    assert.deepEqual(await peer.frame('withdraw'), { kind: 'withdraw', id: ask['id'] });
  });
});
