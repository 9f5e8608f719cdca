// Runs tests as an ordinary user. The sandbox is for people, who are not root, and root passes checks that it must not.
// When we are root, the tree is copied to a place below the test user's home, with the large read-only folders bound
// into it: the clone may lie where that user cannot go, and tests must not write into it.

import { spawnSync } from 'node:child_process';
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const USER = 'cordon-test';
/** Made by the set-up, never changed by a test: bound, read-only, instead of copied. */
const BOUND = ['node_modules', 'dist', 'build', '.cache'];
/** What a failed test leaves to look at, such as a picture of the window; all that tests share with the tree. */
const ARTIFACTS = 'build/artifacts';
const NOT_COPIED = new Set([...BOUND, '.git']);

/** Where and how to run: `run(command, args)` starts in `tree`. `close()` removes what was made. */
export function unprivileged(root) {
  if (process.getuid?.() !== 0) return here(root);
  const user = testUser();
  const place = mkdtempSync(path.join(user.home, 'cordon-'));
  const tree = path.join(place, 'tree');
  const temporary = path.join(place, 'tmp');
  const runtime = path.join(place, 'run');
  cpSync(root, tree, {
    recursive: true,
    filter: (from) => !NOT_COPIED.has(path.relative(root, from)),
  });
  mkdirSync(temporary);
  mkdirSync(runtime);
  mkdirSync(path.join(root, ARTIFACTS), { recursive: true });
  run('chown', [`${user.name}:`, path.join(root, ARTIFACTS)]);
  const bound = BOUND.filter((name) => existsSync(path.join(root, name)));
  for (const name of bound) mkdirSync(path.join(tree, name));
  run('chown', ['-R', `${user.name}:`, place]);
  run('chmod', ['-R', 'u+rwX', place]);
  run('chmod', ['700', runtime]);
  const node = nodeFor(user, place);

  return {
    tree,
    temporary,
    own: (file) => chownSync(file, user.uid, user.gid),
    run: (command, args) =>
      spawnSync(
        'unshare',
        [
          ...['--mount', '--propagation', 'private', '--', 'sh', '-euc', ENTER, 'sh'],
          ...[root, tree, bound.join(' '), ARTIFACTS, node.from, node.to, user.name],
          ...[command === process.execPath ? node.command : command, ...args],
        ],
        {
          cwd: '/',
          env: environment(user, { tree, temporary, runtime, node }),
          stdio: ['ignore', 'inherit', 'inherit'],
        },
      ),
    close() {
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** Binds are read-only and end with the mount namespace, so with the last test process. */
const ENTER = `
root=$1 tree=$2 bound=$3 artifacts=$4 node_from=$5 node_to=$6 user=$7; shift 7
for name in $bound; do
  mount --bind "$root/$name" "$tree/$name"
  mount -o remount,bind,ro "$tree/$name"
done
mount --bind "$root/$artifacts" "$tree/$artifacts"
if [ -n "$node_to" ]; then mount --bind "$node_from" "$node_to"; fi
cd "$tree"
exec setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups --inh-caps=-all -- "$@"
`;

function here(root) {
  mkdirSync(path.join(root, ARTIFACTS), { recursive: true });
  const runtime = process.env.XDG_RUNTIME_DIR;
  const made = runtime === undefined ? mkdtempSync(path.join(tmpdir(), 'cordon-run-')) : undefined;
  const env = {
    ...process.env,
    XDG_RUNTIME_DIR: runtime ?? made,
    CORDON_ARTIFACTS: path.join(root, ARTIFACTS),
    TSX_TSCONFIG_PATH: path.join(root, 'tsconfig.test.json'),
  };
  return {
    tree: root,
    run: (command, args) =>
      spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] }),
    close() {
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
    },
  };
}

/** The user that root becomes for tests and `npm run try`; made when there is none. */
export function testUser() {
  if (spawnSync('getent', ['passwd', USER]).status !== 0) {
    run('useradd', ['--create-home', '--shell', '/bin/bash', USER]);
  }
  const [name, , uid, gid, , home] = run('getent', ['passwd', USER]).trim().split(':');
  return { name, uid: Number(uid), gid: Number(gid), home };
}

/** Node may be installed below root's home: then its folder is bound where the user can reach it. */
function nodeFor(user, place) {
  const reach = spawnSync('setpriv', [
    ...['--reuid', String(user.uid), '--regid', String(user.gid), '--init-groups', '--'],
    ...['test', '-x', process.execPath],
  ]);
  if (reach.status === 0)
    return { command: process.execPath, folder: path.dirname(process.execPath), from: '', to: '' };
  const from = path.resolve(path.dirname(process.execPath), '..');
  const to = path.join(place, 'node');
  mkdirSync(to);
  const folder = path.join(to, path.relative(from, path.dirname(process.execPath)));
  return { command: path.join(folder, path.basename(process.execPath)), folder, from, to };
}

/** Nothing of root's: npm's settings, tokens and folders would otherwise leak into what is tested. */
function environment(user, { tree, temporary, runtime, node }) {
  const kept = ['CI', 'DISPLAY', 'LANG', 'TERM', 'FORCE_COLOR', 'NO_COLOR'].filter(
    (name) => name in process.env,
  );
  return {
    ...Object.fromEntries(kept.map((name) => [name, process.env[name]])),
    PATH: `${node.folder}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
    HOME: user.home,
    USER: user.name,
    LOGNAME: user.name,
    SHELL: '/bin/bash',
    TMPDIR: temporary,
    XDG_RUNTIME_DIR: runtime,
    CORDON_ARTIFACTS: path.join(tree, ARTIFACTS),
    TSX_TSCONFIG_PATH: path.join(tree, 'tsconfig.test.json'),
  };
}

function run(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.status === 0) return result.stdout;
  const why = result.error?.message ?? result.stderr.trim();
  throw new Error(`cannot set up the test user: ${command} ${args.join(' ')}: ${why}`);
}
