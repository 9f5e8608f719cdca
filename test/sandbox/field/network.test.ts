// Reported failures around ports, names and proxies.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { readEvents } from '../../support/events.js';
import { createWorld } from '../../support/netns.js';
import { buildPrograms, script } from '../../support/programs.js';
import { ADDRESS, HOST_PORT } from '../../support/worldMessages.js';
import type { World } from '../../support/netns.js';
import type { Program } from '../../support/programs.js';

let world: World;
let program: (name: Program) => string;

before(async () => {
  world = await createWorld();
  program = await buildPrograms(path.join(world.folder, 'programs'), ['sockets', 'HttpGet.class']);
});
beforeEach(() => world.forget());
after(() => world.close());

const DENY = ['--ask', 'deny'];

test('C034 a program that knows nothing of proxies reaches an allowed host, and is refused others at connect', async () => {
  const java = [
    'java',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    path.dirname(program('HttpGet.class')),
    'HttpGet',
    'channel',
  ];
  const allow = [...DENY, '--allow', 'web.example.com:80'];
  const allowed = await world.cordon(allow, [...java, 'web.example.com']);
  assert.equal(allowed.stdout, 'hello\n', allowed.stderr);
  const refused = await world.cordon(allow, [...java, 'api.example.com']);
  assert.match(refused.stderr, /java\.net\.[A-Za-z]*Exception: Permission denied/u);
});

test('C041 a dev server listens on loopback without a grant', async () => {
  for (const address of ['127.0.0.1', '0.0.0.0', '::1', '::']) {
    const near = address.includes(':') ? '[::1]' : '127.0.0.1';
    const { stdout, stderr } = await world.cordon(DENY, [
      'sh', '-c',
      `/usr/bin/python3 -m http.server --bind ${address} 8080 >/dev/null 2>&1 & curl -sS --retry 20 --retry-delay 0 --retry-connrefused -o /dev/null -w '%{http_code}' http://${near}:8080/; kill $!`,
    ]); // prettier-ignore
    assert.equal(stdout, '200', `${address}: ${stderr}`);
  }
});

test('C042 a refusal is a connect error within 100 ms, said once, and final', async () => {
  const events = path.join(world.folder, 'c042.jsonl');
  const attempts = `
import socket, time
times = []
for _ in range(10):
    begun = time.monotonic()
    try:
        socket.create_connection(('web.example.com', 443), 5)
        print('connected')
    except PermissionError:
        times.append(time.monotonic() - begun)
middle = sorted(times)[5]
print(middle < 0.1 or middle)
`;
  const { stdout, stderr } = await world.cordon(
    [...DENY, '--events', events],
    ['/usr/bin/python3', '-c', attempts],
  );
  assert.equal(stdout, 'True\n');
  const lines = stderr.split('\n').filter((line) => line.includes('web.example.com'));
  assert.equal(lines.length, 1, stderr);
  assert.match(lines[0] ?? '', /^cordon: .*443/u);
  const refusals = (await readEvents(events)).flatMap((line) =>
    line.kind === 'answer' ? [line.reason] : [],
  );
  // each is recorded
  assert.deepEqual(refusals, Array<string>(10).fill('noInterface'));
});

test('C043 programs that resolve names themselves work for allowed names, and unlisted ones are refused at once', async () => {
  const { stdout } = await world.cordon([...DENY, '--allow', 'web.example.com'], [
    'sh', '-c', 'getent hosts web.example.com >/dev/null && echo found; getent ahosts web.example.com | head -n 1 | grep -q STREAM && echo found',
  ]); // prettier-ignore
  assert.equal(stdout, 'found\nfound\n');
  const begun = Date.now();
  const unlisted = await world.cordon(DENY, [program('sockets'), 'blocking', 'api.example.com']);
  assert.notEqual(unlisted.code, 0);
  assert.ok(Date.now() - begun < 1000);
  assert.deepEqual((await world.seen()).connections, []);
});

for (const mode of ['off', 'ask']) {
  test(`C044 a list of hosts is enforced, with the network ${mode}`, async () => {
    const flags = [...DENY, '--network', mode, '--allow', 'web.example.com'];
    const listed = await world.cordon(flags, ['curl', '-sS', 'http://web.example.com/hello']);
    assert.equal(listed.stdout, 'hello\n', listed.stderr);
    await world.forget();
    const unlisted = await world.cordon(flags, ['curl', '-sS', 'http://api.example.com/hello']);
    assert.notEqual(unlisted.code, 0);
    const { queries, connections } = await world.seen();
    assert.deepEqual({ queries, connections }, { queries: [], connections: [] });
  });
}

test("C045 the Internet is not the host's loopback", async () => {
  const { stdout } = await world.cordon(
    ['--network', 'on', ...DENY],
    ['/usr/bin/python3', script('reach.py')],
  );
  const outcomes = JSON.parse(stdout) as Readonly<Record<string, string>>;
  assert.equal(outcomes['tcp4'], 'sent');
  const { connections, datagrams } = await world.seen();
  assert.ok(connections.includes(`web ${ADDRESS.web}:80`));
  assert.deepEqual(
    connections.filter((line) => line.startsWith('host ')),
    [],
  );
  assert.deepEqual(datagrams, []);

  await world.forget();
  await world.cordon(
    ['--network', 'on', ...DENY],
    ['curl', '-sS', `http://loop.example.com:${HOST_PORT.database}/`],
  );
  assert.deepEqual((await world.seen()).connections, []);
});
