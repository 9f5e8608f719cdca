// Settings and facts → plan, whole: exactly what the launcher receives, and what a person reads about it. A change shows as a
// diff of a text file. UPDATE_GOLDEN=1 writes them anew.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import type { PlannedRun } from '../../src/plan/host.js';
import { planLinux } from '../../src/plan/linux.js';
import type { Gap, LinuxPlan } from '../../src/plan/plan.js';
import { renderPlan } from '../../src/plan/render.js';
import type { PolicyContext } from '../../src/policy/policy.js';
import type { Layer } from '../../src/settings/layers.js';
import type { Tree } from '../support/fakeTree.js';
import { treeFacts } from '../support/fakeTree.js';
import {
  at,
  layer,
  managed,
  plannedRun,
  resolved,
  typed,
  user,
  workspace,
} from '../support/policies.js';

interface Golden {
  readonly name: string;
  readonly tree: Tree;
  readonly layers: readonly Layer[];
  readonly context?: Partial<PolicyContext>;
  readonly run?: Partial<PlannedRun>;
}

const home: Tree = [
  '/ws/',
  '/tmp/',
  '/var/tmp/',
  '/home/ada/.local/state/cordon/',
  '/home/ada/.ssh/id_ed25519',
  '/run/user/1000/',
];

const goldens: readonly Golden[] = [
  {
    name: 'defaults in a repository',
    tree: [
      ...home,
      '/ws/.git/',
      '/ws/.vscode/',
      '/ws/.github/workflows/',
      '/ws/src/',
      '/home/ada/.npm/',
      '/home/ada/.cache/',
      '/home/ada/.aws/',
    ],
    layers: [],
    run: { directory: at('/ws/src') },
  },
  {
    name: 'every layer says something',
    tree: [...home, '/ws/.git', '/ws/deploy/keys/', '/ws/.env', '/srv/build/', '/home/ada/.kube/'],
    layers: [
      layer(managed, {
        network: { mode: 'ask', deny: ['*.bad.example'] },
        filesystem: { denyRead: ['/srv/secrets'] },
      }),
      layer(user, {
        network: {
          mode: 'on',
          allow: [
            'registry.npmjs.org:443',
            '*.github.com',
            '192.168.7.0/24:5432',
            'localhost:3000-3001',
          ],
        },
        filesystem: {
          writableRoots: ['/srv/build'],
          denyRead: ['.env', '!~/.kube'],
          protectedPaths: ['!.idea'],
        },
        environment: { keep: ['GH_TOKEN'] },
      }),
      layer(workspace, {
        network: { deny: ['gist.github.com'] },
        filesystem: { protectedPaths: ['deploy/keys'], caches: 'off' },
        approvals: { timeout: 60 },
      }),
      layer(typed, { network: { allow: ['example.com'] } }),
    ],
    run: { brokerLoss: 'wait', terminal: 'relay' },
  },
  {
    name: 'an open network under an administrator’s list',
    tree: home,
    layers: [
      layer(managed, {
        network: { allow: ['*.corp.example', '10.0.0.0/8:443', 'localhost:8080'] },
      }),
      layer(user, {
        network: { mode: 'on', allow: ['git.corp.example', 'localhost:8080', 'localhost:9090'] },
        filesystem: { caches: 'off' },
      }),
    ],
  },
  {
    name: 'a workspace below tmp with links',
    tree: [
      ...home,
      '/tmp/link -> ws',
      '/tmp/ws/.git -> ../store',
      '/tmp/store/',
      '/tmp/ws/.github/workflows -> ../ci',
      '/tmp/ws/ci/',
    ],
    layers: [layer(user, { filesystem: { caches: 'shared' } })],
    context: { roots: [at('/tmp/link')] },
    run: { directory: at('/tmp/link') },
  },
  {
    name: 'bytes and newlines in paths',
    tree: [...home, '/ws/a b\nc\udcff/.git/'],
    layers: [layer(user, { filesystem: { caches: 'off' } })],
    context: { roots: [at('/ws/a b\nc\udcff')] },
    run: { directory: at('/ws/a b\nc\udcff') },
  },
];

for (const golden of goldens) {
  test(`the plan for ${golden.name} is as it was`, () => {
    const file = new URL(`linux/${golden.name.replace(/[^a-z]+/gu, '-')}.txt`, import.meta.url);
    const text = goldenText(golden);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    assert.equal(text, readFileSync(file, 'utf8'), 'look at the difference, then UPDATE_GOLDEN=1');
  });
}

function goldenText(golden: Golden): string {
  const { policy, problems } = resolved(golden.layers, golden.context);
  const run: PlannedRun = { ...plannedRun, ...golden.run };
  const { plan, gaps } = planLinux(policy, treeFacts(golden.tree, policy, run), run);
  return [
    '== What is sent to the launcher',
    ...exactLines(plan),
    '',
    '== What cannot be kept',
    ...gaps.map((gap: Gap) => JSON.stringify(gap)),
    '',
    '== What was wrong with the settings',
    ...problems,
    '',
    '== In words',
    renderPlan(plan, gaps, policy),
  ].join('\n');
}

/** Every value of the plan, one line for each element of a list. */
function exactLines(plan: LinuxPlan): readonly string[] {
  const lines = (key: string, value: unknown): readonly string[] => {
    if (Array.isArray(value))
      return [`${key}:`, ...value.map((item) => `  ${JSON.stringify(item)}`)];
    if (typeof value !== 'object' || value === null) return [`${key}: ${JSON.stringify(value)}`];
    return Object.entries(value).flatMap(([name, inner]) => lines(`${key}.${name}`, inner));
  };
  return Object.entries(plan).flatMap(([key, value]) => lines(key, value));
}
