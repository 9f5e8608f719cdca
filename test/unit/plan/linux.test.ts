import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CordonError } from '../../../src/base/errors.js';
import type { Facts, PlannedRun } from '../../../src/plan/host.js';
import { planLinux } from '../../../src/plan/linux.js';
import type { PlanResult } from '../../../src/plan/linux.js';
import type { Mount } from '../../../src/plan/plan.js';
import type { PolicyContext } from '../../../src/policy/policy.js';
import type { Tree } from '../../support/fakeTree.js';
import { treeFacts } from '../../support/fakeTree.js';
import {
  at,
  layer,
  managed,
  plannedRun as run,
  resolved,
  user,
  workspace,
} from '../../support/policies.js';

/** Folders that every test has, and the settings that keep a plan short. */
const base: Tree = ['/ws/', '/tmp/', '/var/tmp/', '/home/ada/', '/home/ada/.local/state/cordon/'];
const quiet = { filesystem: { caches: 'off' } };

interface Case {
  readonly tree?: Tree;
  readonly settings?: unknown;
  readonly admin?: unknown;
  readonly own?: unknown;
  readonly context?: Partial<PolicyContext>;
  readonly run?: Partial<PlannedRun>;
  readonly facts?: Partial<Omit<Facts, 'paths'>>;
}

function planned(given: Case): PlanResult {
  const layers = [
    ...(given.admin === undefined ? [] : [layer(managed, given.admin)]),
    layer(user, given.settings ?? quiet),
    ...(given.own === undefined ? [] : [layer(workspace, given.own)]),
  ];
  const { policy } = resolved(layers, given.context);
  const thisRun = { ...run, ...given.run };
  const facts = treeFacts([...base, ...(given.tree ?? [])], policy, thisRun, given.facts);
  return planLinux(policy, facts, thisRun);
}

/** The mounts as lines, without the two temporary folders and the state folder that every plan has. */
function mounts(given: Case): readonly string[] {
  const usual = ['private /tmp', 'private /var/tmp', 'mask /home/ada/.local/state/cordon'];
  return planned(given)
    .plan.mounts.map(mountLine)
    .filter((line) => !usual.includes(line));
}

function mountLine(mount: Mount): string {
  return mount.op === 'copyOnWrite'
    ? `copyOnWrite ${mount.path} ${mount.upper} ${mount.work}`
    : `${mount.op} ${mount.path}`;
}

function refusal(given: Case): string {
  try {
    planned(given);
  } catch (error) {
    if (error instanceof CordonError) return `${error.code}: ${error.userMessage}`;
    throw error;
  }
  return 'planned';
}

function gapReasons(given: Case, promise: RegExp): readonly string[] {
  return planned(given)
    .gaps.filter((gap) => promise.test(gap.promise))
    .map(({ reason }) => reason);
}

test('an empty workspace: read-only but for the root, temporary folders private, state closed', () => {
  assert.deepEqual(planned({}).plan.mounts.map(mountLine), [
    'private /tmp',
    'private /var/tmp',
    'writable /ws',
    'mask /home/ada/.local/state/cordon',
  ]);
});

test('a protected path that exists is read-only, after its root, and every folder between is pinned', () => {
  assert.deepEqual(
    mounts({
      tree: ['/ws/.git/', '/ws/.github/workflows/ci.yml', '/ws/a/b/c/keep'],
      own: { filesystem: { protectedPaths: ['a/b/c'] } },
    }),
    [
      'writable /ws',
      'pin /ws/.github',
      'pin /ws/a',
      'pin /ws/a/b',
      'protect /ws/.git',
      'protect /ws/.github/workflows',
      'protect /ws/a/b/c',
    ],
  );
});

test('a protected file is protected as a file', () => {
  assert.deepEqual(mounts({ tree: ['/ws/.envrc'] }), ['writable /ws', 'protect /ws/.envrc']);
});

test('a protected path that does not exist is a gap, not a mount', () => {
  const [reason] = gapReasons({}, /also before they exist/u);
  assert.match(reason ?? '', /\/ws\/\.git, \/ws\/\.codex, \/ws\/\.agents/u);
  assert.deepEqual(mounts({}), ['writable /ws']);
});

test('a protected path outside of every writable root needs no mount and is no gap', () => {
  const given: Case = {
    tree: ['/opt/cordon/'],
    settings: { filesystem: { caches: 'off', protectedPaths: ['/etc/x'] } },
  };
  assert.deepEqual(mounts(given), ['writable /ws']);
  assert.doesNotMatch(gapReasons(given, /before they exist/u).join(), /\/etc\/x|\/opt\/cordon/u);
});

