import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CordonError } from '../../../src/base/errors.js';
import type { Facts, PlannedRun } from '../../../src/plan/host.js';
import { planLinux } from '../../../src/plan/linux.js';
import type { PlanResult } from '../../../src/plan/linux.js';
import type { Mount } from '../../../src/plan/plan.js';
import type { PolicyContext } from '../../../src/policy/policy.js';
import type { Tree } from '../../support/fakeTree.js';
import { readTree, treeFacts } from '../../support/fakeTree.js';
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

/** A host on which another sandbox holds the calls: mounts are all there is. */
const unheld = { host: { overlay: true, hold: false, holdReads: true } };

/** So that reading a repository raises no question. */
const noOptionalLocks = { name: 'GIT_OPTIONAL_LOCKS', value: '0', overwrite: false };

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

/** The mounts as lines, without what every plan has: temporary folders, the state folder, closed places that may appear. */
function mounts(given: Case): readonly string[] {
  const usual = ['private /tmp', 'private /var/tmp', 'mask /home/ada/.local/state/cordon'];
  return thereIn(given)
    .map(mountLine)
    .filter((line) => !usual.includes(line));
}

function thereIn(given: Case): readonly Mount[] {
  const there = readTree([...base, ...(given.tree ?? [])]);
  return planned(given).plan.mounts.filter(({ op, path }) => op !== 'tripwire' || there.has(path));
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
  assert.deepEqual(thereIn({}).map(mountLine), [
    'private /tmp',
    'private /var/tmp',
    'writable /ws',
    'mask /home/ada/.local/state/cordon',
  ]);
});

test('protected paths are judged by name; mounts are kept ready for a launch that cannot hold calls', () => {
  const given: Case = {
    tree: ['/ws/.git/', '/ws/.github/workflows/ci.yml', '/ws/.envrc', '/ws/a/b/c/keep'],
    own: { filesystem: { protectedPaths: ['a/b/c'] } },
  };
  assert.deepEqual(mounts(given), [
    'writable /ws',
    'guard /ws/.envrc',
    'guard /ws/.git',
    'guard /ws/.github/workflows',
    'guard /ws/a/b/c',
  ]);
  const { files } = planned(given).plan;
  assert.deepEqual(files.roots, ['/ws']);
  assert.deepEqual(
    ['.codex', '.agents', '.cordon.json', '.vscode', '.github/workflows', '.git'].filter((name) =>
      files.names.includes(name),
    ),
    ['.codex', '.agents', '.cordon.json', '.vscode', '.github/workflows'],
  );
  assert.ok(files.protected.includes(at('/ws/a/b/c')));
  assert.ok(!files.protected.includes(at('/ws/.vscode')), 'its name is enough');
  assert.equal(files.git, 'ask');
});

test('a name of the user’s holds in every root, one of a workspace’s in its folder', () => {
  const { files } = planned({
    settings: { filesystem: { caches: 'off', protectedPaths: ['deploy', '~/x', '!.idea'] } },
    own: { filesystem: { protectedPaths: ['keys'] } },
    context: { roots: [at('/ws'), at('/other')] },
    tree: ['/other/'],
  }).plan;
  assert.deepEqual(
    ['deploy', 'keys', '.idea'].map((name) => files.names.includes(name)),
    [true, false, false],
  );
  assert.deepEqual(
    ['/ws/keys', '/other/keys', '/home/ada/x'].map((path) => files.protected.includes(at(path))),
    [true, false, true],
  );
});

test('what nobody is asked about is read-only as well: Cordon’s own, and git directories with git: protect', () => {
  const given: Case = {
    tree: ['/ws/.git/', '/ws/tools/dist/cli.js', '/ws/.vscode/settings.json', '/ws/.cordon.json'],
    settings: { filesystem: { caches: 'off', git: 'protect' } },
    own: {},
    context: { own: [at('/ws/tools/dist')] },
  };
  assert.deepEqual(mounts(given), [
    'writable /ws',
    'pin /ws/tools',
    'protect /ws/.git',
    'protect /ws/tools/dist',
    'guard /ws/.cordon.json',
    'guard /ws/.vscode',
  ]);
});

test('where calls are held, what does not exist, lies deeper or is a link is no gap', () => {
  const { gaps } = planned({ tree: ['/ws/.git -> store', '/ws/store/', '/ws/.vscode -> nowhere'] });
  assert.deepEqual(gaps, []);
});

