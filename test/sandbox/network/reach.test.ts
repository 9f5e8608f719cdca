// What a mode lets out, judged by the servers: every way out that needs no name is tried, and nothing must have arrived.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createWorld } from '../../support/netns.js';
import { script } from '../../support/programs.js';
import { ADDRESS, HOST_PORT } from '../../support/worldMessages.js';
import type { World } from '../../support/netns.js';

const REACH = ['/usr/bin/python3', script('reach.py')];
const NOTHING = { queries: [], connections: [], requests: [], datagrams: [] };

let world: World;

before(async () => {
  world = await createWorld();
});
beforeEach(() => world.forget());
after(() => world.close());

const outcomes = (stdout: string) => JSON.parse(stdout) as Readonly<Record<string, string>>;

test('without a sandbox every attempt arrives (so these tests can fail)', async () => {
  const sent = outcomes((await world.run(REACH)).stdout);
  const native = { raw: 'EPERM', packet: 'EPERM' };
  const { vsock, ...others } = sent;
  assert.ok(vsock !== undefined);
  assert.deepEqual(
    others,
    Object.fromEntries(
      Object.keys(others)
        .map((name) => [name, 'sent'])
        .concat(Object.entries(native)),
    ),
  );
  const { connections, datagrams, queries } = await world.seen();
  assert.equal(connections.length, 11);
  assert.equal(datagrams.length, 5);
  assert.ok(queries.includes('A secret.leak.example.com'));
});

describe('nothing leaves', () => {
  for (const flags of [
    ['--network', 'off'],
    ['--network', 'ask', '--ask', 'deny'],
  ]) {
    test(`by any literal address or foreign socket (${flags.join(' ')})`, async () => {
      const { code, stdout } = await world.cordon(flags, REACH);
      assert.equal(code, 0);
      assert.deepEqual(await world.seen(), NOTHING);
      const { 'udp connected': connected, ...others } = outcomes(stdout);
      assert.equal(connected, 'ECONNREFUSED');
      // a lone datagram is lost without an error, as anywhere, and the sandbox's own name server answers everybody
      const reached = Object.entries(others).filter(([, outcome]) => outcome === 'sent');
      assert.deepEqual(
        reached.filter(([name]) => !/^(?:udp|dns)/u.test(name)),
        [],
      );
    });
  }

  test('by names, with the network off', async () => {
    const { code } = await world.cordon(
      ['--network', 'off'],
      ['curl', '-sS', 'http://web.example.com/hello'],
    );
    assert.notEqual(code, 0);
    assert.deepEqual(await world.seen(), NOTHING);
  });

  test('by UDP, special addresses and foreign sockets, with the network on', async () => {
    const { stdout } = await world.cordon(['--network', 'on', '--ask', 'deny'], REACH);
    const { tcp4, tcp6 } = outcomes(stdout);
    assert.deepEqual({ tcp4, tcp6 }, { tcp4: 'sent', tcp6: 'sent' });
    const { connections, datagrams } = await world.seen();
    const open = [
      `web ${ADDRESS.web}:80`,
      `web ${ADDRESS.web6}:80`,
      `dns ${ADDRESS.foreignDns}:53`,
    ];
    assert.deepEqual(
      connections.filter((line) => !open.includes(line)),
      [],
    );
    assert.deepEqual(datagrams, []);
  });

  test('by a unix socket on the host, whether in the workspace or elsewhere', async () => {
    const heard: string[] = [];
    for (const folder of [world.folder, world.home]) {
      const at = path.join(folder, 'host.sock');
      const server = createServer((socket) => {
        heard.push(at);
        socket.destroy();
      });
      await new Promise<void>((resolve) => void server.listen(at, resolve));
      const { stdout } = await world.cordon(['--network', 'on', '--ask', 'deny'], [...REACH, at]);
      server.close();
      assert.notEqual(outcomes(stdout)['unix stream'], 'sent');
    }
    assert.deepEqual(heard, []);
  });
});

