import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside, attemptOutside, each } from '../support/breaches.js';
import { compiled, createPlace } from '../support/sandbox.js';
import type { Attempt } from '../support/breaches.js';
import type { TestContext } from 'node:test';

/** A stream server of the host; says whether anybody ever came. */
async function listenOn(t: TestContext, name: string): Promise<() => number> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.on('error', () => undefined).resume();
  });
  await new Promise<void>((resolve, reject) => {
    server.on('error', reject).listen(name, resolve);
  });
  t.after(() => server.close());
  return () => visits;
}

/** A datagram socket of the host: node has none, so a helper listens; resolves with what it got when the test ends. */
async function receiveOn(t: TestContext, name: string): Promise<() => string> {
  const child = spawn(compiled('receiver'), [name], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('ready\n')) resolve();
    });
  });
  return () => output.replace('ready\n', '');
}

test('no unix socket of the host can be reached, by path, pair or name, stream or datagram', async (t) => {
  const place = createPlace(t);
  const stream = path.join(place.outside, 's');
  const datagram = path.join(place.outside, 'd');
  const abstract = `cordon-test-${process.pid}`;
  const visits = await listenOn(t, stream);
  const named = await listenOn(t, `\0${abstract}`);
  const received = await receiveOn(t, datagram);
  const attempts: readonly Attempt[] = [
    ['unix-stream', stream],
    ['unix-stream', '../outside/s'],
    ['unix-stream', `/proc/self/root${stream}`],
    ['unix-stream', `@${abstract}`],
    ['unix-seqpacket', stream],
    ['unix-datagram', datagram],
    ['unix-pair', datagram],
    ['nested', 'unix-stream', stream],
    ['nested', 'unix-pair', datagram],
    ['unix-race', stream],
  ];
  const outcomes = await attemptInside(place, [], attempts);
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
  assert.deepEqual([visits(), named(), received()], [0, 0, '']);
  const works = attempts
    .filter(([name]) => name === 'unix-stream' || name === 'unix-pair')
    .filter(([, at]) => !at?.startsWith('/proc'));
  assert.deepEqual(await attemptOutside(place, works), each(works, 'done'), 'they are there');
});

test('a socket of the host inside the workspace is the host’s all the same', async (t) => {
  const place = createPlace(t);
  const socket = path.join(place.workspace, 's');
  const visits = await listenOn(t, socket);
  const outcomes = await attemptInside(
    place,
    [],
    [
      ['unix-stream', socket],
      ['unix-race', socket],
    ],
  );
  assert.deepEqual(
    Object.values(outcomes).filter((outcome) => outcome === 'done'),
    [],
  );
  assert.equal(visits(), 0);
});

test('programs of one run talk over unix sockets of their own, in the workspace and in /tmp', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.workspace, 'run'));
  const script = `
    const net = require('node:net');
    const ways = ['run/s', '/tmp/s', '\\0own'];
    let left = ways.length;
    for (const way of ways) {
      const server = net.createServer((c) => c.end('hello')).listen(way, () => {
        net.connect(way).on('data', (d) => { console.log(way.replace('\\0', '@'), String(d)); server.close(); })
          .on('error', (e) => { console.log(way, e.code); process.exit(1); });
      });
    }`;
  const result = await place.cordon([], [process.execPath, '-e', script]);
  assert.equal(result.code, 0, result.stderr);
  assert.deepEqual(result.stdout.trim().split('\n').sort(), [
    '/tmp/s hello',
    '@own hello',
    'run/s hello',
  ]);
});