test('a link at a protected name: the name is judged, and what it leads to', () => {
  const { files } = planned({
    tree: ['/ws/.github -> gh', '/ws/gh/', '/ws/.vscode -> ../shared/vs', '/shared/vs/'],
  }).plan;
  const found = ['/ws/gh/workflows', '/shared/vs', '/ws/.vscode', '/ws/.github/workflows'];
  assert.deepEqual(
    found.filter((path) => files.protected.includes(at(path))),
    ['/ws/gh/workflows', '/shared/vs'],
  );
});

const repositories: readonly (readonly [what: string, given: Case, expected: unknown])[] = [
  ['a plain repository needs no mention', { tree: ['/ws/.git/'] }, []],
  [
    'a linked worktree',
    {
      tree: ['/ws/.git', '/main/.git/worktrees/ws/'],
      facts: {
        gitDirectories: new Map([
          [at('/ws/.git'), [at('/main/.git/worktrees/ws'), at('/main/.git')]],
        ]),
      },
    },
    [{ directory: '/main/.git/worktrees/ws', common: '/main/.git' }],
  ],
  [
    'a submodule, or a .git that is a link',
    {
      tree: ['/ws/.git -> ../store', '/store/'],
      facts: { gitDirectories: new Map([[at('/ws/.git'), [at('/store')]]]) },
    },
    [{ directory: '/store', common: '/store' }],
  ],
  [
    'a root inside a repository',
    {
      tree: ['/repo/.git/', '/repo/packages/web/', '/.git/'],
      context: { roots: [at('/repo/packages/web')] },
      run: { directory: at('/repo/packages/web') },
    },
    [{ directory: '/repo/.git', common: '/repo/.git' }],
  ],
  [
    'the same below another root is plain',
    {
      tree: ['/repo/.git/', '/repo/packages/web/'],
      context: { roots: [at('/repo'), at('/repo/packages/web')] },
      run: { directory: at('/repo') },
    },
    [],
  ],
];

for (const [what, given, expected] of repositories) {
  test(`repositories outside of their root are named: ${what}`, () => {
    assert.deepEqual(planned(given).plan.files.repositories, expected);
    assert.deepEqual(planned(given).plan.opens, []);
  });
}

test('with git: allow a repository outside of its root is open from the start', () => {
  const { plan } = planned({
    tree: ['/repo/.git/', '/repo/web/'],
    settings: { filesystem: { caches: 'off', git: 'allow' } },
    context: { roots: [at('/repo/web')] },
    run: { directory: at('/repo/web') },
  });
  assert.equal(plan.files.git, 'allow');
  assert.ok(!plan.environment.set.some(({ name }) => name === noOptionalLocks.name));
  assert.deepEqual(plan.opens, [{ access: 'git', path: '/repo/.git' }]);
});

test('an exception inside a protected place is open for writing, by the name itself', () => {
  const settings = {
    filesystem: { caches: 'off', protectedPaths: ['!/ws/.vscode/settings.json', '!/ws/.git/x'] },
  };
  assert.deepEqual(planned({ tree: ['/ws/.vscode/'], settings }).plan.opens, [
    { access: 'write', path: '/ws/.vscode/settings.json' },
  ]);
});

test('without held calls, a protected path that exists is read-only, after its root, and every folder between is pinned', () => {
  assert.deepEqual(
    mounts({
      tree: ['/ws/.git/', '/ws/.github/workflows/ci.yml', '/ws/.envrc', '/ws/a/b/c/keep'],
      own: { filesystem: { protectedPaths: ['a/b/c'] } },
      facts: unheld,
    }),
    [
      'writable /ws',
      'pin /ws/.github',
      'pin /ws/a',
      'pin /ws/a/b',
      'protect /ws/.envrc',
      'protect /ws/.git',
      'protect /ws/.github/workflows',
      'protect /ws/a/b/c',
    ],
  );
});

test('without held calls, a protected path that does not exist is a gap, not a mount', () => {
  const [reason] = gapReasons({ facts: unheld }, /also before they exist/u);
  assert.match(reason ?? '', /\/ws\/\.git/u);
  assert.match(reason ?? '', /\/ws\/\.codex/u);
  assert.deepEqual(mounts({ facts: unheld }), ['writable /ws']);
  assert.equal(gapReasons({ facts: unheld }, /at any depth/u).length, 1);
});

