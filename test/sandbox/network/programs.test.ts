// Everyday programs reach an allowed host as they do without a sandbox: no proxy variables, no wrappers, the answers and
// errors that they know. CORDON_TEST_UNPROTECTED=1 runs the same rows without Cordon: they must pass there too.

import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createWorld } from '../../support/netns.js';
import { buildPrograms, script } from '../../support/programs.js';
import type { World } from '../../support/netns.js';
import type { Program } from '../../support/programs.js';

const FLAGS = [
  '--network',
  'ask',
  '--ask',
  'deny',
  '--allow',
  '*.example.com:80',
  '--allow',
  '*.example.com:443',
];

let world: World;
let program: (name: Program) => string;

before(async () => {
  world = await createWorld();
  program = await buildPrograms(path.join(world.folder, 'programs'), [
    'sockets', 'sockets-musl', 'httpget', 'HttpGet.class', 'tcpget',
  ]); // prettier-ignore
});

after(() => world.close());

interface Row {
  readonly name: string;
  readonly argv: () => readonly string[];
  /** Standard output; `hello` when left out. */
  readonly says?: string;
}

const shell =
  (text: string, name = 'sh') =>
  (): readonly string[] => [name, '-c', text];
const sockets = (mode: string) => (): readonly string[] => [
  program('sockets'),
  mode,
  'web.example.com',
];
const java = (mode: string) => (): readonly string[] => [
  'java', '-XX:TieredStopAtLevel=1', '-cp', path.dirname(program('HttpGet.class')), 'HttpGet', mode, 'web.example.com',
]; // prettier-ignore

const REQUEST = String.raw`GET /hello HTTP/1.0\r\nHost: web.example.com\r\n\r\n`;

const rows: readonly Row[] = [
  { name: 'curl over HTTP', argv: () => ['curl', '-sS', 'http://web.example.com/hello'] },
  { name: 'curl over HTTPS', argv: () => ['curl', '-sS', 'https://web.example.com/hello'] },
  {
    name: 'curl, three hosts at once',
    argv: shell('curl -sS -Z https://h{0,1,2}.example.com/hello', 'bash'),
    says: 'hello\nhello\nhello\n',
  },
  {
    name: 'wget',
    argv: shell('wget -q -O - --ca-certificate="$SSL_CERT_FILE" https://web.example.com/hello'),
  },
  {
    name: 'busybox wget',
    argv: () => ['busybox', 'wget', '-q', '-O', '-', 'http://web.example.com/hello'],
  },
  {
    name: 'git clone, fetch and pull over HTTPS',
    argv: shell(
      'git clone -q https://git.example.com/fixture.git "$TMPDIR/clone" && cd "$TMPDIR/clone" && ' +
        'git fetch -q && git pull -q && cat file0',
    ),
    says: 'hello 0\n',
  },
  {
    name: 'npm install',
    argv: shell(
      'mkdir npm && cd npm && npm init -y >/dev/null && ' +
        'npm install --silent --no-audit --no-fund --registry https://npm.example.com cordon-fixture && ' +
        'node -p "require(\'cordon-fixture\')"',
    ),
  },
  {
    name: 'pip install',
    argv: shell(
      '/usr/bin/python3 -m pip install -q --no-input --index-url https://pypi.example.com/simple ' +
        '--target "$TMPDIR/pip" cordon-fixture && ' +
        'PYTHONPATH="$TMPDIR/pip" /usr/bin/python3 -c "import cordon_fixture; print(cordon_fixture.greeting)"',
    ),
  },
  {
    name: 'node fetch, 50 at once',
    argv: () => ['node', script('fetch.mjs'), '50', 'example.com'],
    says: '50\n',
  },
  {
    name: 'node with its own resolver (c-ares)',
    argv: () => ['node', script('resolver.mjs'), 'web.example.com'],
  },
  {
    name: 'node getaddrinfo with AI_ADDRCONFIG',
    argv: () => [
      'node', '-e',
      "const dns = require('dns'); dns.lookup('web.example.com', { all: true, hints: dns.ADDRCONFIG }, (error, all) => console.log(error ?? (all.length > 0 && 'hello')))",
    ],
  }, // prettier-ignore
  {
    name: 'python urllib',
    argv: () => [
      '/usr/bin/python3', '-c',
      "from urllib.request import urlopen; print(urlopen('https://web.example.com/hello').read().decode(), end='')",
    ],
  }, // prettier-ignore
  {
    name: 'python requests',
    argv: () => [
      '/usr/bin/python3', '-c',
      "import requests; print(requests.get('https://web.example.com/hello', timeout=10).text, end='')",
    ],
  }, // prettier-ignore
  {
    name: 'python asyncio',
    argv: () => ['/usr/bin/python3', script('asyncio_get.py'), 'web.example.com'],
  },
  {
    name: 'Go net/http, static, with its own resolver',
    argv: () => [program('httpget'), 'https://web.example.com/hello'],
  },
  { name: 'Java HttpClient', argv: java('client') },
  { name: 'Java URLConnection', argv: java('connection') },
  { name: 'Java channel registered before it connects', argv: java('channel') },
  { name: 'Rust TcpStream', argv: () => [program('tcpget'), 'web.example.com'] },
  { name: 'musl, static', argv: () => [program('sockets-musl'), 'blocking', 'web.example.com'] },
  {
    name: 'bash /dev/tcp',
    argv: shell(
      `exec 3<>/dev/tcp/web.example.com/80; printf '${REQUEST}' >&3; tail -n 1 <&3`,
      'bash',
    ),
  },
  { name: 'nc', argv: shell(`printf '${REQUEST}' | nc -N web.example.com 80 | tail -n 1`) },
  {
    name: 'perl with a time limit, which connects twice',
    argv: () => [
      'perl', '-MIO::Socket::INET', '-e',
      `$s = IO::Socket::INET->new(PeerAddr => "web.example.com:80", Timeout => 5) or die $@; print $s "${REQUEST}"; @l = <$s>; print $l[-1]`,
    ],
  }, // prettier-ignore
  {
    name: 'openssl s_client',
    argv: shell(
      `printf '${REQUEST}' | openssl s_client -quiet -verify_quiet -connect web.example.com:443 2>/dev/null | tail -n 1`,
    ),
  },
  { name: 'a blocking connect', argv: sockets('blocking') },
  { name: 'a non-blocking connect', argv: sockets('nonblocking') },
  { name: 'epoll, level, registered before connect', argv: sockets('epoll-level') },
  { name: 'epoll, edge, registered before connect', argv: sockets('epoll-edge') },
  { name: 'a descriptor duplicated before connect', argv: sockets('duplicate') },
  { name: 'a socket connected by a child', argv: sockets('fork') },
  { name: 'getpeername tells the address that was asked for', argv: sockets('peer-name') },
  { name: 'bind before connect', argv: sockets('bind-first') },
  { name: 'a second connect on the same socket', argv: sockets('connect-twice') },
  { name: 'an IPv4 address in an IPv6 socket', argv: sockets('v4-mapped') },
  { name: 'TCP fast open', argv: sockets('fast-open') },
  {
    name: 'a name in capitals with a dot at its end',
    argv: () => ['curl', '-sS', 'http://WEB.Example.com./hello'],
  },
  {
    name: 'a host with an IPv6 address only',
    argv: () => ['curl', '-sS', 'http://six.example.com/hello'],
  },
  {
    name: 'a host whose first address refuses',
    argv: () => ['curl', '-sS', 'http://half.example.com/hello'],
  },
  {
    name: 'a megabyte comes through whole',
    argv: shell('curl -sS "https://web.example.com/zeros?bytes=1000000" | wc -c'),
    says: '1000000\n',
  },
];

