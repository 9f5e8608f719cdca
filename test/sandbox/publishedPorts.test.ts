// Servers inside that the host may reach: asked about without holding them up, on loopback only, and closed again by
// whatever ends them. The launcher is driven by frames, so that each answer comes when the test says so.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { answerTo } from '../support/asked.js';
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
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.after(async () => {
    peer.process.kill('SIGKILL');
    await peer.ended;
    rmSync(cwd, { recursive: true });
  });
  return peer;
}

/** Servers that say `hello` and what they were told, one at each address, and do what they are told on their input. */
const serve = (port: number, addresses: readonly string[] = ['127.0.0.1']): string => `
  const net = require('node:net');
  const listen = (port, host) => net.createServer({ allowHalfOpen: true }, (c) => {
    c.on('error', () => undefined).on('end', () => c.end()).on('data', (d) => c.write('hello ' + d));
  }).listen({ port, host, ipv6Only: true });
  const servers = ${JSON.stringify(addresses)}.map((host) => listen(${port}, host));
  process.stdin.on('data', (code) => eval(String(code)));
`;

function tell(peer: Peer, code: string): void {
  peer.process.stdin?.write(code);
}

function answer(peer: Peer, ask: Frame, effect: 'allow' | 'deny'): void {
  peer.send(answerTo(ask, effect));
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
    const [port, later] = [await freePort(), await freePort()];
    const peer = await run(t, serve(port, ['127.0.0.1', '::1']));
    await peer.frame('ask');
    tell(peer, `listen(${later}, '127.0.0.1')`);
    assert.deepEqual((await peer.frame('ask', 1))['object'], { port: later });
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
    const [port, later] = [await freePort(), await freePort()];
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'deny');
    tell(peer, `listen(${later}, '127.0.0.1')`);
    await peer.frame('ask', 1);
    assert.equal(await talk(port), 'ECONNREFUSED');
    tell(peer, 'process.exit()');
    const { frames, code } = await peer.ended;
    assert.equal(code, 0);
    assert.ok(frames.every(({ kind }) => kind !== 'published'));
  });

  test('but a server that was refused and is started again is asked about again', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'deny');
    tell(peer, `servers[0].close(() => listen(${port}, '127.0.0.1'))`);
    const again = await peer.frame('ask', 1);
    assert.deepEqual(again['object'], { port });
  });

  for (const [name, listen, mode] of [
    ['for a port that the kernel chose', "{ port: 0, host: '127.0.0.1' }", 'ask'],
    ['for a socket that is no port', "'/tmp/s'", 'ask'],
    ['for an address that is not loopback', "{ port: 5173, host: '198.18.0.1' }", 'ask'],
    ['where listening is private', "{ port: 5173, host: '127.0.0.1' }", 'private'],
  ] as const) {
    test(name, async (t) => {
      const planned = await freePort();
      // The planned port is published after whatever the first listener could have raised.
      const script = `const net = require('node:net');
        net.createServer().on('error', (e) => { console.error(e.code); process.exit(1); })
          .listen(${listen}, () => net.createServer().listen(${planned}, '127.0.0.1'));
        process.stdin.on('data', () => process.exit());`;
      const peer = await run(t, script, { mode, ports: [planned] });
      await peer.frame('published');
      tell(peer, 'end');
      const { frames, code, stderr } = await peer.ended;
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(
        frames.map(({ kind }) => kind),
        ['hello', 'ready', 'published', 'unpublished', 'exit'],
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
  test('with the server', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    tell(peer, 'servers[0].close()');
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
    const peer = await run(t, serve(port));
    answer(peer, await peer.frame('ask'), 'allow');
    await peer.frame('published');
    tell(peer, 'process.exit()');
    const { frames } = await peer.ended;
    assert.deepEqual(
      frames.slice(-2).map(({ kind }) => kind),
      ['unpublished', 'exit'],
    );
    assert.equal(await talk(port), 'ECONNREFUSED');
  });

  test('a question whose server is gone is withdrawn', async (t) => {
    const port = await freePort();
    const peer = await run(t, serve(port));
    const ask = await peer.frame('ask');
    tell(peer, 'servers[0].close()');
    assert.deepEqual(await peer.frame('withdraw'), { kind: 'withdraw', id: ask['id'] });
  });
});