test('Cordon’s own program is read-only also when it lies in a writable root', () => {
  assert.deepEqual(mounts({ tree: ['/ws/dist/cli.js'], context: { own: [at('/ws/dist')] } }), [
    'writable /ws',
    'protect /ws/dist',
  ]);
});

test('a protected path that is a link: its target is read-only when writable, and that the link can be replaced is a gap', () => {
  const given: Case = { tree: ['/ws/.git -> store/git', '/ws/store/git/'] };
  assert.deepEqual(mounts(given), ['writable /ws', 'pin /ws/store', 'protect /ws/store/git']);
  assert.deepEqual(gapReasons(given, /^Protected paths stay read-only$/u), [
    'a symbolic link can be replaced by something else: /ws/.git',
  ]);
  assert.doesNotMatch(gapReasons(given, /before they exist/u).join(), /\/ws\/\.git,/u);
});

test('a link below a folder of its own: that folder is read-only, so that the link cannot be replaced', () => {
  assert.deepEqual(mounts({ tree: ['/ws/.github/workflows -> ../ci', '/ws/ci/'] }), [
    'writable /ws',
    'protect /ws/.github',
    'protect /ws/ci',
  ]);
});

test('a link among the folders above a protected path is a gap at the root', () => {
  const given: Case = { tree: ['/ws/.github -> gh', '/ws/gh/workflows/'] };
  assert.deepEqual(mounts(given), ['writable /ws', 'pin /ws/gh', 'protect /ws/gh/workflows']);
  assert.match(gapReasons(given, /^Protected paths stay read-only$/u).join(), /\/ws\/\.github/u);
});

test('a dangling link at a protected name is a gap', () => {
  const given: Case = { tree: ['/ws/.vscode -> nowhere'] };
  assert.deepEqual(mounts(given), ['writable /ws']);
  assert.match(gapReasons(given, /^Protected paths stay read-only$/u).join(), /\/ws\/\.vscode/u);
});

test('a .git file is followed to its git directory and common directory, as far as they are writable', () => {
  const given: Case = {
    tree: ['/ws/.git', '/main/.git/worktrees/ws/', '/main/src/'],
    context: { roots: [at('/ws'), at('/main')] },
    facts: {
      gitDirectories: new Map([
        [at('/ws/.git'), [at('/main/.git/worktrees/ws'), at('/main/.git')]],
      ]),
    },
  };
  assert.deepEqual(mounts(given), [
    'writable /main',
    'writable /ws',
    'protect /main/.git',
    'protect /ws/.git',
  ]);
  const outside: Case = { ...given, context: { roots: [at('/ws')] } };
  assert.deepEqual(mounts(outside), ['writable /ws', 'protect /ws/.git']);
});

test('a root inside another is one mount; its protected names hold, with the folders above them pinned', () => {
  assert.deepEqual(
    mounts({
      tree: ['/ws/pkg/web/.git/', '/ws/.git/'],
      context: { roots: [at('/ws'), at('/ws/pkg/web')] },
    }),
    [
      'writable /ws',
      'pin /ws/pkg',
      'pin /ws/pkg/web',
      'protect /ws/.git',
      'protect /ws/pkg/web/.git',
    ],
  );
});

test('a root reached by a link is opened where it really is', () => {
  const given: Case = {
    tree: ['/link -> /data/ws', '/data/ws/.git/', '/data/ws/sub/'],
    context: { roots: [at('/link')] },
    run: { directory: at('/link/sub') },
  };
  assert.deepEqual(mounts(given), ['writable /data/ws', 'protect /data/ws/.git']);
  assert.equal(planned(given).plan.directory, '/data/ws/sub');
});