test('without held calls, a protected path outside of every writable root needs no mount and is no gap', () => {
  const given: Case = {
    tree: ['/opt/cordon/'],
    settings: { filesystem: { caches: 'off', protectedPaths: ['/etc/x'] } },
    facts: unheld,
  };
  assert.deepEqual(mounts(given), ['writable /ws']);
  assert.doesNotMatch(gapReasons(given, /before they exist/u).join(), /\/etc\/x|\/opt\/cordon/u);
});

const links: readonly (readonly [
  what: string,
  tree: Tree,
  covered: readonly string[],
  gap: RegExp,
])[] = [
  [
    'its target is read-only when writable, and that the link can be replaced is a gap',
    ['/ws/.vscode -> store/vs', '/ws/store/vs/'],
    ['pin /ws/store', 'protect /ws/store/vs'],
    /replaced by something else: \/ws\/\.vscode$/u,
  ],
  [
    'in a folder of its own, that folder is read-only, so that the link cannot be replaced',
    ['/ws/.github/workflows -> ../ci', '/ws/ci/'],
    ['protect /ws/.github', 'protect /ws/ci'],
    /^$/u,
  ],
  [
    'among the folders above, it is a gap at the root',
    ['/ws/.github -> gh', '/ws/gh/workflows/'],
    ['pin /ws/gh', 'protect /ws/gh/workflows'],
    /\/ws\/\.github/u,
  ],
  ['that leads nowhere is a gap', ['/ws/.vscode -> nowhere'], [], /\/ws\/\.vscode/u],
];

for (const [what, tree, covered, gap] of links) {
  test(`without held calls, a link at a protected path: ${what}`, () => {
    const given: Case = { tree, facts: unheld };
    assert.deepEqual(mounts(given), ['writable /ws', ...covered]);
    assert.match(gapReasons(given, /^Protected paths stay read-only$/u).join(), gap);
  });
}

