import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside, attemptOutside, each } from '../support/breaches.js';
import { createPlace } from '../support/sandbox.js';
import type { AddressInfo } from 'node:net';
import type { Attempt } from '../support/breaches.js';
import type { TestContext } from 'node:test';

interface HostServer {
  readonly port: number;
  readonly visits: () => number;
}

/** A web server of the host on all its addresses, v4 and v6. */
async function serveHttp(t: TestContext): Promise<HostServer> {
  let visits = 0;
  const server = createServer((_, response) => response.end('hello from the host\n'));
  server.on('connection', () => (visits += 1));
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, visits: () => visits };
}

async function serveUdp(t: TestContext): Promise<HostServer> {
  let visits = 0;
  const socket = createSocket('udp6').on('message', () => (visits += 1));
  await new Promise<void>((resolve) => socket.bind(0, '::', resolve));
  t.after(() => socket.close());
  return { port: socket.address().port, visits: () => visits };
}

/** Addresses under which this host reaches itself, and some that nobody has. */
function addresses(): readonly string[] {
  const own = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  const real = own
    .filter(({ address }) => !address.startsWith('fe80'))
    .map(({ address }) => address);
  return [...new Set([...real, '127.0.0.1', '127.0.0.53', '::1', '::ffff:127.0.0.1', '0.0.0.0'])];
}

const ELSEWHERE = [
  '192.0.2.1',
  '198.18.0.1',
  '169.254.169.254',
  '2001:db8::1',
  'fd00:ec2::254',
  '::ffff:192.0.2.1',
];

test('--network off leaves nothing reachable: TCP, UDP, fast open, IPv6 and mapped literals included', async (t) => {
  const place = createPlace(t);
  const web = await serveHttp(t);
  const udp = await serveUdp(t);
  const attempts = [...addresses(), ...ELSEWHERE].flatMap((address): readonly Attempt[] => [
    ['tcp', address, `${web.port}`],
    ['tcp-fast-open', address, `${web.port}`],
    ['nested', 'tcp', address, `${web.port}`],
    ['udp-connected', address, `${udp.port}`],
  ]);
  const outcomes = await attemptInside(place, ['--network', 'off'], attempts);
  const reached = Object.entries(outcomes).filter(
    // a connected UDP socket may send inside its own namespace; whether anything arrives is looked at below
    ([words, outcome]) => outcome === 'done' && !words.startsWith('udp'),
  );
  assert.deepEqual(reached, []);
  const script = `
    for host in example.com localhost; do curl -sS --max-time 5 http://$host:${web.port}/ && echo reached; done
    exit 0`;
  const { stdout, stderr } = await place.cordon(['--network', 'off'], ['sh', '-c', script]);
  assert.doesNotMatch(stdout, /reached/);
  assert.match(stderr, /cordon: .*example\.com/);
  assert.deepEqual([web.visits(), udp.visits()], [0, 0]);
  const works: readonly Attempt[] = [
    ['tcp', '127.0.0.1', `${web.port}`],
    ['tcp', '::1', `${web.port}`],
    ['udp', '::1', `${udp.port}`],
  ];
  assert.deepEqual(await attemptOutside(place, works), each(works, 'done'), 'they are there');
});

test('asked and denied: curl fails within a second, naming the host and what to do', async (t) => {
  const place = createPlace(t);
  const flags = ['--network', 'ask', '--ask', 'deny'];
  const warm = await place.cordon(flags, ['true']);
  assert.equal(warm.code, 0, warm.stderr);
  const started = performance.now();
  const result = await place.cordon(flags, ['curl', '-sS', 'https://example.com']);
  const seconds = (performance.now() - started) / 1000;
  assert.ok(result.code === 7 || result.code === 6, JSON.stringify(result));
  assert.match(result.stderr, /^cordon: .*example\.com.*--allow example\.com:443/m);
  assert.match(result.stderr, /^curl: .*example\.com/m);
  assert.equal(result.stdout, '');
  assert.ok(seconds < 1, `${seconds} s`);
});

