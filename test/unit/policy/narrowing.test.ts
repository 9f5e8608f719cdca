// A workspace can narrow a policy, never widen it: tried with random layers and everything that can be asked of a policy.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { CordonError } from '../../../src/base/errors.js';
import { explainPath, pathsToExplain } from '../../../src/plan/explain.js';
import { planLinux } from '../../../src/plan/linux.js';
import { decide, judgeAddresses } from '../../../src/policy/decide.js';
import { contains } from '../../../src/policy/paths.js';
import type { Policy } from '../../../src/policy/policy.js';
import { matchesName } from '../../../src/policy/resolveEnvironment.js';
import { resolvePolicy } from '../../../src/policy/resolvePolicy.js';
import type { Layer, LayerSource } from '../../../src/settings/layers.js';
import type { LayerValues } from '../../../src/settings/schema.js';
import type { Tree } from '../../support/fakeTree.js';
import { treeFacts } from '../../support/fakeTree.js';
import {
  at,
  context,
  layer,
  managed,
  typed,
  untyped,
  user,
  workspace,
  plannedRun as run,
} from '../../support/policies.js';

/** Some in every run of the unit tests; `CORDON_RUNS=5000` for a long look. */
const numRuns = Number(process.env['CORDON_RUNS'] ?? 50);

const hosts = ['a.example', 'b.a.example', 'c.b.a.example', 'other.test', 'intranet'];
const addresses = [
  '1.1.1.1',
  '10.0.0.1',
  '10.1.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '2606:4700::1',
  'fd00:ec2::254',
];
const ports = [22, 80, 443];
const paths = [
  '/ws/a',
  '/ws/.git/config',
  '/ws/.vscode/tasks.json',
  '/ws/.env',
  '/ws/deep/er',
  '/other/a',
  '/home/ada/notes/x',
  '/home/ada/.ssh/id',
  '/home/ada/.ssh/config',
  '/home/ada/.kube/config',
  '/home/ada/.bashrc',
  '/home/ada/.npm/x',
  '/etc/passwd',
  '/srv/x',
  '/tmp/x',
].map(at);
const sockets = ['/run/docker.sock', '/run/user/1000/bus', '/run/pg/a', '/srv/x'].map(at);
const variables = ['PATH', 'SSH_AUTH_SOCK', 'NPM_TOKEN', 'AWS_REGION', 'CI', 'VSCODE_NONCE', 'FOO'];

const tree: Tree = [...paths, '/home/ada/.npm/', '/srv/', '/ws/deep/', '/ws/deploy/', '/var/tmp/'];
const hostPattern = fc
  .tuple(
    fc.constantFrom(
      '*',
      '*.example',
      '*.a.example',
      ...hosts,
      ...addresses.map((text) => (text.includes(':') ? `[${text}]` : text)),
      '10.0.0.0/8',
      '0.0.0.0/0',
      '[::/0]',
      'localhost:80',
    ),
    fc.constantFrom('', ':22', ':80', ':443', ':22-443'),
  )
  .map(([target, suffix]) => (target === 'localhost:80' ? target : target + suffix));
const readPath = fc.constantFrom(
  '.env',
  '~/notes',
  '!~/.kube',
  '!~/.ssh',
  '!~/.ssh/config',
  '/etc',
  '/ws/deep',
  'deep/er',
);
const protectedPath = fc.constantFrom(
  'deep',
  '!.vscode',
  '!/ws/.vscode/tasks.json',
  '!/ws/deep/er',
  '!.git',
  '/ws/a',
  '~/notes',
  '.env',
);
const socket = fc.constantFrom('/run', '/run/pg', '/run/docker.sock', '/run/user/1000/bus', '/srv');
const root = fc.constantFrom('/srv', '~/notes', '/ws', '/other', '~', '/ws/deep');
const some = <T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[] | undefined> =>
  fc.option(fc.array(item, { maxLength: 3 }), { nil: undefined });
const choice = <T>(...values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined });

const values: fc.Arbitrary<LayerValues> = fc.record(
  {
    filesystem: fc.record(
      {
        writableRoots: some(root),
        git: choice('protect' as const, 'ask' as const, 'allow' as const),
        read: choice('roots' as const, 'anywhere' as const),
        readRoots: some(root),
        hideNames: choice(true, false),
        denyRead: some(readPath),
        protectedPaths: some(protectedPath),
        temp: choice('private' as const, 'shared' as const),
        caches: choice('off' as const, 'private' as const, 'shared' as const),
      },
      { noNullPrototype: true },
    ),
    sockets: fc.record(
      { allow: some(socket), deny: some(socket), agents: choice('off' as const, 'ask' as const) },
      { noNullPrototype: true },
    ),
    network: fc.record(
      {
        listen: choice('private' as const, 'ask' as const),
        publish: some(fc.constantFrom(80, 3000)),
        mode: choice('off' as const, 'ask' as const, 'on' as const),
        allow: some(hostPattern),
        deny: some(hostPattern),
      },
      { noNullPrototype: true },
    ),
    environment: fc.record(
      {
        drop: some(fc.constantFrom('CI', 'NPM_*', 'VSCODE_*', '*')),
        keep: some(fc.constantFrom(...variables)),
      },
      { noNullPrototype: true },
    ),
    approvals: fc.record({ timeout: choice(30, 300, 3000) }, { noNullPrototype: true }),
  },
  { noNullPrototype: true },
);