const refusedRoots: readonly (readonly [why: string, given: Case, message: string])[] = [
  [
    'does not exist',
    { context: { roots: [at('/gone')] } },
    'rootMissing: The writable root /gone (workspace folder) does not exist. Create it, or remove it from cordon.filesystem.writableRoots.',
  ],
  [
    'is a link that leads nowhere',
    { tree: ['/link -> /gone'], context: { roots: [at('/link')] } },
    'rootMissing: The writable root /link (workspace folder) does not exist. Create it, or remove it from cordon.filesystem.writableRoots.',
  ],
  [
    'is a file',
    { tree: ['/ws/file'], context: { roots: [at('/ws/file')] } },
    'rootUnusable: The writable root /ws/file is not a folder; a writable root must be one.',
  ],
  [
    'is the whole system',
    { context: { roots: [at('/')] } },
    'rootUnusable: The writable root / would open /proc, which nothing in a sandbox may write to.',
  ],
  [
    'is in /dev',
    { tree: ['/dev/shm/'], context: { roots: [at('/dev/shm')] } },
    'rootUnusable: The writable root /dev/shm would open /dev, which nothing in a sandbox may write to.',
  ],
  [
    'leads to /proc by a link',
    { tree: ['/link -> /proc/sys', '/proc/sys/'], context: { roots: [at('/link')] } },
    'rootUnusable: The writable root /link would open /proc, which nothing in a sandbox may write to.',
  ],
  [
    'lies in a closed place',
    { tree: ['/home/ada/.aws/x/'], context: { roots: [at('/home/ada/.aws/x')] } },
    'rootUnusable: The writable root /home/ada/.aws/x lies in /home/ada/.aws, which is closed for reading (built-in default); to open it, add "!/home/ada/.aws" to cordon.filesystem.denyRead.',
  ],
  [
    'lies in Cordon’s state',
    {
      tree: ['/home/ada/.local/state/cordon/x/'],
      context: { roots: [at('/home/ada/.local/state/cordon/x')] },
    },
    'rootUnusable: The writable root /home/ada/.local/state/cordon/x lies in /home/ada/.local/state/cordon, which is closed for reading (built in, cannot be changed).',
  ],
  [
    'is reached through a link that a sandboxed command could point elsewhere',
    { tree: ['/ws/out -> /srv', '/srv/'], context: { roots: [at('/ws'), at('/ws/out')] } },
    'rootUnusable: The writable root /ws/out is reached through a symbolic link inside the writable root /ws, which a sandboxed command could point elsewhere; name /srv itself.',
  ],
  [
    'really lies outside of what the administrator lets be written',
    {
      admin: { filesystem: { writableRoots: ['/ws'] } },
      tree: ['/ws/out -> /srv', '/srv/'],
      context: { roots: [at('/ws/out')] },
      run: { directory: at('/srv') },
    },
    'rootUnusable: The writable root /ws/out is really /srv, which the administrator does not let be written to.',
  ],
];

for (const [why, given, message] of refusedRoots) {
  test(`nothing runs with a root that ${why}`, () => {
    assert.equal(refusal(given), message);
  });
}

test('closed places win over all: later in the plan, links resolved, inner ones left out', () => {
  const given: Case = {
    tree: [
      '/home/ada/.ssh -> .keys/ssh',
      '/home/ada/.keys/ssh/',
      '/home/ada/.aws/',
      '/run/docker.sock=',
      '/ws/.env',
      '/ws/.git/',
    ],
    settings: {
      filesystem: { caches: 'off', denyRead: ['.env', '~/.aws/credentials', '~/.keys'] },
    },
  };
  assert.deepEqual(mounts(given), [
    'writable /ws',
    'protect /ws/.git',
    'mask /home/ada/.aws',
    'mask /home/ada/.keys',
    'mask /run/docker.sock',
    'mask /ws/.env',
  ]);
});

test('a closed place that does not exist is a gap', () => {
  assert.match(gapReasons({}, /when they appear later/u).join(), /\/home\/ada\/\.ssh/u);
});

test('another mount of a closed or protected place is closed or protected as well', () => {
  const given: Case = {
    tree: ['/home/ada/.ssh/', '/ws/.git/'],
    settings: { filesystem: { caches: 'off', writableRoots: ['/mnt/copy'] } },
    facts: {
      aliases: new Map([
        [at('/home/ada/.ssh'), [at('/mnt/wslg/home/ada/.ssh')]],
        [at('/ws/.git'), [at('/mnt/copy/.git')]],
      ]),
    },
  };
  assert.deepEqual(mounts({ ...given, tree: [...(given.tree ?? []), '/mnt/copy/'] }), [
    'writable /mnt/copy',
    'writable /ws',
    'protect /mnt/copy/.git',
    'protect /ws/.git',
    'mask /home/ada/.ssh',
    'mask /mnt/wslg/home/ada/.ssh',
  ]);
});

test('a workspace below /tmp is mounted back into the private one', () => {
  const given: Case = {
    tree: ['/tmp/ws/.git/'],
    context: { roots: [at('/tmp/ws')] },
    run: { directory: at('/tmp/ws') },
  };
  assert.deepEqual(mounts(given), ['writable /tmp/ws', 'protect /tmp/ws/.git']);
});

