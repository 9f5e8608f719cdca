import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside } from '../support/breaches.js';
import { changes, createPlace, snapshot } from '../support/sandbox.js';
import type { Place } from '../support/sandbox.js';

const write = (place: Place, file: string, settings: unknown): void => {
  const full = path.join(place.home, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, JSON.stringify(settings));
};

test('a workspace’s .cordon.json cannot open a folder, a host, a secret, a variable or a protected path', async (t) => {
  const place = createPlace(t);
  write(place, '.ssh/id', 'SECRET');
  write(place, 'workspace/.cordon.json', {
    filesystem: {
      writableRoots: ['~/outside'],
      denyRead: ['!~/.ssh', '!~/.ssh/id'],
      protectedPaths: ['!.vscode', '!~/workspace/.vscode/tasks.json'],
      git: 'allow',
      readRoots: ['~'],
      temp: 'shared',
      caches: 'shared',
    },
    network: { mode: 'on', allow: ['*', 'localhost:1-65535'] },
    sockets: { allow: ['/'] },
    environment: { keep: ['NPM_TOKEN'] },
  });
  mkdirSync(path.join(place.workspace, '.vscode'));
  const script = `
    echo x > ../outside/new; cat ~/.ssh/id; echo x > .vscode/tasks.json; echo "[$NPM_TOKEN]"
    echo x > .git/breach; curl -sS --max-time 5 http://example.com`;
  const before = snapshot(place.outside);
  const result = await place.cordon(['--ask', 'deny'], ['sh', '-c', script], {
    environment: { NPM_TOKEN: 's3cret' },
  });
  assert.deepEqual(changes(place.outside, before), []);
  assert.equal(existsSync(path.join(place.workspace, '.vscode/tasks.json')), false);
  assert.equal(existsSync(path.join(place.workspace, '.git/breach')), false);
  assert.doesNotMatch(result.stdout, /SECRET|s3cret/);
  assert.notEqual(result.code, 0);
});

test('a workspace’s .cordon.json can close a host and a path', async (t) => {
  const place = createPlace(t);
  write(place, '.config/cordon/settings.json', { network: { allow: ['example.com'] } });
  write(place, 'workspace/.cordon.json', {
    network: { mode: 'off', deny: ['example.com'] },
    filesystem: { denyRead: ['private'] },
  });
  write(place, 'workspace/private', 'SECRET');
  const { stdout, stderr } = await place.cordon(
    [],
    ['sh', '-c', 'cat private; curl -sS --max-time 5 http://example.com'],
  );
  assert.doesNotMatch(stdout, /SECRET/);
  assert.match(stderr, /cordon: .*example\.com/);
});

test('nothing inside can change what decides: settings, workspace file, record, sockets, Cordon itself', async (t) => {
  const place = createPlace(t);
  write(place, '.config/cordon/settings.json', {});
  write(place, 'workspace/.cordon.json', {});
  await place.cordon([], ['true']); // the state folder exists now
  const state = path.join(place.home, '.local/state/cordon');
  assert.ok(existsSync(state), 'the record is kept there');
  const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
  const settings = path.join(place.home, '.config/cordon/settings.json');
  const workspaceFile = path.join(place.workspace, '.cordon.json');
  const before = [readFileSync(settings), readFileSync(workspaceFile), readFileSync(cli)];
  const records = readdirSync(state);
  const outcomes = await attemptInside(
    place,
    // as writable as a person can make it by mistake
    ['--write', path.join(place.home, '.config'), '--write', path.join(place.home, '.local')],
    [
      ['write', settings],
      ['rename', workspaceFile, path.join(place.workspace, 'x')],
      ['unlink', settings],
      ['rename', path.dirname(settings), path.join(place.home, '.config/moved')],
      ['append', workspaceFile],
      ['unlink', workspaceFile],
      ['list', path.join(state, 'audit')],
      ['open', path.join(state, 'host.json')],
      ['rename', state, path.join(place.home, '.local/state/moved')],
      ['write', cli],
      ['list', place.environment['XDG_RUNTIME_DIR'] ?? ''],
    ],
  );
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
  // what is written to the state folder lands in one of the run's own, which is gone with it
  await place.cordon(['--write', path.dirname(state)], ['touch', path.join(state, 'breach')]);
  assert.deepEqual(readdirSync(state), records);
  assert.deepEqual(
    [readFileSync(settings), readFileSync(workspaceFile), readFileSync(cli)],
    before,
  );
});

test('a program inside cannot widen by running cordon again, or by pretending to be a broker', async (t) => {
  const place = createPlace(t);
  const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
  const script = `"${process.execPath}" "${cli}" run --write ../outside --network on -- sh -c 'echo x > ../outside/new; curl -sS --max-time 3 http://example.com'; exit 0`;
  const before = snapshot(place.outside);
  const { stdout } = await place.cordon(['--network', 'off'], ['sh', '-c', script]);
  assert.deepEqual(changes(place.outside, before), []);
  assert.equal(stdout, '');
});