test('without held calls, a .git file is followed to its git directory and common directory, as far as they are writable', () => {
  const given: Case = {
    tree: ['/ws/.git', '/main/.git/worktrees/ws/', '/main/src/'],
    context: { roots: [at('/ws'), at('/main')] },
    facts: {
      ...unheld,
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

test('a root inside another is one mount, and a root of its own for names', () => {
  const given: Case = {
    tree: ['/ws/pkg/web/.git/', '/ws/.git/'],
    context: { roots: [at('/ws'), at('/ws/pkg/web')] },
  };
  assert.deepEqual(planned(given).plan.files.roots, ['/ws', '/ws/pkg/web']);
  assert.deepEqual(
    mounts(given),
    ['writable /ws', 'pin /ws/pkg', 'pin /ws/pkg/web', 'guard /ws/.git', 'guard /ws/pkg/web/.git'],
    'it cannot be renamed away from its names',
  );
  assert.deepEqual(mounts({ ...given, facts: unheld }), [
    'writable /ws',
    'pin /ws/pkg',
    'pin /ws/pkg/web',
    'protect /ws/.git',
    'protect /ws/pkg/web/.git',
  ]);
});

test('a root reached by a link is opened where it really is', () => {
  const given: Case = {
    tree: ['/link -> /data/ws', '/data/ws/.git/', '/data/ws/sub/'],
    context: { roots: [at('/link')] },
    run: { directory: at('/link/sub') },
  };
  assert.deepEqual(mounts(given), ['writable /data/ws', 'guard /data/ws/.git']);
  const { plan } = planned(given);
  assert.equal(plan.directory, '/data/ws/sub');
  assert.deepEqual(plan.files.roots, ['/data/ws']);
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

test('closed places win over all: later in the plan, links resolved, inner ones apart', () => {
  const given: Case = {
    tree: [
      '/home/ada/.ssh -> .keys/ssh',
      '/home/ada/.keys/ssh/',
      '/home/ada/.aws/',
      '/home/ada/.aws/credentials',
      '/ws/.env',
      '/ws/.git/',
    ],
    settings: {
      filesystem: { caches: 'off', denyRead: ['.env', '~/.aws/credentials', '~/.keys'] },
    },
  };
  assert.deepEqual(mounts(given), [
    'writable /ws',
    'guard /ws/.git',
    'tripwire /home/ada/.aws',
    'tripwire /home/ada/.aws/credentials',
    'tripwire /home/ada/.keys',
    'tripwire /home/ada/.keys/ssh',
    'tripwire /ws/.env',
  ]);
});

test('where reads cannot be held, closed places are hidden, and what lies in one needs no mount', () => {
  const given: Case = {
    tree: ['/home/ada/.aws/', '/home/ada/.aws/credentials', '/ws/.env'],
    settings: { filesystem: { caches: 'off', denyRead: ['.env', '~/.aws/credentials'] } },
    facts: { host: { overlay: true, hold: true, holdReads: false } },
  };
  assert.deepEqual(mounts(given), ['writable /ws', 'mask /home/ada/.aws', 'mask /ws/.env']);
});

test('names in closed places are hidden when the settings say so, but for those of agents', () => {
  const settings = { filesystem: { caches: 'off', hideNames: true } };
  const names = (tree: Tree): readonly unknown[] =>
    thereIn({ tree, settings }).flatMap((mount) =>
      mount.op === 'tripwire' ? [[mount.path, mount.names]] : [],
    );
  assert.deepEqual(names(['/home/ada/.aws/', '/home/ada/.gnupg/', '/run/user/1000/bus=']), [
    ['/home/ada/.aws', false],
    ['/home/ada/.gnupg', true],
    ['/run/user/1000', true],
  ]);
});

test('how Cordon’s sessions are reached is hidden whole, inside a closed place as well', () => {
  assert.deepEqual(mounts({ tree: ['/run/user/1000/cordon/'] }), [
    'writable /ws',
    'tripwire /run/user/1000',
    'mask /run/user/1000/cordon',
  ]);
});

test('of many closed places the first can be held, the others are hidden, which is a gap', () => {
  const names = Array.from({ length: 1100 }, (_, index) => `/data/s${index + 1000}`);
  const given: Case = {
    tree: ['/home/ada/.ssh/', ...names],
    settings: { filesystem: { caches: 'off', denyRead: names } },
  };
  const lines = mounts(given);
  assert.equal(lines.filter((line) => line.startsWith('tripwire ')).length, 1024);
  assert.ok(lines.includes('tripwire /home/ada/.ssh'));
  assert.ok(lines.includes('mask /data/s2099'));
  const [reason] = gapReasons(given, /asked before a closed place/u);
  assert.match(reason ?? '', /too many places.*\/data\/s/u);
});

test('an exception inside a closed place is open, by its name and by what it leads to in there', () => {
  const opens = (tree: Tree, ...denyRead: readonly string[]): unknown =>
    planned({ tree, settings: { filesystem: { caches: 'off', denyRead } } }).plan.opens;
  assert.deepEqual(opens(['/home/ada/.ssh/config'], '!~/.ssh/config'), [
    { access: 'read', path: '/home/ada/.ssh/config' },
  ]);
  assert.deepEqual(
    opens(['/home/ada/.ssh/config -> c/main', '/home/ada/.ssh/c/main'], '!~/.ssh/config'),
    [
      { access: 'read', path: '/home/ada/.ssh/config' },
      { access: 'read', path: '/home/ada/.ssh/c/main' },
    ],
  );
  assert.deepEqual(
    opens(['/home/ada/.ssh/config -> ../.aws/key', '/home/ada/.aws/key'], '!~/.ssh/config'),
    [{ access: 'read', path: '/home/ada/.ssh/config' }],
    'a link does not open another closed place',
  );
  assert.deepEqual(opens(['/home/ada/.ssh -> keys', '/home/ada/keys/'], '!~/.ssh/config'), [
    { access: 'read', path: '/home/ada/keys/config' },
  ]);
});

test('a closed place that does not exist is waited for where it would be; as a mask it is a gap', () => {
  const given: Case = {
    tree: ['/home/ada/.config -> cfg', '/home/ada/cfg/', '/home/ada/.netrc -> gone'],
  };
  const { plan } = planned(given);
  const tripwires = plan.mounts.flatMap(({ op, path }) => (op === 'tripwire' ? [path] : []));
  assert.ok(tripwires.includes(at('/home/ada/.ssh')) && tripwires.includes(at('/home/ada/cfg/gh')));
  assert.ok(
    plan.files.protected.includes(at('/home/ada/.ssh')),
    'it cannot be moved when it is there',
  );
  const gap = (facts: Case['facts']): string =>
    gapReasons({ ...given, ...(facts === undefined ? {} : { facts }) }, /appear later/u).join();
  assert.match(gap(undefined), /: \/home\/ada\/\.netrc$/u, 'where a link leads is not known');
  assert.match(
    gap({ host: { overlay: true, hold: true, holdReads: false } }),
    /\/home\/ada\/\.ssh/u,
  );
});

test('another mount of a closed or protected place is closed or protected as well', () => {
  const given: Case = {
    tree: ['/home/ada/.ssh/', '/ws/.git/', '/ws/keys/', '/mnt/copy/', '/mnt/wslg/home/ada/.ssh/'],
    settings: {
      filesystem: { caches: 'off', writableRoots: ['/mnt/copy'], protectedPaths: ['/ws/keys'] },
    },
    facts: {
      ...unheld,
      aliases: new Map([
        [at('/home/ada/.ssh'), [at('/mnt/wslg/home/ada/.ssh')]],
        [at('/ws/.git'), [at('/mnt/copy/.git')]],
        [at('/ws/keys'), [at('/mnt/copy/keys')]],
      ]),
    },
  };
  assert.deepEqual(mounts(given), [
    'writable /mnt/copy',
    'writable /ws',
    'protect /mnt/copy/.git',
    'protect /mnt/copy/keys',
    'protect /ws/.git',
    'protect /ws/keys',
    'tripwire /home/ada/.ssh',
    'tripwire /mnt/wslg/home/ada/.ssh',
  ]);
  assert.ok(planned(given).plan.files.protected.includes(at('/mnt/copy/keys')));
});

const roots = { filesystem: { caches: 'off', read: 'roots' } };

test('read: roots closes what is not the system’s, and opens roots and tool chains in it', () => {
  const given: Case = {
    tree: [
      '/usr/bin/',
      '/etc/',
      '/opt/',
      '/bin -> usr/bin',
      '/root/',
      '/data/',
      '/swapfile',
      '/home/ada/ws/',
      '/home/ada/.nvm/',
      '/home/ada/tools/bin/',
      '/home/ada/.ssh/',
      '/home/bob/',
      '/srv/ref/',
      '/var/lib/',
      '/var/log/',
      '/run/user/1000/',
    ],
    settings: {
      filesystem: { caches: 'off', read: 'roots', readRoots: ['/srv/ref', '/usr/share'] },
    },
    context: { roots: [at('/home/ada/ws')] },
    run: {
      directory: at('/home/ada/ws'),
      searchPath: [at('/usr/bin'), at('/home/ada/tools/bin'), at('/home/ada')],
    },
  };
  const tree = [...(given.tree ?? []), '/usr/share/'];
  assert.deepEqual(mounts({ ...given, tree }), [
    'tripwire /data',
    'tripwire /home',
    'tripwire /root',
    'tripwire /srv',
    'tripwire /swapfile',
    'tripwire /var/log',
    'tripwire /ws',
    'readable /home/ada/.nvm',
    'readable /home/ada/tools/bin',
    'readable /srv/ref',
    'writable /home/ada/ws',
    'tripwire /home/ada/.ssh',
    'tripwire /run/user/1000',
  ]);
});

test('with read: roots a root is not closed, nor a tool chain in a closed place opened', () => {
  assert.deepEqual(
    mounts({
      tree: ['/home/ada/.nvm -> .ssh/nvm', '/home/ada/.ssh/nvm/'],
      settings: roots,
    }),
    ['tripwire /home', 'writable /ws', 'tripwire /home/ada/.ssh'],
  );
});

const refusedReadRoots: readonly (readonly [why: string, given: Case, message: string])[] = [
  [
    'does not exist',
    { settings: { filesystem: { read: 'roots', readRoots: ['/gone'] } } },
    'does not exist.',
  ],
  [
    'lies in a closed place',
    {
      tree: ['/home/ada/.ssh/x'],
      settings: { filesystem: { read: 'roots', readRoots: ['~/.ssh/x'] } },
    },
    'lies in /home/ada/.ssh, which is closed (built-in default).',
  ],
  [
    'leads out of what the administrator lets be read',
    {
      tree: ['/srv/a -> /data', '/data/'],
      admin: { filesystem: { readRoots: ['/srv'] } },
      settings: { filesystem: { read: 'roots', readRoots: ['/srv/a'] } },
    },
    'is really /data, which the administrator does not let be read.',
  ],
];

for (const [why, given, message] of refusedReadRoots) {
  test(`nothing runs with a read root that ${why}`, () => {
    assert.match(refusal(given), /^rootUnusable: The read root /u);
    assert.ok(refusal(given).endsWith(message), refusal(given));
  });
}

test('read: roots is refused where reads cannot be held', () => {
  assert.match(
    refusal({ settings: roots, facts: { host: { overlay: true, hold: true, holdReads: false } } }),
    /^hostUnsupported: .*filesystem\.read is roots .*\/dev\/fuse/u,
  );
});

test('rules for sockets go by real paths; agents and allowed sockets in the private /tmp are put back', () => {
  const given: Case = {
    tree: [
      '/tmp/ssh-x/agent.1=',
      '/home/ada/agent.sock -> /tmp/ssh-x/agent.1',
      '/tmp/app/control=',
      '/tmp/app/other=',
      '/run/docker.sock=',
      '/var/run -> /run',
    ],
    settings: {
      filesystem: { caches: 'off' },
      sockets: { allow: ['/tmp/app/control', '/run/pg'], deny: ['/var/run/x'] },
    },
    context: { sshAgent: at('/home/ada/agent.sock') },
  };
  const { sockets } = planned(given).plan;
  assert.deepEqual(sockets.agents[0], { kind: 'ssh', path: '/tmp/ssh-x/agent.1' });
  assert.deepEqual(
    sockets.rules.filter(({ path }) => /run\/(?:x|pg|docker.sock)$|control/u.test(path)),
    [
      { effect: 'deny', path: '/run/x' },
      { effect: 'allow', path: '/tmp/app/control' },
      { effect: 'allow', path: '/run/pg' },
      { effect: 'ask', path: '/run/docker.sock' },
    ],
  );
  assert.deepEqual(mounts(given), [
    'readable /tmp/app/control',
    'readable /tmp/ssh-x/agent.1',
    'writable /ws',
  ]);
});

test('without held calls, sockets that are not allowed are hidden', () => {
  const given: Case = {
    tree: ['/run/docker.sock=', '/run/dbus/', '/run/systemd/resolve/', '/run/pg/'],
    settings: { filesystem: { caches: 'off' }, sockets: { allow: ['/run/pg'] } },
    facts: unheld,
  };
  assert.deepEqual(mounts(given), ['writable /ws', 'mask /run/dbus', 'mask /run/docker.sock']);
});

test('ports are published as the policy says', () => {
  const publish = (network: unknown): unknown =>
    planned({ settings: { ...quiet, network } }).plan.publish;
  assert.deepEqual(publish({}), { mode: 'ask', ports: [] });
  assert.deepEqual(publish({ listen: 'private', publish: [5173, 3000] }), {
    mode: 'private',
    ports: [5173, 3000],
  });
});

test('a workspace below /tmp is mounted back into the private one', () => {
  const given: Case = {
    tree: ['/tmp/ws/.git/'],
    context: { roots: [at('/tmp/ws')] },
    run: { directory: at('/tmp/ws') },
  };
  assert.deepEqual(mounts(given), ['writable /tmp/ws', 'guard /tmp/ws/.git']);
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
    'guard /tmp/keep',
  ]);
  assert.deepEqual(planned(given).plan.environment.set, [noOptionalLocks]);
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
  const layers = thereIn(given);
  const layerOf = (name: string, path: string): string =>
    `copyOnWrite ${path} ${state}/caches/k/0/${name}/upper ${state}/caches/k/0/${name}/work`;
  assert.deepEqual(layers.map(mountLine), [
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
    facts: { host: { overlay: false, hold: true, holdReads: true } },
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
  assert.deepEqual(plan.environment.set, [
    noOptionalLocks,
    { name: 'TMPDIR', value: '/tmp', overwrite: true },
  ]);
});

test('a root around the home folder protects its start-up files and says what is left', () => {
  const given: Case = {
    tree: ['/home/ada/.bashrc', '/home/ada/.config/x', '/home/ada/.ssh/'],
    context: { roots: [at('/home/ada')] },
    run: { directory: at('/home/ada') },
  };
  const lines = mounts(given);
  assert.deepEqual(lines, [
    'writable /home/ada',
    'guard /home/ada/.bashrc',
    'guard /home/ada/.config',
    'tripwire /home/ada/.ssh',
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
  const closed = plan.mounts.filter(({ op }) => op === 'tripwire').map(({ path }) => path);
  assert.equal(names.filter((name) => closed.includes(at(`${name}/.env`))).length, count);
  assert.equal(plan.files.roots.length, count + 1);
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
