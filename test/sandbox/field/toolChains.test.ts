// Tools that failed in other sandboxes: package managers, process pools, event loops. They work without a setting.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { REPOSITORY, createWorld } from '../../support/netns.js';
import { changes, createPlace, snapshot } from '../../support/sandbox.js';

const python = (text: string) => ['/usr/bin/python3', '-c', text];

test('C031 go build works, and the second build comes from the cache', async (t) => {
  const place = createPlace(t);
  writeFileSync(
    path.join(place.workspace, 'main.go'),
    'package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }\n',
  );
  const build = (...words: string[]) =>
    place.cordon([], ['go', 'build', ...words, '-o', 'program', 'main.go'], {
      environment: { GO111MODULE: 'off' },
    });
  const first = await build('-x');
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /\/compile/u);
  assert.equal((await place.host(['./program'])).stdout, 'hello\n');
  const second = await build('-x');
  assert.equal(second.code, 0);
  assert.doesNotMatch(second.stderr, /\/compile/u);
  assert.equal(
    existsSync(path.join(place.home, '.cache/go-build')),
    false,
    'the cache of the host is not written',
  );
});

describe('C032 stores and tool versions below the home folder go to a layer of the run:', () => {
  /** Where each tool writes: at the place its variable names, or below the home folder. */
  const stores = [
    '${npm_config_cache:-$HOME/.npm}/_cacache',
    '${XDG_CACHE_HOME:-$HOME/.cache}/pip',
    '${CARGO_HOME:-$HOME/.cargo}/registry',
    '${GOPATH:-$HOME/go}/pkg/mod',
    '${PNPM_HOME:-$HOME/.local/share/pnpm}/store',
    '${GRADLE_USER_HOME:-$HOME/.gradle}/caches',
  ];
  const each = (text: string) => [
    'sh',
    '-c',
    stores.map((store) => `at="${store}"; ${text}`).join('\n'),
  ];
  const WRITE = each('mkdir -p "$at" && echo mine > "$at/file" || echo "$at"');
  const READ = each('cat "$at/file"');
  const existing = [
    '.npm/_cacache',
    '.cache/pip',
    '.cargo/registry',
    'go/pkg/mod',
    '.local/share/pnpm/store',
    '.gradle/caches',
  ];

  for (const [when, folders] of [
    ['that are there already', existing],
    ['that are not', []],
  ] as const) {
    test(when, async (t) => {
      const place = createPlace(t);
      for (const folder of folders) {
        mkdirSync(path.join(place.home, folder), { recursive: true });
        writeFileSync(path.join(place.home, folder, 'file'), 'original\n');
      }
      mkdirSync(path.join(place.home, '.local/state'), { recursive: true });
      const before = snapshot(place.home);
      const { stdout, stderr } = await place.cordon([], WRITE);
      assert.equal(stdout, '', stderr);
      const again = await place.cordon([], READ);
      // the next run in this workspace finds them
      assert.equal(again.stdout, 'mine\n'.repeat(stores.length), again.stderr);
      assert.deepEqual(changes(place.home, before), [], 'the host keeps its own');
    });
  }
});

test('C035 semaphores, shared memory and process pools work, and are private', async (t) => {
  const place = createPlace(t);
  const { stdout, stderr } = await place.cordon(
    [],
    python(`
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import Lock, shared_memory
import os
if __name__ == '__main__':
    with Lock(), ProcessPoolExecutor(2) as pool:
        print(sum(pool.map(abs, range(-3, 4))))
    memory = shared_memory.SharedMemory('cordon-test-memory', create=True, size=16)
    print(os.listdir('/dev/shm'))
    print(os.path.exists('/dev/shm/cordon-test-host'))
    memory.close(); memory.unlink()
`),
  );
  assert.equal(stdout, "12\n['cordon-test-memory']\nFalse\n", stderr);
});

describe('C036 multiprocessing works with', () => {
  for (const method of ['forkserver', 'spawn']) {
    test(method, async (t) => {
      const place = createPlace(t);
      writeFileSync(
        path.join(place.workspace, 'pool.py'),
        `
import multiprocessing
if __name__ == '__main__':
    multiprocessing.set_start_method('${method}')
    with multiprocessing.Manager() as manager, multiprocessing.Pool(2) as pool:
        print(manager.list(pool.map(abs, [-1, -2])))
`,
      );
      const { stdout, stderr } = await place.cordon([], ['/usr/bin/python3', 'pool.py']);
      assert.equal(stdout, '[1, 2]\n', stderr);
    });
  }
});

test('C037 unix sockets can be bound and reached in the temporary folder and the workspace', async (t) => {
  const place = createPlace(t);
  const script = `
    const net = require('net');
    for (const at of [process.env.TMPDIR ?? '/tmp', process.cwd()]) {
      const name = at + '/pipe.sock';
      const server = net.createServer((socket) => socket.end('hello')).listen(name, () =>
        net.connect(name).on('data', (data) => { console.log(String(data)); server.close(); }));
    }`;
  const { stdout, stderr } = await place.cordon([], ['node', '-e', script]);
  assert.equal(stdout, 'hello\nhello\n', stderr);
});

const modes = ['off', 'ask', 'on'];

for (const mode of modes) {
  test(`C038 event loops wake up, with the network ${mode}`, async (t) => {
    const place = createPlace(t);
    const { stdout, stderr } = await place.cordon(
      ['--network', mode, '--ask', 'deny'],
      python(`
import asyncio, socket, time
async def main():
    await asyncio.to_thread(time.sleep, 0.2)
    one, other = socket.socketpair()
    one.setblocking(False); other.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(one, b'hello')
    print((await loop.sock_recv(other, 9)).decode())
    process = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    print((await process.communicate(b'child'))[0].decode())
asyncio.run(main())
`),
    );
    assert.equal(stdout, 'hello\nchild\n', stderr);
  });

  test(`C039 a socketpair is a child's standard input, with the network ${mode}`, async (t) => {
    const place = createPlace(t);
    const pairs = python(`
import socket, subprocess
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    child = subprocess.Popen(['cat'], stdin=theirs, stdout=subprocess.PIPE)
    theirs.close(); ours.send(b'hello'); ours.close()
    print(child.communicate()[0].decode())
`);
    const { stdout, stderr } = await place.cordon(['--network', mode, '--ask', 'deny'], pairs);
    assert.equal(stdout, 'hello\nhello\n', stderr);
  });
}

test('C033 no package store appears in the project, nor on the host', async (t) => {
  const world = await createWorld();
  t.after(() => world.close());
  const pnpm = path.join(REPOSITORY, 'node_modules/pnpm/bin/pnpm.cjs');
  writeFileSync(
    path.join(world.workspace, 'package.json'),
    '{"name":"project","dependencies":{"cordon-fixture":"1.2.3"}}',
  );
  const { code, stdout, stderr } = await world.cordon(
    ['--ask', 'deny', '--allow', 'npm.example.com'],
    ['node', pnpm, 'install', '--registry', 'https://npm.example.com'],
  );
  assert.equal(code, 0, stdout + stderr);
  const hello = await world.run(['node', '-p', "require('cordon-fixture')"]);
  assert.equal(hello.stdout, 'hello\n', hello.stderr);
  assert.deepEqual(readdirSync(world.workspace).sort(), [
    'node_modules',
    'package.json',
    'pnpm-lock.yaml',
  ]);
  assert.deepEqual(
    readdirSync(world.home).filter((name) => name !== '.local' && name !== '.cache'),
    [],
  );
  assert.equal(existsSync(path.join(world.home, '.local/share/pnpm')), false);
});
