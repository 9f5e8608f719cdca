import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { answerAll, answerTo, asked } from '../support/asked.js';
import { attemptInside, attemptOutside, each } from '../support/breaches.js';
import { launch, planFor, startLauncher } from '../support/launcherPeer.js';
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

/** Connects to each path of its arguments, one after the other, and prints what came of it. */
const VISIT = `
const net = require('node:net');
const visit = (path) => new Promise((resolve) => {
  net.connect(path).on('error', (e) => resolve(e.code)).on('data', (d) => resolve(String(d)));
});
(async () => { for (const path of process.argv.slice(1)) console.log(await visit(path)); process.exit(); })();
`;

/** A folder of the user's with a workspace in it, and servers of the host that say their own path. */
function createScene(t: TestContext): {
  readonly folder: string;
  readonly workspace: string;
  readonly serve: (name: string) => Promise<string>;
} {
  const folder = mkdtempSync(path.join(os.homedir(), 'u-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const workspace = path.join(folder, 'ws');
  mkdirSync(workspace);
  const serve = async (name: string): Promise<string> => {
    const socket = path.join(folder, name);
    mkdirSync(path.dirname(socket), { recursive: true });
    const server = createServer((connection) => connection.end(name));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    t.after(() => server.close());
    return socket;
  };
  return { folder, workspace, serve };
}

const visits = (paths: readonly string[]): readonly string[] => [
  process.execPath,
  '-e',
  VISIT,
  ...paths,
];

describe('a socket of the host is decided by its path', () => {
  test('without a rule it is a question; its neighbour is another', async (t) => {
    const { workspace, serve } = createScene(t);
    const [one, other] = [await serve('run/one'), await serve('run/other')];
    const { stdout, frames } = await launch(visits([one, other]), {
      cwd: workspace,
      plan: planFor(workspace),
      reply: (frame) =>
        frame.kind === 'ask'
          ? answerTo(frame, JSON.stringify(frame['object']).includes('run/one') ? 'allow' : 'deny')
          : undefined,
    });
    assert.deepEqual(stdout, 'run/one\nEACCES\n');
    assert.deepEqual(asked(frames), [
      ['socket', { path: one, call: 'connect' }],
      ['socket', { path: other, call: 'connect' }],
    ]);
  });

  test('a rule decides without a question, the first that matches, and a denial is recorded', async (t) => {
    const { folder, workspace, serve } = createScene(t);
    const [one, other] = [await serve('run/one'), await serve('run/other')];
    const rules = [
      { effect: 'allow', path: one },
      { effect: 'deny', path: path.join(folder, 'run') },
      { effect: 'allow', path: other },
    ];
    const { stdout, frames } = await launch(visits([one, other]), {
      cwd: workspace,
      plan: planFor(workspace, { sockets: { rules, agents: [] } }),
    });
    assert.deepEqual(stdout, 'run/one\nEACCES\n');
    const denials = frames.filter(({ kind }) => kind === 'denial');
    assert.deepEqual(
      denials.map(({ action, object, reason, rule }) => [action, object, reason, rule]),
      [['socket', { path: other, call: 'connect' }, 'rule', null]],
    );
  });

  test('an answer for the run holds for what is opened, and for nothing beside it', async (t) => {
    const { folder, workspace, serve } = createScene(t);
    const [one, again, other] = [await serve('run/one'), 'run/one', await serve('other')];
    const { stdout, frames } = await launch(visits([one, path.join(folder, again), other]), {
      cwd: workspace,
      plan: planFor(workspace),
      reply: (frame) =>
        frame.kind !== 'ask'
          ? undefined
          : JSON.stringify(frame['object']).includes('run/one')
            ? answerTo(frame, 'allow', [{ access: 'socket', path: path.join(folder, 'run') }])
            : answerTo(frame, 'deny'),
    });
    assert.equal(stdout, 'run/one\nrun/one\nEACCES\n');
    assert.equal(asked(frames).length, 2);
  });

  test('however the path is written, it is asked about as the host has it', async (t) => {
    const { folder, workspace, serve } = createScene(t);
    const one = await serve('run/one');
    symlinkSync(path.join(folder, 'run'), path.join(workspace, 'link'));
    const ways = [
      'link/one',
      '../run/one',
      `/proc/self/root${one}`,
      path.join(workspace, 'link/./one'),
    ];
    const { stdout, frames } = await launch(visits(ways), {
      cwd: workspace,
      plan: planFor(workspace),
      reply: answerAll('allow'),
    });
    assert.equal(stdout, 'run/one\n'.repeat(4));
    assert.deepEqual(new Set(asked(frames).map(([, object]) => JSON.stringify(object))), new Set([JSON.stringify({ path: one, call: 'connect' })])); // prettier-ignore
  });

  test('under a mask or a tripwire it is the host’s socket that is asked about, and reached', async (t) => {
    const { folder, workspace, serve } = createScene(t);
    const [masked, tripped] = [await serve('masked/deep/s'), await serve('tripped/s')];
    const mounts = [
      { op: 'private', path: '/tmp' },
      { op: 'writable', path: workspace },
      { op: 'mask', path: path.join(folder, 'masked') },
      { op: 'tripwire', path: path.join(folder, 'tripped'), names: true },
    ];
    const paths = [masked, tripped, path.join(folder, 'masked/deep/absent')];
    const { stdout, frames } = await launch(visits(paths), {
      cwd: workspace,
      plan: planFor(workspace, { mounts }),
      reply: answerAll('allow'),
    });
    assert.equal(stdout, 'masked/deep/s\ntripped/s\nENOENT\n');
    assert.deepEqual(
      asked(frames).map(([, object]) => object),
      [masked, tripped].map((one) => ({ path: one, call: 'connect' })),
    );
  });

  test('a socket of packets is decided like one of a stream', async (t) => {
    const { folder, workspace } = createScene(t);
    const [one, other] = [path.join(folder, 'one'), path.join(folder, 'other')];
    const server = `
import socket, sys
servers = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in sys.argv[1:]]
for server, path in zip(servers, sys.argv[1:]):
    server.bind(path)
    server.listen()
print('ready', flush=True)
servers[0].accept()[0].send(b'packet')
sys.stdin.read()
`;
    const child = spawn('/usr/bin/python3', ['-c', server, one, other]);
    t.after(() => child.kill());
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const client = `
import socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        s.connect(path)
        print(s.recv(100).decode())
    except OSError as error:
        print(error.strerror)
`;
    const rules = [
      { effect: 'allow', path: one },
      { effect: 'deny', path: other },
    ];
    const { stdout, stderr } = await launch(['/usr/bin/python3', '-c', client, one, other], {
      cwd: workspace,
      plan: planFor(workspace, { sockets: { rules, agents: [] } }),
    });
    assert.equal(stdout, 'packet\nPermission denied\n', stderr);
  });

  test('what was allowed is no other socket that stands there when it is answered', async (t) => {
    const { folder, workspace, serve } = createScene(t);
    await serve('run/secret');
    const link = path.join(workspace, 'link');
    const public_ = await serve('public');
    symlinkSync(public_, link);
    const peer = await startLauncher(visits(['link']), {
      cwd: workspace,
      plan: planFor(workspace),
    });
    const ask = await peer.frame('ask');
    rmSync(link);
    symlinkSync(path.join(folder, 'run/secret'), link);
    peer.send(answerTo(ask, 'allow'));
    const { stdout } = await peer.ended;
    assert.equal(stdout, 'EACCES\n');
  });
});

describe('binding makes a file, and is decided as such', () => {
  const bind = (paths: readonly string[]): readonly string[] => [
    process.execPath,
    '-e',
    `const net = require('node:net');
     const bind = (path) => new Promise((resolve) => {
       const server = net.createServer((c) => c.end('own'))
         .on('error', (e) => resolve(e.code))
         .listen(path, () => net.connect(path).on('error', (e) => resolve(e.code))
           .on('data', (d) => { server.close(); resolve(String(d)); }));
     });
     (async () => { for (const path of process.argv.slice(1)) console.log(await bind(path)); process.exit(); })();`,
    ...paths,
  ];

  const protecting = (root: string): Readonly<Record<string, unknown>> => ({
    roots: [root],
    names: ['.vscode'],
    protected: [],
    packages: [],
    quiet: [],
    git: 'ask',
    repositories: [],
  });

  test('outside of what is writable it is a question; allowed, it is made', async (t) => {
    const { folder, workspace } = createScene(t);
    const [one, other] = [path.join(folder, 'one'), path.join(folder, 'other')];
    const { stdout, frames } = await launch(bind([one, '../other']), {
      cwd: workspace,
      plan: planFor(workspace),
      reply: (frame) =>
        frame.kind === 'ask'
          ? answerTo(frame, JSON.stringify(frame['object']).includes('other') ? 'deny' : 'allow')
          : undefined,
    });
    assert.deepEqual(
      asked(frames).filter(([action]) => action === 'socket'),
      [one, other].map((each) => ['socket', { path: each, call: 'bind' }]),
    );
    assert.equal(stdout, 'own\nEACCES\n');
    assert.ok(!existsSync(other));
  });

  test('a name keeps its words, as the caller wrote them', async (t) => {
    const { folder, workspace } = createScene(t);
    const script = `
import os, socket
for path in ['in', '../out', '${folder}/whole']:
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    print(s.getsockname(), oct(os.stat(path).st_mode))
`;
    const { stdout, stderr } = await launch(
      ['sh', '-c', 'umask 027; exec /usr/bin/python3 -c "$1"', 'sh', script],
      { cwd: workspace, plan: planFor(workspace), reply: answerAll('allow') },
    );
    assert.equal(stdout, `in 0o140750\n../out 0o140750\n${folder}/whole 0o140750\n`, stderr);
  });

  test('a path that leads elsewhere meanwhile makes nothing there', async (t) => {
    const { workspace } = createScene(t);
    mkdirSync(path.join(workspace, 'sub'));
    const { stdout } = await launch([compiled('bindRace'), '.vscode', '200'], {
      cwd: workspace,
      plan: planFor(workspace, { files: protecting(workspace) }),
      reply: answerAll('deny'),
    });
    assert.match(stdout, /^[1-9]\d* bound, [1-9]\d* refused, 0 astray\n$/u);
    assert.ok(!existsSync(path.join(workspace, '.vscode')));
  });

  test('a protected name is not made as a socket either', async (t) => {
    const { workspace } = createScene(t);
    mkdirSync(path.join(workspace, 'sub'));
    const { stdout, frames } = await launch(bind(['.vscode', 'sub/../.vscode', 'free']), {
      cwd: workspace,
      plan: planFor(workspace, { files: protecting(workspace) }),
      reply: answerAll('deny'),
    });
    assert.equal(stdout, 'EACCES\nEACCES\nown\n');
    assert.deepEqual(
      asked(frames).map(([action, object]) => [action, (object as { call: string }).call]),
      [
        ['write', 'bind'],
        ['write', 'bind'],
      ],
    );
    assert.ok(!existsSync(path.join(workspace, '.vscode')));
  });
});