test('a shared temporary folder is writable, and what is protected holds there, too', () => {
  const given: Case = {
    tree: ['/tmp/keep/'],
    settings: { filesystem: { temp: 'shared', caches: 'off', protectedPaths: ['/tmp/keep'] } },
  };
  assert.deepEqual(mounts(given), [
    'writable /tmp',
    'writable /var/tmp',
    'writable /ws',
    'protect /tmp/keep',
  ]);
  assert.deepEqual(planned(given).plan.environment.set, []);
});

test('a /var/tmp that is a link to /tmp is one folder', () => {
  const { plan } = planned({ tree: ['/var/tmp -> /tmp'] });
  assert.deepEqual(
    plan.mounts.filter(({ op }) => op === 'private').map(({ path }) => path),
    ['/tmp'],
  );
});

const refusedDirectories: readonly (readonly [why: string, given: Case, message: string])[] = [
  ['does not exist', { run: { directory: at('/gone') } }, 'does not exist.'],
  ['is a file', { tree: ['/ws/file'], run: { directory: at('/ws/file') } }, 'does not exist.'],
  [
    'lies in the private temporary folder',
    { tree: ['/tmp/x/'], run: { directory: at('/tmp/x') } },
    'lies in the temporary folder, which is private to each run: make it a writable root, or set cordon.filesystem.temp to "shared".',
  ],
  [
    'is closed for reading',
    { tree: ['/home/ada/.ssh/'], run: { directory: at('/home/ada/.ssh') } },
    'is closed for reading (cordon.filesystem.denyRead).',
  ],
  [
    'is Cordon’s state',
    { run: { directory: at('/home/ada/.local/state/cordon') } },
    'is closed for reading (cordon.filesystem.denyRead).',
  ],
];

for (const [why, given, message] of refusedDirectories) {
  test(`nothing runs in a working directory that ${why}`, () => {
    const directory = given.run?.directory ?? '';
    assert.equal(
      refusal(given),
      `directoryUnusable: The working directory ${directory} ${message}`,
    );
  });
}

test('a working directory outside of the roots is kept, read-only', () => {
  assert.equal(
    planned({ tree: ['/usr/src/'], run: { directory: at('/usr/src') } }).plan.directory,
    '/usr/src',
  );
});

const caches = (mode: string): unknown => ({ filesystem: { caches: mode } });
const state = '/home/ada/.local/state/cordon';

test('an existing cache is covered by a layer of its own, a missing one gets an empty folder and a variable', () => {
  const given: Case = {
    tree: ['/home/ada/.npm/', '/home/ada/.cargo/bin/', '/home/ada/.cargo/config.toml'],
    settings: caches('private'),
  };
  const { plan, folders } = planned(given);
  const layerOf = (name: string, path: string): string =>
    `copyOnWrite ${path} ${state}/caches/k/0/${name}/upper ${state}/caches/k/0/${name}/work`;
  assert.deepEqual(plan.mounts.map(mountLine), [
    'private /tmp',
    'private /var/tmp',
    layerOf('npm', '/home/ada/.npm'),
    layerOf('cargo', '/home/ada/.cargo'),
    'writable /ws',
    'protect /home/ada/.cargo/bin',
    'protect /home/ada/.cargo/config.toml',
    `private ${state}`,
    `writable ${state}/caches/k/0/new`,
  ]);
  const set = new Map(plan.environment.set.map((variable) => [variable.name, variable]));
  assert.deepEqual(set.get('GOPATH'), {
    name: 'GOPATH',
    value: `${state}/caches/k/0/new/go`,
    overwrite: false,
  });
  assert.equal(set.get('npm_config_cache'), undefined);
  assert.equal(set.get('CARGO_HOME'), undefined);
  assert.deepEqual(folders, [
    `${state}/caches/k/0/npm/upper`,
    `${state}/caches/k/0/npm/work`,
    `${state}/caches/k/0/cargo/upper`,
    `${state}/caches/k/0/cargo/work`,
    `${state}/caches/k/0/new`,
  ]);
});

test('the store of pnpm is always named, so that none is made in the project', () => {
  const store = (tree: Tree): string | undefined =>
    planned({ tree, settings: caches('private') }).plan.environment.set.find(
      ({ name }) => name === 'npm_config_store_dir',
    )?.value;
  assert.equal(store(['/home/ada/.local/share/pnpm/']), '/home/ada/.local/share/pnpm/store');
  assert.equal(store([]), `${state}/caches/k/0/new/pnpm/store`);
});

test('without overlays every cache is an empty folder of its own', () => {
  const { plan } = planned({
    tree: ['/home/ada/.npm/'],
    settings: caches('private'),
    facts: { canOverlay: false },
  });
  assert.deepEqual(
    plan.mounts.filter(({ op }) => op === 'copyOnWrite'),
    [],
  );
  assert.ok(
    plan.environment.set.some(
      ({ name, value }) => name === 'npm_config_cache' && value.startsWith(state),
    ),
  );
});

