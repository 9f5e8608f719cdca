// Sandboxes inside a run: what they may mount, and that they start. cordon-launch driven directly by frames.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import type net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Ended, Frame } from '../support/launcherPeer.js';
import { deny, encode, launch, launcher, planFor } from '../support/launcherPeer.js';
import { socketPair } from '../support/socketPair.js';

type Test = { after(call: () => void): void };

function createWorkspace(t: Test): string {
  const workspace = realpathSync(mkdtempSync(path.join(os.homedir(), 'nesting-')));
  t.after(() => {
    rmSync(workspace, { recursive: true, force: true });
  });
  return workspace;
}

/** A script inside, as user 0 of a user namespace of its own, with the namespaces of `flags` (unshare(1)) as well. */
function inside(workspace: string, flags: string, script: string): Promise<Ended> {
  const words = ['unshare', `-Urm${flags}`, 'sh', '-euc', script];
  return launch(words, { cwd: workspace, plan: planFor(workspace) });
}

const OVERLAY =
  'mkdir lower upper work merged; ' +
  'mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,userxattr merged; ' +
  'touch merged/file';

test('an overlay over the workspace cannot be mounted inside, though it can on the host', async (t) => {
  const [host, workspace] = [createWorkspace(t), createWorkspace(t)];
  const outside = spawnSync('unshare', ['-Urm', 'sh', '-euc', OVERLAY], { cwd: host });
  assert.deepEqual([outside.status, readdirSync(path.join(host, 'upper'))], [0, ['file']]);
  const { code, stderr } = await inside(workspace, '', OVERLAY);
  assert.notEqual(code, 0);
  assert.match(stderr, /merged: permission denied/i);
  assert.deepEqual(readdirSync(path.join(workspace, 'upper')), []);
});

test('what is not known to lead nowhere cannot be mounted inside', async (t) => {
  const workspace = createWorkspace(t);
  mkdirSync(path.join(workspace, 'm'));
  const types = ['overlay', 'fuse', 'fuse.x', 'cgroup2', 'ext4', 'bpf', 'nosuchtype', 'tmpfs.x'];
  const script = types.map((type) => `mount -i -t ${type} none m 2>&1 || :`).join('; ');
  const { stdout } = await inside(workspace, 'C', script);
  const refusals = stdout.split('\n').filter((line) => line.startsWith('mount: '));
  assert.equal(refusals.length, types.length, stdout);
  for (const refusal of refusals) assert.match(refusal, /permission denied/i);
});

test('file systems that lead nowhere are mounted in the namespaces of whoever asks', async (t) => {
  const workspace = createWorkspace(t);
  const { stdout, stderr } = await inside(
    workspace,
    'pfin',
    `mkdir tmp proc pts queue sys link-to; ln -s tmp link
     mount -t tmpfs -o mode=711,size=64k none "$PWD/link"
     touch tmp/file; stat -c '%a %T' -f tmp >/dev/null; stat -c %a tmp
     mount -t proc none proc; cat proc/1/comm
     mount -t devpts -o newinstance,ptmxmode=0666 none pts; ls pts
     mount -t mqueue none queue; ls -A queue
     mount -r -t sysfs none sys; ls sys/class/net
     exec 5< tmp; mkdir tmp/in; mount -t ramfs none /proc/self/fd/5; ls -A tmp/ | wc -l`,
  );
  assert.deepEqual([stdout, stderr], ['711\nsh\nptmx\nlo\n0\n', '']);
  assert.deepEqual(readdirSync(path.join(workspace, 'tmp')), []);
});

test('a program without capabilities mounts nothing', async (t) => {
  const workspace = createWorkspace(t);
  mkdirSync(path.join(workspace, 'm'));
  const plan = planFor(workspace);
  const { stderr } = await launch(['mount', '-i', '-t', 'tmpfs', 'none', 'm'], {
    cwd: workspace,
    plan,
  });
  assert.match(stderr, /permission denied|must be superuser/i);
  const number = process.arch === 'x64' ? 165 : 40;
  const call = `@a = ("none", "m", "tmpfs"); syscall(${number}, @a[0..2], 0, 0); print "$!\\n"`;
  const { stdout } = await launch(['perl', '-e', call], { cwd: workspace, plan });
  assert.equal(stdout, 'Operation not permitted\n');
});