describe('a rule opens', () => {
  const tryAll = (...targets: readonly string[]) => [
    'sh',
    '-c',
    'for each; do curl -sS -o /dev/null -m 5 "$each" 2>/dev/null && echo "$each"; done; true',
    'sh',
    ...targets,
  ];
  async function opened(
    flags: readonly string[],
    targets: readonly string[],
  ): Promise<readonly string[]> {
    const { stdout } = await world.cordon(['--ask', 'deny', ...flags], tryAll(...targets));
    return stdout.split('\n').filter((line) => line !== '');
  }

  test('its port and no other', async () => {
    const targets = [
      'http://web.example.com/',
      'https://web.example.com/hello',
      'http://web.example.com:7/',
    ];
    assert.deepEqual(await opened(['--allow', 'web.example.com:443'], targets), [
      'https://web.example.com/hello',
    ]);
    assert.deepEqual((await world.seen()).connections, [`web ${ADDRESS.web6}:443`]);
  });

  test('its range of ports', async () => {
    const targets = ['http://web.example.com/', 'https://web.example.com/hello'];
    assert.deepEqual(
      await opened(['--allow', 'web.example.com:80-442'], targets),
      targets.slice(0, 1),
    );
  });

  test('every name below its wildcard, not the name itself, nor one that only ends alike', async () => {
    const targets = [
      'http://web.example.com/',
      'http://deep.api.example.com/',
      'http://example.com/',
      'http://web.example.net/',
      'http://notexample.com/',
    ];
    assert.deepEqual(await opened(['--allow', '*.example.com'], targets), targets.slice(0, 2));
    assert.deepEqual(await opened(['--allow', '*.api.example.com'], targets), targets.slice(1, 2));
  });

  test('less than a deny rule closes', async () => {
    const targets = ['http://web.example.com/', 'http://api.example.com/'];
    const flags = ['--network', 'on', '--allow', '*.example.com', '--deny', 'web.example.com'];
    assert.deepEqual(await opened(flags, targets), targets.slice(1));
    const wide = ['--network', 'on', '--allow', 'web.example.com', '--deny', '*.example.com'];
    assert.deepEqual(await opened(wide, targets), []);
  });

  test('the literal addresses it names, and no name', async () => {
    const targets = [
      `http://${ADDRESS.web}/`,
      `http://${ADDRESS.other}/`,
      `http://[${ADDRESS.web6}]/`,
      'http://web.example.com/',
    ];
    assert.deepEqual(await opened(['--allow', `${ADDRESS.web}:80`], targets), targets.slice(0, 1));
    assert.deepEqual(await opened(['--allow', '93.184.216.0/24'], targets), targets.slice(0, 2));
    assert.deepEqual(
      await opened(['--allow', `[${ADDRESS.web6}]:80`], targets),
      targets.slice(2, 3),
    );
  });

  test('the port of the host that it names, and no other', async () => {
    const { stdout } = await world.cordon(['--ask', 'deny', '--allow', `localhost:${HOST_PORT.database}`], [
      'sh', '-c',
      `for port in ${Object.values(HOST_PORT).join(' ')}; do nc -w 2 localhost $port </dev/null; nc -w 2 127.0.0.1 $port </dev/null; done`,
    ]); // prettier-ignore
    assert.equal(stdout, 'database\ndatabase\n');
  });

  test('a port that the host serves on ::1 only', async () => {
    const { stdout } = await world.cordon(
      ['--ask', 'deny', '--allow', `localhost:${HOST_PORT.six}`],
      ['nc', '-w', '2', 'localhost', `${HOST_PORT.six}`],
    );
    assert.equal(stdout, 'six\n');
  });

  test('the host behind a port that a server inside already serves to that server', async () => {
    const { stdout } = await world.cordon(['--ask', 'deny', '--allow', `localhost:${HOST_PORT.database}`], [
      'sh', '-c', `echo inside | nc -l -N 127.0.0.1 ${HOST_PORT.database} >/dev/null & sleep 0.5; nc -w 2 127.0.0.1 ${HOST_PORT.database} </dev/null`,
    ]); // prettier-ignore
    assert.equal(stdout, 'inside\n');
  });
});