test('a cache that is writable anyway needs no layer, and a root inside a cache stays a root', () => {
  const inRoot = mounts({
    tree: ['/home/ada/.npm/'],
    settings: { filesystem: { caches: 'private', writableRoots: ['~/.npm'] } },
  });
  assert.ok(
    inRoot.includes('writable /home/ada/.npm') &&
      !inRoot.some((line) => line.startsWith('copyOnWrite')),
  );
  const rootInside = mounts({
    tree: ['/home/ada/.npm/ws/'],
    settings: { filesystem: { caches: 'private', writableRoots: ['~/.npm/ws'] } },
  });
  assert.ok(
    rootInside.findIndex((line) => line.startsWith('copyOnWrite /home/ada/.npm ')) <
      rootInside.indexOf('writable /home/ada/.npm/ws'),
  );
});

test('shared caches are writable where they are, without the programs beside them', () => {
  const given: Case = {
    tree: [
      '/home/ada/.npm/',
      '/home/ada/.cargo/registry/',
      '/home/ada/.cargo/bin/',
      '/home/ada/.gradle/caches/',
    ],
    settings: caches('shared'),
  };
  assert.deepEqual(mounts(given), [
    'writable /home/ada/.npm',
    'writable /home/ada/.cargo/registry',
    'writable /home/ada/.gradle/caches',
    'writable /ws',
  ]);
});

test('caches that are off stay read-only, and no variable points anywhere', () => {
  const { plan } = planned({ tree: ['/home/ada/.npm/'] });
  assert.deepEqual(plan.environment.set, [{ name: 'TMPDIR', value: '/tmp', overwrite: true }]);
});

test('a root around the home folder keeps its start-up files read-only and says what is left', () => {
  const given: Case = {
    tree: ['/home/ada/.bashrc', '/home/ada/.config/x', '/home/ada/.ssh/'],
    context: { roots: [at('/home/ada')] },
    run: { directory: at('/home/ada') },
  };
  const lines = mounts(given);
  assert.deepEqual(lines, [
    'writable /home/ada',
    'protect /home/ada/.bashrc',
    'protect /home/ada/.config',
    'mask /home/ada/.ssh',
  ]);
  assert.equal(gapReasons(given, /runs later outside/u).length, 1);
});

test('a plan that the launcher would not take is refused with what is too much', () => {
  const deny = Array.from({ length: 10_000 }, (_, index) => `h${index}.example`);
  const more = { network: { deny } };
  assert.equal(
    refusal({
      settings: { ...quiet, network: { deny } },
      own: more,
      admin: { network: { deny: ['a.example'] } },
    }),
    'planTooLarge: The policy is too large to enforce: 20001 network rules, at most 20000 are possible',
  );
});

test('a thousand roots and closed places are planned in a moment', () => {
  const count = 1000;
  const names = Array.from({ length: count }, (_, index) => `/data/r${index}`);
  const tree = names.flatMap((name) => [`${name}/.git/`, `${name}/.env`]);
  const started = performance.now();
  const { plan } = planned({
    tree,
    settings: { filesystem: { caches: 'off', writableRoots: names, denyRead: ['.env'] } },
  });
  assert.equal(plan.mounts.filter(({ op }) => op === 'mask').length, count + 1);
  assert.ok(performance.now() - started < 5000);
});

test('network, limits and what happens without a broker are what the policy and the run say', () => {
  const { plan } = planned({
    settings: {
      ...quiet,
      network: { mode: 'on', allow: ['a.example:443', 'localhost:5432'], deny: ['10.0.0.0/8'] },
      approvals: { timeout: 7 },
    },
    run: { brokerLoss: 'wait', terminal: 'relay' },
  });
  assert.equal(plan.network.mode, 'on');
  assert.deepEqual(plan.network.rules[0], {
    effect: 'deny',
    network: '10.0.0.0/8',
    ports: [1, 65535],
  });
  assert.deepEqual(plan.network.rules.at(-1), {
    effect: 'allow',
    host: 'a.example',
    ports: [443, 443],
  });
  assert.deepEqual(plan.network.hostPorts, [5432]);
  assert.deepEqual(plan.limits, { answerMs: 7000, brokerMs: 60_000 });
  assert.deepEqual(
    [plan.brokerLoss, plan.terminal, plan.run, plan.engine],
    ['wait', 'relay', 'r1', 'namespaces'],
  );
});
