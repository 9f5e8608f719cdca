// A lookup is a way out, so none leaves before its name is allowed; and the address that is dialled is the one that was
// checked. The world's DNS server counts.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { waitForEvent } from '../../support/events.js';
import { createWorld } from '../../support/netns.js';
import { buildPrograms, script } from '../../support/programs.js';
import { ADDRESS, HOST_PORT } from '../../support/worldMessages.js';
import type { World } from '../../support/netns.js';
import type { Program } from '../../support/programs.js';

let world: World;
let program: (name: Program) => string;

before(async () => {
  world = await createWorld();
  program = await buildPrograms(path.join(world.folder, 'programs'), ['httpget', 'sockets-musl']);
});
beforeEach(() => world.forget());
after(() => world.close());

const NODE_QUERIES = `
  const { Resolver } = require('dns').promises;
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  const types = ['A', 'AAAA', 'TXT', 'MX', 'SRV', 'NS', 'CNAME', 'CAA', 'SOA', 'ANY'];
  Promise.allSettled(types.map((type) => resolver.resolve(process.argv[1], type)));
`;

/** Every way of asking for a name that programs have. */
function lookups(name: string): readonly string[] {
  return [
    'sh',
    '-c',
    [
      'getent hosts "$1"',
      'getent ahosts "$1"',
      'getent ahostsv6 "$1"',
      'curl -sS "http://$1/"',
      'busybox nslookup "$1"',
      'busybox nslookup "$1" 93.184.216.53',
      'node -e "$2" "$1"',
      '"$3" "http://$1/"',
      '"$4" blocking "$1"',
      'true',
    ].join('; '),
    'sh',
    name,
    NODE_QUERIES,
    program('httpget'),
    program('sockets-musl'),
  ];
}

describe('no lookup leaves', () => {
  const cases = [
    { when: 'when nobody can be asked', flags: ['--network', 'ask', '--ask', 'deny'] },
    { when: 'with the network off', flags: ['--network', 'off'] },
    { when: 'for a denied name', flags: ['--network', 'on', '--deny', '*.example.com'] },
    {
      when: 'for a name below an allowed one',
      flags: ['--ask', 'deny', '--allow', 'example.com'],
    },
  ];
  for (const { when, flags } of cases) {
    test(when, async () => {
      await world.cordon(flags, lookups('c2VjcmV0.web.example.com'));
      const { queries, connections, datagrams } = await world.seen();
      assert.deepEqual(
        { queries, connections, datagrams },
        { queries: [], connections: [], datagrams: [] },
      );
    });
  }

  test('while its question is open, nor after it was refused', async () => {
    const events = path.join(world.folder, 'open.jsonl');
    const command = ['curl', '-sS', 'http://web.example.com/hello'];
    const refused = world.answering('d', 1, ['--events', events], command);
    await waitForEvent(events, 'request');
    assert.deepEqual((await world.seen()).queries, []);
    const { questions, stdout } = await refused;
    assert.equal(questions, 1);
    assert.doesNotMatch(stdout, /^hello\r?$/mu);
    assert.deepEqual((await world.seen()).queries, []);
  });
});

describe('for an allowed name', () => {
  test('exactly the addresses are looked up, once', async () => {
    const { stdout } = await world.cordon(
      ['--ask', 'deny', '--allow', 'web.example.com'],
      ['curl', '-sS', 'http://web.example.com/hello'],
    );
    assert.equal(stdout, 'hello\n');
    assert.deepEqual([...(await world.seen()).queries].sort(), [
      'A web.example.com',
      'AAAA web.example.com',
    ]);
  });

  test('exactly the addresses are looked up after its question was answered', async () => {
    const { stdout } = await world.answering(
      'o',
      0,
      [],
      ['curl', '-sS', 'http://web.example.com/hello'],
    );
    assert.match(stdout, /^hello\r?$/mu);
    assert.deepEqual([...(await world.seen()).queries].sort(), [
      'A web.example.com',
      'AAAA web.example.com',
    ]);
  });

  test('other kinds of records are not asked for: their text would carry data both ways', async () => {
    await world.cordon(['--ask', 'deny', '--allow', 'web.example.com'], lookups('web.example.com'));
    const kinds = new Set((await world.seen()).queries);
    assert.deepEqual([...kinds].sort(), ['A web.example.com', 'AAAA web.example.com']);
  });

  test('that does not exist, the program gets its own error', async () => {
    const { stdout } = await world.cordon(
      ['--ask', 'deny', '--allow', 'gone.example.com'],
      ['/usr/bin/python3', '-c', "import socket\ntry: socket.getaddrinfo('gone.example.com', 80)\nexcept socket.gaierror as error: print(error.errno == socket.EAI_NONAME)"],
    ); // prettier-ignore
    assert.equal(stdout, 'True\n');
  });

  test('that vanishes after the approval, connect ends with an errno', async () => {
    const { stdout } = await world.answering('o', 0, [], [
      '/usr/bin/python3', '-c', "import socket\ntry: socket.create_connection(('gone.example.com', 80))\nexcept OSError as error: print('outcome', type(error).__name__, error.errno)",
    ]); // prettier-ignore
    assert.match(stdout, /outcome OSError 113/u);
  });
});

