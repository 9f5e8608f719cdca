// Reported failures around unix sockets, agents and ports.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { gpg, gpgAgent, sshAgent } from '../../support/agents.js';
import { answerAll, asked } from '../../support/asked.js';
import { readEvents } from '../../support/events.js';
import { createPlace } from '../../support/sandbox.js';
import type { TestContext } from 'node:test';
import type { Place } from '../../support/sandbox.js';

const DENY = ['--ask', 'deny'];

/** Connects to each of its arguments and prints what it heard, or why not. */
const VISIT = `
import socket, sys
for path in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(path)
        print(s.recv(100).decode())
    except OSError as error:
        print(error.strerror)
`;

const visits = (...paths: readonly string[]) => ['/usr/bin/python3', '-c', VISIT, ...paths];

async function serve(t: TestContext, socket: string): Promise<string> {
  mkdirSync(path.dirname(socket), { recursive: true });
  const server = createServer((connection) => connection.end(path.basename(socket)));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => server.close());
  return socket;
}

function policyOf(place: Place, policy: unknown): readonly string[] {
  const file = path.join(place.folder, 'policy.json');
  writeFileSync(file, JSON.stringify(policy));
  return ['--policy', file];
}

test('C046 one socket of the host is granted, its neighbour is refused', async (t) => {
  const place = createPlace(t);
  const one = await serve(t, path.join(place.outside, 'one'));
  const other = await serve(t, path.join(place.outside, 'other'));
  const flags = [...DENY, ...policyOf(place, { sockets: { allow: [one] } })];
  const { stdout, stderr } = await place.cordon(flags, visits(one, other));
  assert.equal(stdout, 'one\nPermission denied\n', stderr);
});

test('C047 a daemon and its client need no grant, and the right to connect is none to bind', async (t) => {
  const place = createPlace(t);
  const script = `
import os, socket, sys
server = socket.socket(socket.AF_UNIX)
try:
    server.bind(sys.argv[1])
except OSError as error:
    sys.exit(error.strerror)
server.listen()
if os.fork() == 0:
    server.accept()[0].sendall(b'daemon')
    os._exit(0)
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
print(client.recv(100).decode())
`;
  const daemon = (socket: string) => ['/usr/bin/python3', '-c', script, socket];
  for (const socket of ['own', '/tmp/own', path.join(place.workspace, 'whole')])
    assert.equal((await place.cordon(DENY, daemon(socket))).stdout, 'daemon\n', socket);
  const elsewhere = path.join(place.outside, 's');
  const flags = [...DENY, ...policyOf(place, { sockets: { allow: [elsewhere] } })];
  const { code, stderr } = await place.cordon(flags, daemon(elsewhere));
  assert.equal(code, 1);
  assert.match(stderr, /Permission denied/u);
});

test('C048 the socket of a container engine is closed by default, by whatever path', async (t) => {
  const place = createPlace(t);
  const engine = await serve(t, path.join(place.home, '.docker/run/docker.sock'));
  symlinkSync(engine, path.join(place.workspace, 'link'));
  const ways = [engine, 'link', '../.docker/run/docker.sock', `/proc/self/root${engine}`];
  const events = path.join(place.folder, 'events.jsonl');
  const { stdout } = await place.cordon([...DENY, '--events', events], visits(...ways), {
    environment: { DOCKER_HOST: `unix://${engine}` },
  });
  assert.equal(stdout, 'Permission denied\n'.repeat(ways.length));
  const objects = (await readEvents(events)).flatMap((line) =>
    line.kind === 'request' || line.kind === 'denial' ? [JSON.stringify(line)] : [],
  );
  assert.ok(
    objects.length > 0 && objects.every((line) => line.includes(engine)),
    objects.join('\n'),
  );
});

test('C049 no word in a command opens a socket', async (t) => {
  const place = createPlace(t);
  const socket = await serve(t, path.join(place.home, '.gnupg/S.gpg-agent.other'));
  for (const word of ['git', 'gpg', 'docker', 'ssh']) {
    const command = ['sh', '-c', `: ${word} commit; exec "$@"`, word, ...visits(socket)];
    const { stdout } = await place.cordon(DENY, command);
    assert.equal(stdout, 'Permission denied\n', word);
  }
});

test('C024 a credential helper that reaches nobody ends in seconds, with a reason', async (t) => {
  const place = createPlace(t);
  await serve(t, path.join(place.home, '.cache/git/credential/socket'));
  const fill = ['git', '-c', 'credential.helper=cache', 'credential', 'fill'];
  const { code, stderr } = await place.cordon(DENY, fill, {
    input: 'protocol=https\nhost=example.com\n\n',
    environment: { GIT_TERMINAL_PROMPT: '0' },
    timeoutMs: 20_000,
  });
  assert.ok(code !== null && code !== 0, 'it ended by itself');
  assert.match(stderr, /terminal prompts disabled/u);
});

test('C025 one approval that names agent and key makes git commit -S succeed; without it the commit fails at once', async (t) => {
  const scene = gpgAgent(t);
  scene.host(['git', 'init', '-q']);
  const commit = gpg(
    ...['git', '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'],
    ...['commit', '-q', '-S', '--allow-empty', '-m', 'Signed'],
  );
  const refused = await scene.inside(commit, answerAll('deny'));
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, /failed to sign|cancel/iu);
  const { code, stderr, frames } = await scene.inside(commit, answerAll('allow'));
  assert.equal(code, 0, stderr);
  const signatures = asked(frames).filter(([action]) => action === 'sign');
  assert.deepEqual(
    signatures.map(([, object]) => (object as { key: string }).key),
    [scene.keygrip],
  );
  scene.host(['git', 'verify-commit', 'HEAD']);
});

test('C026 nobody signs with the user’s ssh-agent unasked, and the question names the key', async (t) => {
  const scene = await sshAgent(t);
  const place = createPlace(t);
  const events = path.join(place.folder, 'events.jsonl');
  writeFileSync(path.join(place.workspace, 'key.pub'), scene.host(['cat', 'key.pub']));
  const sign = 'echo text >text; ssh-keygen -q -Y sign -f key.pub -n file text; ls text.sig';
  const { code, stderr } = await place.cordon([...DENY, '--events', events], ['sh', '-c', sign], {
    environment: { SSH_AUTH_SOCK: scene.socket },
  });
  assert.notEqual(code, 0);
  assert.match(stderr, /agent refused operation/u);
  const requests = (await readEvents(events)).filter(({ kind }) => kind === 'request');
  assert.equal(requests.length, 1);
  assert.ok(JSON.stringify(requests).includes(scene.fingerprint));
});

test('C041 a forward of a dev server’s port is offered, named by process and port', async (t) => {
  const place = createPlace(t);
  const events = path.join(place.folder, 'events.jsonl');
  const script = `
    const server = require('node:http').createServer((_, response) => response.end('served'));
    server.listen(5173, '127.0.0.1', async () => {
      console.log(await (await fetch('http://127.0.0.1:5173')).text());
      process.exit();
    });`;
  const { stdout } = await place.cordon(
    [...DENY, '--events', events],
    [process.execPath, '-e', script],
  );
  assert.equal(stdout, 'served\n');
  const requests = (await readEvents(events)).filter(({ kind }) => kind === 'request');
  assert.equal(requests.length, 1);
  const [line] = requests.map((request) => JSON.stringify(request));
  assert.match(line ?? '', /"action":"publish","object":\{"port":5173\}/u);
  assert.match(line ?? '', /"executable":"[^"]*node"/u);
});