describe('an allowed host is reached by', { concurrency: 3 }, () => {
  for (const { name, argv, says = 'hello\n' } of rows) {
    test(name, async () => {
      const { code, signal, stdout, stderr } = await world.cordon(FLAGS, argv(), {
        environment: { TMPDIR: process.env['CORDON_TEST_UNPROTECTED'] && world.home },
      });
      assert.deepEqual({ code, signal, stdout }, { code: 0, signal: null, stdout: says }, stderr);
    });
  }
});

test('no variable tells a program inside about a proxy', async () => {
  const { code, stdout } = await world.cordon(FLAGS, ['env']);
  assert.equal(code, 0);
  assert.deepEqual(
    stdout.split('\n').filter((line) => /proxy/iu.test(line)),
    [],
  );
});

describe('a program learns', { concurrency: 3 }, () => {
  const errno = (mode: string, host: string, port: string) => async () => {
    const { stdout } = await world.cordon(
      [...FLAGS, '--allow', 'web.example.com:81'],
      [program('sockets'), mode, host, port],
    );
    return stdout;
  };

  for (const mode of ['blocking', 'nonblocking']) {
    test(`ECONNREFUSED from a port without a server, ${mode}`, async () => {
      assert.equal(await errno(mode, 'web.example.com', '81')(), 'errno 111\n');
    });
    test(`EHOSTUNREACH from a host that cannot be reached, ${mode}`, async () => {
      assert.equal(await errno(mode, 'unreachable.example.com', '80')(), 'errno 113\n');
    });
    test(`ENETUNREACH from a network without a route, ${mode}`, async () => {
      assert.equal(await errno(mode, 'noroute.example.com', '80')(), 'errno 101\n');
    });
  }

  test('ECONNREFUSED in Go', async () => {
    const { stdout } = await world.cordon(
      ['--ask', 'deny', '--allow', 'web.example.com'],
      [program('httpget'), 'http://web.example.com:81/'],
    );
    assert.equal(stdout, 'errno 111\n');
  });

  test('ECONNREFUSED in Node', async () => {
    const { stdout } = await world.cordon(
      ['--ask', 'deny', '--allow', 'four.example.com'],
      [
        'node',
        '-e',
        "require('net').connect(81, 'four.example.com').on('error', (error) => console.log(error.code))",
      ],
    );
    assert.equal(stdout, 'ECONNREFUSED\n');
  });

  test('that a host does not answer, within its own time limit or ours', async () => {
    const begun = Date.now();
    const { code } = await world.cordon(FLAGS, [
      'curl',
      '-sS',
      '-m',
      '3',
      'http://hole.example.com/hello',
    ]);
    assert.equal(code, 28); // CURLE_OPERATION_TIMEDOUT
    assert.ok(Date.now() - begun < 20_000);
  });

  test('that an allowed name does not exist', async () => {
    const { code } = await world.cordon(FLAGS, ['curl', '-sS', 'http://gone.example.com/hello']);
    assert.equal(code, 6); // CURLE_COULDNT_RESOLVE_HOST
  });

  test('that the name server fails', async () => {
    const { code, stdout } = await world.cordon(FLAGS, [
      'curl',
      '-sS',
      'http://broken.example.com/hello',
    ]);
    assert.equal(stdout, '');
    assert.ok(code === 6 || code === 7, `curl ended with ${code ?? 'a signal'}`);
  });
});