test('--allow localhost:PORT lets that port of the host in, and no other', async (t) => {
  const place = createPlace(t);
  const web = await serveHttp(t);
  const other = await serveHttp(t);
  const flags = ['--network', 'ask', '--ask', 'deny', '--allow', `localhost:${web.port}`];
  const ways = ['localhost', '127.0.0.1', '[::1]'];
  const script = ways.map((way) => `curl -sS http://${way}:${web.port}/`).join(' && ');
  const result = await place.cordon(flags, ['sh', '-c', script]);
  assert.equal(result.stdout, 'hello from the host\n'.repeat(ways.length), result.stderr);
  const refused = await place.cordon(flags, ['curl', '-sS', `http://localhost:${other.port}/`]);
  assert.equal(refused.code, 7);
  assert.equal(other.visits(), 0);
});

test('a rule for one port of a literal opens that port alone', async (t) => {
  const place = createPlace(t);
  const address = addresses().find(
    (each) => each.includes('.') && !each.startsWith('127.') && each !== '0.0.0.0',
  );
  assert.ok(address !== undefined, 'this host has an address besides loopback');
  const web = await serveHttp(t);
  const other = await serveHttp(t);
  const flags = ['--network', 'ask', '--ask', 'deny', '--allow', `${address}:${web.port}`];
  const outcomes = await attemptInside(place, flags, [
    ['tcp', address, `${web.port}`],
    ['tcp', address, `${other.port}`],
  ]);
  assert.equal(outcomes[`tcp ${address} ${web.port}`], 'done');
  assert.notEqual(outcomes[`tcp ${address} ${other.port}`], 'done');
  assert.equal(other.visits(), 0);
});

test('--network on reaches what is there, except for what a rule denies', async (t) => {
  const place = createPlace(t);
  const web = await serveHttp(t);
  const outcomes = await attemptInside(
    place,
    ['--network', 'on', '--ask', 'deny', '--deny', '192.0.2.0/24'],
    [
      ['tcp', '192.0.2.1', `${web.port}`],
      ['tcp', '127.0.0.1', `${web.port}`],
    ],
  );
  assert.deepEqual(
    Object.values(outcomes).filter((outcome) => outcome === 'done'),
    [],
    'the host’s loopback is another right',
  );
  assert.equal(web.visits(), 0);
});

test('loopback inside belongs to the run: its own server answers, the host’s on the same port does not', async (t) => {
  const place = createPlace(t);
  const web = await serveHttp(t);
  const script = `
    require('node:http').createServer((_, r) => r.end('inside')).listen(${web.port}, '127.0.0.1', async function () {
      console.log(await (await fetch('http://127.0.0.1:${web.port}')).text()); this.close();
      process.exit(0);
    })`;
  const result = await place.cordon(['--network', 'off'], [process.execPath, '-e', script]);
  assert.equal(result.stdout, 'inside\n', result.stderr);
  assert.equal(web.visits(), 0);
});

test('a request is in the record before its answer takes effect, and nothing of it is lost', async (t) => {
  const place = createPlace(t);
  const events = path.join(place.folder, 'events.jsonl');
  await place.cordon(
    ['--ask', 'deny', '--events', events],
    ['curl', '-sS', 'http://example.com:8080/'],
  );
  const lines = readFileSync(events, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const asked = lines.findIndex(({ kind }) => kind === 'request');
  const answered = lines.findIndex(({ kind }) => kind === 'answer');
  assert.ok(asked >= 0 && answered > asked, JSON.stringify(lines.map(({ kind }) => kind)));
  assert.deepEqual(lines[asked]?.['object'], { host: 'example.com', port: 8080 });
  assert.equal(lines[answered]?.['effect'], 'deny');
  assert.equal(lines.at(-1)?.['kind'], 'exit');
  const log = await place.face(['log']);
  assert.match(log.stdout, /example\.com:8080/);
});

test('when the record cannot be kept, nothing is run', async (t) => {
  const place = createPlace(t);
  const web = await serveHttp(t);
  writeFileSync(path.join(place.home, '.local/state/cordon'), 'not a folder');
  const url = `http://localhost:${web.port}`;
  const result = await place.cordon(['--allow', `localhost:${web.port}`], ['curl', '-sS', url]);
  assert.equal(result.code, 125);
  assert.match(result.stderr, /^cordon: [^\n]*\.local\/state\/cordon[^\n]*\n$/);
  assert.equal(web.visits(), 0);
});