/** Everything a policy opens, as numbers: more is wider. */
function openness(policy: Policy): ReadonlyMap<string, number> {
  const rank = { deny: 0, ask: 1, allow: 2 } as const;
  const { filesystem, network, environment, approvals } = policy;
  const result = new Map<string, number>();
  for (const port of ports) {
    for (const host of hosts)
      result.set(`connect ${host}:${port}`, rank[decide(network, { host, port }).effect]);
    for (const address of addresses) {
      result.set(`connect ${address} ${port}`, rank[decide(network, { address, port }).effect]);
      const [judged] = judgeAddresses(network, port, [address]);
      result.set(`dial ${address} ${port}`, rank[judged?.effect ?? 'deny']);
    }
    result.set(`host port ${port}`, network.hostPorts.some(({ value }) => value === port) ? 1 : 0);
  }
  for (const host of hosts) result.set(`lookup ${host}`, rank[decide(network, { host }).effect]);
  const facts = treeFacts(tree, policy, run, {}, paths.flatMap(pathsToExplain));
  const { plan } = planLinux(policy, facts, run);
  for (const path of paths) {
    const { read, write } = explainPath(policy, plan, facts, path);
    result.set(`read ${path}`, rank[read.effect]);
    result.set(`write ${path}`, rank[write.effect]);
  }
  for (const path of sockets) {
    const rule = policy.sockets.rules.find((each) => contains(each.path, path));
    result.set(`socket ${path}`, rank[rule?.effect ?? 'ask']);
  }
  result.set('agents', policy.sockets.agentSockets.length);
  result.set('listen', ['private', 'ask'].indexOf(network.listen.value));
  for (const { value } of network.publish) result.set(`publish ${value}`, 1);
  result.set('names', filesystem.hideNames.value ? 0 : 1);
  for (const name of variables) {
    const isDropped = environment.drop.some(({ value }) => matchesName(value, name));
    const isKept = environment.keep.some(({ value }) => value === name);
    result.set(`variable ${name}`, isKept || !isDropped ? 1 : 0);
  }
  result.set('temp', ['private', 'shared'].indexOf(filesystem.temp.value));
  result.set('caches', ['off', 'private', 'shared'].indexOf(filesystem.caches.value));
  result.set('timeout', approvals.timeoutMs.value);
  return result;
}

/** What the second set of layers opens wider than the first; nothing when nothing runs with it. */
function widened(before: readonly Layer[], after: readonly Layer[]): readonly string[] {
  const narrow = opennessOf(before);
  const wide = opennessOf(after);
  return [...(wide ?? [])]
    .filter(([what, value]) => value > (narrow?.get(what) ?? 0))
    .map(([what]) => what);
}

/** Undefined when every run is refused. */
function opennessOf(layers: readonly Layer[]): ReadonlyMap<string, number> | undefined {
  const result = resolvePolicy(layers, context);
  if (result.kind === 'refused') return undefined;
  try {
    return openness(result.policy);
  } catch (error) {
    if (error instanceof CordonError) return undefined;
    throw error;
  }
}

function neverWidens(source: LayerSource, others: readonly LayerSource[]): void {
  fc.assert(
    fc.property(fc.tuple(...others.map(() => values)), values, (othersValues, own) => {
      const before = others.flatMap((other, index) => {
        const value = othersValues[index];
        return value === undefined ? [] : [layer(other, withoutRefusal(other, value))];
      });
      assert.deepEqual(widened(before, [...before, layer(source, own)]), []);
    }),
    { numRuns },
  );
}

/** An administrator's file with `!` refuses everything, which would make the test say nothing. */
function withoutRefusal(source: LayerSource, value: LayerValues): LayerValues {
  if (source.kind !== 'managed') return value;
  const positive = (list: readonly string[] | undefined): string[] | undefined =>
    list?.filter((text) => !text.startsWith('!'));
  return {
    ...value,
    filesystem: {
      ...value.filesystem,
      denyRead: positive(value.filesystem?.denyRead),
      protectedPaths: positive(value.filesystem?.protectedPaths),
    },
  };
}

test('a workspace layer never widens what the user allows', () => {
  neverWidens(workspace, [user]);
});

test('a workspace layer never widens what administrator, user and command line allow', () => {
  neverWidens(workspace, [managed, user, typed]);
});

test('a second workspace layer never widens the first', () => {
  neverWidens({ kind: 'workspace', folder: '/ws', file: '/ws/.vscode/settings.json' }, [
    user,
    workspace,
  ]);
});

test('a run that nobody typed never widens', () => {
  neverWidens(untyped, [managed, user, workspace]);
});

test('the administrator’s file never widens', () => {
  const limit = values.map((value) => withoutRefusal(managed, value));
  fc.assert(
    fc.property(values, values, limit, (mine, flags, own) => {
      const before = [layer(user, mine), layer(typed, flags)];
      // A root that is also closed refuses every run; without the root, which the file takes away, there is no conflict.
      fc.pre(opennessOf(before) !== undefined);
      assert.deepEqual(widened(before, [...before, layer(managed, own)]), []);
    }),
    { numRuns },
  );
});

test('the administrator’s off stays off when a workspace says off as well', () => {
  const before = [
    layer(managed, { network: { mode: 'off' } }),
    layer(typed, { network: { allow: ['*'] } }),
  ];
  assert.deepEqual(
    widened(before, [...before, layer(workspace, { network: { mode: 'off' } })]),
    [],
  );
});

test('what is closed in a root stays closed when the administrator takes the root away', () => {
  const before = [layer(user, { filesystem: { denyRead: ['.env'] } })];
  assert.deepEqual(
    widened(before, [...before, layer(managed, { filesystem: { writableRoots: [] } })]),
    [],
  );
});

test('the comparison notices a layer that widens', () => {
  const wide = layer(user, {
    network: { allow: ['a.example'] },
    filesystem: { writableRoots: ['/srv'] },
  });
  assert.deepEqual(widened([], [wide]), [
    'connect a.example:22',
    'connect a.example:80',
    'connect a.example:443',
    'lookup a.example',
    'write /srv/x',
  ]);
});