/** Names of the world that lead to special addresses, and a port with a server there. */
const SPECIAL = [
  ['loop', HOST_PORT.database],
  ['loop6', HOST_PORT.six],
  ['mapped', HOST_PORT.database],
  ['internal', 80],
  ['metadata', 80],
] as const;

describe('the address dialled is the address checked', () => {
  const get = (host: string, port: number) => [
    'curl',
    '-sS',
    '-m',
    '5',
    `http://${host}:${port}/hello`,
  ];
  const allowed = (host: string) => ['--ask', 'deny', '--allow', host];

  /** Connections to anything but the public addresses. */
  async function reachedInside(): Promise<readonly string[]> {
    const { connections } = await world.seen();
    return connections.filter(
      (line) => !line.includes(ADDRESS.web) && !line.includes(ADDRESS.web6),
    );
  }

  test('when a name turns from public to loopback between two connects', async () => {
    const A = [[ADDRESS.web], ['127.0.0.1']];
    await world.resolve('rebind.example.com', { A, AAAA: [[]] });
    const { stdout } = await world.cordon(allowed('rebind.example.com'), [
      'sh', '-c', `for i in 1 2 3; do ${get('rebind.example.com', 80).join(' ')}; sleep 1; done`,
    ]); // prettier-ignore
    assert.match(stdout, /^hello\n/u);
    assert.deepEqual(await reachedInside(), []);
  });

  test('when every lookup gives another address', async () => {
    const A = [[ADDRESS.web], [ADDRESS.private], [ADDRESS.metadata], ['127.0.0.1']];
    await world.resolve('spin.example.com', { A, AAAA: [[]] });
    for (let run = 0; run < 4; run += 1) {
      await world.cordon(allowed('spin.example.com'), get('spin.example.com', 80));
    }
    assert.deepEqual(await reachedInside(), []);
  });

  for (const [name, port] of SPECIAL) {
    for (const mode of ['ask', 'on']) {
      test(`${name}.example.com is allowed, its private address is not (${mode})`, async () => {
        const flags = ['--network', mode, ...allowed('*.example.com')];
        const { code, stderr } = await world.cordon(flags, get(`${name}.example.com`, port));
        assert.notEqual(code, 0);
        assert.match(stderr, new RegExp(`${name}\\.example\\.com`, 'u'));
        assert.deepEqual((await world.seen()).connections, []);
      });
    }
  }

  test('a private address among public ones is not dialled', async () => {
    await world.resolve('mixed.example.com', {
      A: [[ADDRESS.private, ADDRESS.web]],
      AAAA: [['::1']],
    });
    await world.cordon(allowed('mixed.example.com'), get('mixed.example.com', 80));
    assert.deepEqual(await reachedInside(), []);
  });

  test('a denied network refuses every name that leads to it', async () => {
    const flags = ['--deny', '93.184.216.0/24', '--deny', '2606:2800:220::/48'];
    const { code } = await world.cordon(
      [...allowed('web.example.com'), ...flags],
      get('web.example.com', 80),
    );
    assert.notEqual(code, 0);
    assert.deepEqual((await world.seen()).connections, []);
  });

  test('a private address is reached when it is allowed beside its name', async () => {
    const flags = [...allowed('internal.example.com'), '--allow', `${ADDRESS.private}:80`];
    const { stdout } = await world.cordon(flags, get('internal.example.com', 80));
    assert.equal(stdout, 'hello\n');
  });

  test('a question about a private address names it, and its answer opens it', async () => {
    const { stdout } = await world.answering('r', 0, [], get('internal.example.com', 80));
    assert.match(stdout, /10\.20\.30\.40/u);
    assert.match(stdout, /^hello\r?$/mu);
  });
});

test('names of a world without a sandbox are looked up at once (so these tests can fail)', async () => {
  await world.run(lookups('web.example.com'));
  const { queries, connections } = await world.seen();
  assert.ok(queries.includes('TXT web.example.com'));
  assert.ok(connections.length > 0);
  assert.equal((await world.run(['/usr/bin/python3', script('reach.py')])).code, 0);
  assert.ok((await world.seen()).queries.includes('A secret.leak.example.com'));
});