test('bubblewrap starts inside, and what it makes read-only is', async (t) => {
  const workspace = createWorkspace(t);
  const options =
    '--ro-bind / / --dev /dev --proc /proc --tmpfs /run --bind . . --ro-bind kept kept --unshare-all --die-with-parent';
  mkdirSync(path.join(workspace, 'kept'));
  const { code, stdout, stderr } = await launch(
    [
      ...[
        'bwrap',
        ...options
          .split(' ')
          .map((word) => word.replace(/^(?:\.|kept)$/u, (name) => path.join(workspace, name))),
      ],
      ...[
        'sh',
        '-c',
        'touch open kept/closed; touch /run/file && cat /proc/1/comm; mount | grep -c " /run "',
      ],
    ],
    { cwd: workspace, plan: planFor(workspace), reply: deny },
  );
  assert.deepEqual([code, stdout], [0, 'bwrap\n1\n'], stderr);
  assert.match(stderr, /kept\/closed.*Read-only file system/);
  assert.deepEqual(
    [existsSync(path.join(workspace, 'open')), readdirSync(path.join(workspace, 'kept'))],
    [true, []],
  );
});

/** The launcher within a run, whose broker is at the end of its standard input. */
async function launchNested(t: Test, workspace: string, inner: Frame, script: string) {
  const [here, there] = await socketPair();
  const frames: Frame[] = [];
  t.after(() => here.destroy());
  answerHello(here, inner, frames);
  const words = [launcher, '--', 'sh', '-c', script];
  const ended = launch(
    ['sh', '-c', 'exec 3<&0 0</dev/null; CORDON_BROKER=fd:3 exec "$@"', 'sh', ...words],
    {
      cwd: workspace,
      plan: planFor(workspace),
      reply: deny,
      stdio: [there, 'pipe', 'pipe'],
    },
  );
  return { ...(await ended), inner: frames };
}

function answerHello(socket: net.Socket, plan: Frame, frames: Frame[]): void {
  let bytes = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.on('data', (data: Buffer) => {
    bytes = Buffer.concat([bytes, data]);
    while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32LE(0)) {
      const end = 4 + bytes.readUInt32LE(0);
      const frame = JSON.parse(bytes.subarray(4, end).toString('utf8')) as Frame;
      bytes = bytes.subarray(end);
      frames.push(frame);
      if (frame.kind === 'hello') socket.write(encode(plan));
    }
  });
}

test('Cordon starts in Cordon, and guards by mounts what it cannot judge', async (t) => {
  const workspace = createWorkspace(t);
  const [kept, hidden] = ['kept', 'hidden'].map((name) => path.join(workspace, name));
  assert.ok(kept !== undefined && hidden !== undefined);
  mkdirSync(path.join(kept, 'below'), { recursive: true });
  mkdirSync(path.join(hidden, 'file'), { recursive: true });
  const plan = planFor(workspace, {
    mounts: [
      { op: 'private', path: '/tmp' },
      { op: 'writable', path: workspace },
      { op: 'guard', path: kept },
      { op: 'guard', path: path.join(workspace, 'missing') },
      { op: 'tripwire', path: hidden, names: true },
    ],
    directory: path.join(kept, 'below'),
  });
  const { code, stdout, stderr, inner } = await launchNested(
    t,
    workspace,
    plan,
    `touch file ${kept}/file; touch ${workspace}/open /tmp/own && ls ${hidden}; unshare -Urm mount -t tmpfs none /tmp`,
  );
  assert.deepEqual(
    inner.map(({ kind }) => kind),
    ['hello', 'ready', 'exit'],
    stderr,
  );
  assert.notEqual(code, 0);
  assert.equal(stdout, '');
  assert.match(stderr, /touch: cannot touch 'file': Read-only file system/);
  assert.match(stderr, /kept\/file': Read-only file system/);
  assert.match(stderr, /mount: .*permission denied/i);
  assert.deepEqual(readdirSync(workspace).sort(), ['hidden', 'kept', 'open']);
  assert.deepEqual(readdirSync(kept), ['below']);
});
