import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AbsolutePath } from '../../../src/policy/paths.js';
import { contains } from '../../../src/policy/paths.js';
import type { Policy, PolicyContext } from '../../../src/policy/policy.js';
import type { Layer } from '../../../src/settings/layers.js';
import {
  at,
  layer,
  managed,
  resolved,
  typed,
  untyped,
  user,
  workspace,
} from '../../support/policies.js';

/** As the supervisor decides: agents first, then the first rule around the socket, else a question. */
function decision({ sockets }: Policy, path: string): string {
  const around = ({ path: place }: { readonly path: AbsolutePath }): boolean =>
    contains(place, at(path));
  const agent = sockets.agentSockets.find(around);
  return agent === undefined
    ? (sockets.rules.find(around)?.effect ?? 'ask')
    : `agent ${agent.kind}`;
}

function decisions(
  layers: readonly Layer[],
  paths: readonly string[],
  context: Partial<PolicyContext> = {},
): readonly string[] {
  const { policy } = resolved(layers, context);
  return paths.map((path) => decision(policy, path));
}

const built: readonly (readonly [path: string, effect: string])[] = [
  ['/run/docker.sock', 'ask'],
  ['/run/podman/podman.sock', 'ask'],
  ['/run/user/1000/podman/podman.sock', 'ask'],
  ['/run/user/1000/docker.sock', 'ask'],
  ['/home/ada/.docker/run/docker.sock', 'ask'],
  ['/run/postgresql/.s.PGSQL.5432', 'ask'],
  ['/srv/app.sock', 'ask'],
  ['/run/user/1000/bus', 'deny'],
  ['/run/user/1000/wayland-0', 'deny'],
  ['/run/user/1000/pipewire-0', 'deny'],
  ['/run/user/1000/pulse/native', 'deny'],
  ['/run/user/1000/vscode-ipc-1.sock', 'deny'],
  ['/run/user/1000/systemd/private', 'deny'],
  ['/run/user/1000/gnupg/S.dirmngr', 'deny'],
  ['/run/dbus/system_bus_socket', 'deny'],
  ['/run/systemd/private', 'deny'],
  ['/tmp/.X11-unix/X0', 'deny'],
  ['/run/user/1000/cordon/s.sock', 'deny'],
  ['/home/ada/.local/state/cordon/run/s.sock', 'deny'],
  ['/run/user/1000/keyring/ssh', 'agent ssh'],
  ['/run/user/1000/gnupg/S.gpg-agent', 'agent gpg'],
  ['/run/user/1000/gnupg/S.gpg-agent.ssh', 'agent ssh'],
  ['/home/ada/.gnupg/S.gpg-agent', 'agent gpg'],
  ['/tmp/ssh-1/agent.2', 'agent ssh'],
];

for (const [path, effect] of built) {
  test(`without settings ${path} is: ${effect}`, () => {
    assert.deepEqual(decisions([], [path], { sshAgent: at('/tmp/ssh-1/agent.2') }), [effect]);
  });
}

test('deny beats allow, and both beat what is built in', () => {
  assert.deepEqual(
    decisions(
      [
        layer(user, {
          sockets: { allow: ['/run/user/1000/bus', '/run/pg', '~/x'], deny: ['/run/pg/b'] },
        }),
      ],
      ['/run/user/1000/bus', '/run/pg/a', '/run/pg/b', '/home/ada/x/y.sock'],
    ),
    ['allow', 'allow', 'deny', 'allow'],
  );
});

test('a workspace denies sockets and allows none', () => {
  const { policy, problems } = resolved([
    layer(workspace, { sockets: { allow: ['/run/a'], deny: ['/run/b'], agents: 'off' } }),
    layer(untyped, { sockets: { allow: ['/run/c'] } }),
    layer(typed, { sockets: { allow: ['/run/b/x', '/run/d'] } }),
  ]);
  assert.deepEqual(
    ['/run/a', '/run/b/x', '/run/c', '/run/d'].map((path) => decision(policy, path)),
    ['ask', 'deny', 'ask', 'allow'],
  );
  assert.deepEqual(problems, [
    '/ws/.cordon.json: sockets.allow[0] has no effect: a workspace can only narrow the policy, and this would let /run/a be connected to.',
    'the command line: sockets.allow[0] has no effect: a run that nobody typed can only narrow the policy, and this would let /run/c be connected to.',
    'the command line: sockets.allow[0] has no effect: /run/b is denied by sockets.deny[0] in /ws/.cordon.json.',
  ]);
  assert.deepEqual(policy.sockets.agentSockets, []);
});

test('the administrator says which sockets can be allowed at all', () => {
  const { policy, problems } = resolved([
    layer(managed, { sockets: { allow: ['/run/pg'], deny: ['/run/docker.sock'] } }),
    layer(user, { sockets: { allow: ['/run/pg/a', '/run/other', '/run/docker.sock'] } }),
  ]);
  assert.deepEqual(
    ['/run/pg/a', '/run/other', '/run/docker.sock'].map((path) => decision(policy, path)),
    ['allow', 'ask', 'deny'],
  );
  assert.equal(problems.filter((text) => /does not let it be connected to/u.test(text)).length, 2);
});

test('agents that are off are denied, and their variable is dropped', () => {
  const off = layer(user, { sockets: { agents: 'off' } });
  const context = { sshAgent: at('/tmp/ssh-1/agent.2') };
  assert.deepEqual(
    decisions([off], ['/tmp/ssh-1/agent.2', '/home/ada/.gnupg/S.gpg-agent'], context),
    ['deny', 'deny'],
  );
  const drops = (layers: readonly Layer[]): boolean =>
    resolved(layers).policy.environment.drop.some(({ value }) => value === 'SSH_AUTH_SOCK');
  assert.deepEqual([drops([]), drops([off])], [false, true]);
});

test('an agent that somebody denies is no agent', () => {
  const deny = layer(workspace, { sockets: { deny: ['/tmp/ssh-1'] } });
  assert.deepEqual(
    decisions([deny], ['/tmp/ssh-1/agent.2'], { sshAgent: at('/tmp/ssh-1/agent.2') }),
    ['deny'],
  );
});

test('a socket that is not absolute refuses every run', () => {
  assert.throws(
    () => resolved([layer(user, { sockets: { allow: ['control.sock'] } })]),
    /sockets\.allow\[0\] "control\.sock" must be absolute or begin with ~\//u,
  );
});

test('ports are published as the user says, within the administrator’s list', () => {
  const { policy, problems } = resolved([
    layer(managed, { network: { publish: [3000, 5173] } }),
    layer(user, { network: { publish: [5173, 8080] } }),
    layer(typed, { network: { publish: [3000, 5173], listen: 'private' } }),
  ]);
  assert.deepEqual(
    [policy.network.publish.map(({ value }) => value), policy.network.listen.value],
    [[5173, 3000], 'private'],
  );
  assert.deepEqual(problems, [
    '/home/ada/.config/Code/User/settings.json: network.publish[1] has no effect: the administrator does not let this port be published.',
  ]);
});
