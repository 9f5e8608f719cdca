import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import type { ControlServer } from '../../../src/launch/control/server.js';
import { createControlServer, ensureRuntimeFolder } from '../../../src/launch/control/server.js';
import { defaultFolders } from '../../../src/launch/folders.js';
import type { AbsolutePath } from '../../../src/policy/paths.js';
import { createTempTree } from '../../support/tempTree.js';

type Test = Parameters<typeof createTempTree>[0];

function runtimeOf(t: Test): AbsolutePath {
  return path.join(createTempTree(t), 'run', 'cordon') as AbsolutePath;
}

async function serve(t: Test, runtime: AbsolutePath, name: string): Promise<ControlServer> {
  const server = await createControlServer({
    runtime,
    name,
    onConnection: (socket) => socket.on('error', () => undefined).end('hello'),
  });
  t.after(() => {
    server.dispose();
  });
  return server;
}

function readSocket(socket: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    net
      .connect(socket)
      .setEncoding('utf8')
      .on('data', (chunk: string) => (text += chunk))
      .on('error', reject)
      .on('close', () => {
        resolve(text);
      });
  });
}

test('a session is found by its registration, and leaves nothing behind', async (t) => {
  const runtime = runtimeOf(t);
  const server = await serve(t, runtime, 'abc');
  assert.deepEqual(fs.readdirSync(runtime), ['abc.sock']);
  server.register(['/ws', '/ws/\udcff'] as AbsolutePath[]);
  assert.deepEqual(fs.readdirSync(runtime), ['abc.json', 'abc.sock']);
  const text = fs.readFileSync(path.join(runtime, 'abc.json'), 'utf8');
  assert.deepEqual(JSON.parse(text), {
    protocol: 1,
    socket: 'abc.sock',
    roots: ['/ws', '/ws/\udcff'],
  });
  assert.ok(text.includes('\\udcff'));
  assert.equal(fs.statSync(path.join(runtime, 'abc.json')).mode & 0o777, 0o600);
  assert.equal(fs.statSync(runtime).mode & 0o777, 0o700);
  assert.equal(await readSocket(server.socket), 'hello');
  server.dispose();
  server.dispose();
  assert.deepEqual(fs.readdirSync(runtime), []);
});

test('what a killed session left is removed, and the living are left alone', async (t) => {
  const runtime = runtimeOf(t);
  const living = await serve(t, runtime, 'living');
  living.register(['/ws' as AbsolutePath]);
  fs.writeFileSync(path.join(runtime, 'gone.json'), '{}');
  fs.writeFileSync(path.join(runtime, 'dead.sock'), '');
  fs.writeFileSync(path.join(runtime, 'dead.json'), '{}');
  await serve(t, runtime, 'new');
  assert.deepEqual(fs.readdirSync(runtime), ['living.json', 'living.sock', 'new.sock']);
  assert.equal(await readSocket(living.socket), 'hello');
});

const unsafe: readonly (readonly [name: string, make: (folder: string) => void, said: RegExp])[] = [
  ['others may enter', (folder) => fs.mkdirSync(folder, { mode: 0o755 }), /has mode 0755/u],
  [
    'a link stands in its place',
    (folder) => {
      fs.mkdirSync(`${folder}.real`, { mode: 0o700 });
      fs.symlinkSync(`${folder}.real`, folder);
    },
    /is not a folder/u,
  ],
  ['a file stands in its place', (folder) => fs.writeFileSync(folder, ''), /is not a folder/u],
];

for (const [name, make, said] of unsafe) {
  test(`the runtime folder is not used when ${name}`, async (t) => {
    const runtime = runtimeOf(t);
    fs.mkdirSync(path.dirname(runtime));
    make(runtime);
    await assert.rejects(
      createControlServer({ runtime, name: 'a', onConnection: () => undefined }),
      (error: Error) => {
        assert.equal('code' in error && error.code, 'runtimeFolderUnsafe');
        assert.match(error.message, said);
        return true;
      },
    );
  });
}

test('the runtime folder is not used when it is another user’s', (t) => {
  const runtime = runtimeOf(t);
  ensureRuntimeFolder(runtime);
  t.mock.method(process as { getuid: () => number }, 'getuid', () => fs.statSync(runtime).uid + 1);
  assert.throws(() => {
    ensureRuntimeFolder(runtime);
  }, /belongs to user/u);
});

test('a path that is too long for a socket is refused in words', async (t) => {
  const runtime = path.join(createTempTree(t), 'x'.repeat(100)) as AbsolutePath;
  await assert.rejects(
    createControlServer({ runtime, name: 'a', onConnection: () => undefined }),
    /too long for a socket/u,
  );
});

test('the runtime folder is in XDG_RUNTIME_DIR when that is the user’s own, else in the state folder', (t) => {
  const home = createTempTree(t);
  const own = path.join(home, 'run');
  fs.mkdirSync(own, { mode: 0o700 });
  const state = path.join(home, '.local/state/cordon');
  assert.deepEqual(defaultFolders({ HOME: home, XDG_RUNTIME_DIR: own }), {
    state,
    runtime: path.join(own, 'cordon'),
  });
  const { runtime } = defaultFolders({ HOME: home, XDG_RUNTIME_DIR: path.join(home, 'gone') });
  const uid = process.getuid?.() ?? 0;
  assert.ok([`${state}/run`, `/run/user/${uid}/cordon`].includes(runtime));
});
