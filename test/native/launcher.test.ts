// cordon-launch driven directly by frames: what it says, what it refuses, and how it ends.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { encode, launch, launcher, planFor, startLauncher } from '../support/launcherPeer.js';

const folder = mkdtempSync(path.join(os.homedir(), 'launcher-'));
after(() => {
  rmSync(folder, { recursive: true });
});

/** A new directory of the test's own, on the host's disk. */
function place(): string {
  return mkdtempSync(path.join(folder, 'ws-'));
}

function shell(script: string): readonly string[] {
  return ['/bin/sh', '-c', script];
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 20) {
    assert.ok(waited < 10_000, 'it did not come about');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

describe('what it says', () => {
  test('hello tells the command and the directory, byte for byte', async () => {
    const cwd = place();
    const { frames } = await launch(['/bin/true', 'ä', '"\n'], { cwd, plan: planFor(cwd) });
    const [hello] = frames;
    assert.deepEqual(
      { ...hello, pid: 0 },
      {
        kind: 'hello',
        protocol: 1,
        pid: 0,
        directory: cwd,
        arguments: ['/bin/true', 'ä', '"\n'],
        terminal: false,
        run: null,
      },
    );
  });

  test('ready comes before the command, exit after it', async () => {
    const cwd = place();
    const { frames, code } = await launch(shell('exit 3'), { cwd, plan: planFor(cwd) });
    assert.deepEqual(
      frames.map(({ kind }) => kind),
      ['hello', 'ready', 'exit'],
    );
    assert.deepEqual([code, frames[2]], [3, { kind: 'exit', status: { exited: 3 } }]);
  });

  test('a signal that ended the command is told, and 128 is added to it', async () => {
    const cwd = place();
    const { frames, code } = await launch(shell('kill -9 $$'), { cwd, plan: planFor(cwd) });
    assert.deepEqual([code, frames.at(-1)], [137, { kind: 'exit', status: { signalled: 9 } }]);
  });

  test('the version and the usage are printed without a broker', () => {
    const version = spawnSync(launcher, ['--version'], { encoding: 'utf8' });
    assert.match(version.stdout, /^cordon-launch \d+\.\d+\.\d+ \(protocol 1\)\n$/);
    assert.match(spawnSync(launcher, ['--help'], { encoding: 'utf8' }).stdout, /^usage: /);
    assert.equal(spawnSync(launcher, ['--nonsense']).status, 125);
  });
});

describe('what it refuses', () => {
  const refused: readonly (readonly [name: string, plan: Buffer, message: RegExp])[] = [
    ['a frame that is not JSON', encode('{"kind":'), /could not accept the broker's plan: JSON/],
    ['another kind of frame', encode({ kind: 'welcome' }), /plan: kind/],
    ['an unknown key', encode(planFor('/', { extra: 1 })), /the plan's keys/],
    ['a key twice', encode('{"kind":"plan","kind":"plan"}'), /plan: JSON/],
    [
      'a frame over 8 MiB',
      Buffer.from([1, 0, 0x80, 0]),
      /the broker sent no plan: Argument list too long/,
    ],
    [
      "the broker's own refusal",
      encode({ kind: 'error', code: 'outsideRoots', message: 'not your folder' }),
      /cordon: refused: not your folder\n/,
    ],
  ];
  for (const [name, plan, message] of refused) {
    test(`${name} ends it before anything runs`, async () => {
      const cwd = place();
      const ended = await launch(['/usr/bin/touch', 'ran'], { cwd, plan });
      assert.equal(ended.code, 125);
      assert.match(ended.stderr, message);
      assert.equal(ended.stderr.trimEnd().split('\n').length, 1);
      assert.deepEqual(readdirSync(cwd), []);
    });
  }

  test('a broker that hangs up ends it before anything runs', async () => {
    const cwd = place();
    const peer = await startLauncher(['/usr/bin/touch', 'ran'], { cwd });
    await peer.frame('hello');
    peer.hangUp();
    const { code, stderr } = await peer.ended;
    assert.deepEqual([code, stderr], [125, 'cordon: the broker sent no plan: Broken pipe\n']);
    assert.deepEqual(readdirSync(cwd), []);
  });

  test('a descriptor that is no socket is not taken for a broker', () => {
    const { status, stderr } = spawnSync(launcher, ['true'], {
      env: { CORDON_BROKER: 'fd:3' },
      stdio: ['ignore', 'pipe', 'pipe', openSync('/dev/null', 'r')],
      encoding: 'utf8',
    });
    assert.equal(status, 125);
    assert.match(stderr, /CORDON_BROKER does not name a socket of this user/);
  });

  test('without a broker nothing runs, and it says what to do', () => {
    const cwd = place();
    const { status, stderr } = spawnSync(launcher, ['touch', 'ran'], {
      cwd,
      env: { HOME: cwd, XDG_RUNTIME_DIR: cwd },
      encoding: 'utf8',
    });
    assert.equal(status, 125);
    assert.match(stderr, /nobody decides for .*: open this folder in VS Code with Cordon, or use/);
    assert.deepEqual(readdirSync(cwd), []);
  });

  test('a runtime directory that others may enter is not looked at', () => {
    const cwd = place();
    const runtime = path.join(cwd, 'cordon');
    mkdirSync(runtime);
    writeFileSync(
      path.join(runtime, 'a.json'),
      JSON.stringify({ protocol: 1, socket: 'a.sock', roots: [cwd] }),
    );
    chmodSync(runtime, 0o755);
    const { status } = spawnSync(launcher, ['true'], { cwd, env: { XDG_RUNTIME_DIR: cwd } });
    assert.equal(status, 125);
  });
});

describe('paths of the plan', () => {
  test('what is not there: needed ones are named, optional ones are skipped', async () => {
    const cwd = place();
    const absent = path.join(cwd, 'absent');
    const optional = ['protect', 'pin', 'mask'].map((op) => ({ op, path: absent }));
    const mounts = [{ op: 'writable', path: cwd }, ...optional];
    assert.equal((await launch(['true'], { cwd, plan: planFor(cwd, { mounts }) })).code, 0);
    const needed = await launch(['true'], {
      cwd,
      plan: planFor(cwd, { mounts: [{ op: 'writable', path: absent }] }),
    });
    assert.equal(needed.code, 125);
    assert.equal(
      needed.stderr,
      `cordon: could not open ${absent} for writing (open): No such file or directory\n`,
    );
    assert.deepEqual(needed.frames.at(-1), {
      kind: 'error',
      code: 'setUp',
      stage: 'mounts',
      message: needed.stderr.slice('cordon: '.length, -1),
      errno: 2,
    });
  });

  for (const op of ['writable', 'protect', 'mask', 'pin', 'private']) {
    test(`${op}: a symbolic link anywhere in a path ends the launch`, async () => {
      const cwd = place();
      mkdirSync(path.join(cwd, 'real/below'), { recursive: true });
      symlinkSync('real', path.join(cwd, 'link'));
      for (const name of ['link', 'link/below']) {
        const plan = planFor(cwd, { mounts: [{ op, path: path.join(cwd, name) }] });
        const { code, stderr } = await launch(['true'], { cwd, plan });
        assert.equal(code, 125, name);
        assert.match(stderr, /a part of the path is a symbolic link/);
      }
    });
  }

  test('a working directory that is not there is named', async () => {
    const cwd = place();
    const directory = path.join(cwd, 'absent');
    const ended = await launch(['true'], { cwd, plan: planFor(cwd, { directory }) });
    assert.equal(ended.code, 125);
    assert.equal(ended.stderr, `cordon: could not enter ${directory}: No such file or directory\n`);
  });

  test('later mounts win over earlier ones, in the order of the plan', async () => {
    const cwd = place();
    for (const name of ['a/b/c', 'hidden']) mkdirSync(path.join(cwd, name), { recursive: true });
    writeFileSync(path.join(cwd, 'hidden/secret'), 'x');
    writeFileSync(path.join(cwd, 'file'), 'x');
    const mounts = [
      ['writable', '.'],
      ['protect', 'a'],
      ['writable', 'a/b'],
      ['protect', 'a/b/c'],
      ['mask', 'hidden'],
      ['mask', 'file'],
    ].map(([op, name = '']) => ({ op, path: path.join(cwd, name) }));
    const script = `
      try() { touch "$1/new" 2>/dev/null && echo "$1"; }
      try .; try a; try a/b; try a/b/c; try hidden
      ls -A hidden; cat file`;
    const { stdout } = await launch(shell(script), { cwd, plan: planFor(cwd, { mounts }) });
    assert.equal(stdout, '.\na/b\n');
  });

  test('what is opened below a private directory gets a place in it', async () => {
    const cwd = place();
    mkdirSync(path.join(cwd, 'private/kept/deep'), { recursive: true });
    writeFileSync(path.join(cwd, 'private/other'), 'x');
    const mounts = [
      { op: 'private', path: path.join(cwd, 'private') },
      { op: 'writable', path: path.join(cwd, 'private/kept/deep') },
    ];
    const plan = planFor(cwd, { mounts });
    const script = 'touch private/gone private/kept/gone private/kept/deep/stays && find private';
    const { stdout } = await launch(shell(script), { cwd, plan });
    assert.deepEqual(stdout.trimEnd().split('\n').sort(), [
      'private',
      'private/gone',
      'private/kept',
      'private/kept/deep',
      'private/kept/deep/stays',
      'private/kept/gone',
    ]);
    assert.deepEqual(readdirSync(path.join(cwd, 'private')).sort(), ['kept', 'other']);
    assert.deepEqual(readdirSync(path.join(cwd, 'private/kept/deep')), ['stays']);
  });

  test('a sandbox inside can put its own files over the ones we replaced', async () => {
    const cwd = place();
    const script = `for file in resolv.conf nsswitch.conf hosts; do
      unshare --user --map-root-user --mount sh -c \
        "mount --bind /etc/passwd /etc/$file && cmp /etc/passwd /etc/$file && echo $file"
    done`;
    const { stdout, stderr } = await launch(shell(script), { cwd, plan: planFor(cwd) });
    assert.deepEqual([stdout, stderr], ['resolv.conf\nnsswitch.conf\nhosts\n', '']);
  });

  test('changes below a copy-on-write path go to its layer', async () => {
    const cwd = place();
    // A colon, a comma and a backslash have meanings in overlayfs options.
    const [lower, upper, work] = ['lo:w,e\\r', 'upper', 'work'].map((name) => path.join(cwd, name));
    for (const one of [lower, upper, work]) mkdirSync(one ?? '');
    writeFileSync(path.join(lower ?? '', 'file'), 'old');
    const mounts = [{ op: 'copyOnWrite', path: lower, upper, work }];
    const { stdout, stderr } = await launch(
      shell(`cd '${lower ?? ''}' && echo new >file && touch added && cat file`),
      { cwd, plan: planFor(cwd, { mounts }) },
    );
    assert.deepEqual([stdout, stderr], ['new\n', '']);
    assert.equal(readFileSync(path.join(lower ?? '', 'file'), 'utf8'), 'old');
    assert.deepEqual(readdirSync(upper ?? '').sort(), ['added', 'file']);
    // The kernel marks the layer as one that may be damaged, and would refuse it.
    const again = await launch(['ls', lower ?? ''], { cwd, plan: planFor(cwd, { mounts }) });
    assert.deepEqual([again.stdout, again.stderr], ['added\nfile\n', '']);
    spawnSync('chmod', ['-R', 'u+rwx', cwd]);
  });
});

describe('what the command inherits', () => {
  test('three descriptors and no more', async () => {
    const cwd = place();
    const open = [openSync('/', 'r'), openSync(cwd, 'r')];
    const { stdout } = await launch(['/bin/ls', '/proc/self/fd'], {
      cwd,
      plan: planFor(cwd),
      stdio: ['ignore', 'pipe', 'pipe', ...open],
    });
    open.forEach(closeSync);
    assert.equal(stdout, '0\n1\n2\n3\n'); // 3 is the list itself
  });

  test('a directory as standard input is replaced, and that is said', async () => {
    const cwd = place();
    const directory = openSync(os.homedir(), 'r');
    const { stdout, stderr } = await launch(shell('readlink /proc/self/fd/0'), {
      cwd,
      plan: planFor(cwd),
      stdio: [directory, 'pipe', 'pipe'],
    });
    closeSync(directory);
    assert.equal(stdout, '/dev/null\n');
    assert.match(stderr, /^cordon: standard input is a directory, which would lead out/);
  });

  test('its environment is filtered and does not lead to the broker', async () => {
    const cwd = place();
    const environment = {
      drop: ['*_TOKEN'],
      keep: ['OUR_TOKEN'],
      set: [{ name: 'TMPDIR', value: '/tmp', overwrite: true }],
    };
    const { stdout } = await launch(['/usr/bin/env'], {
      cwd,
      plan: planFor(cwd, { environment }),
      environment: { GH_TOKEN: 'x', OUR_TOKEN: 'y', PLAIN: 'z' },
    });
    assert.deepEqual(stdout.trimEnd().split('\n').sort(), [
      'OUR_TOKEN=y',
      'PATH=/usr/bin:/bin',
      'PLAIN=z',
      'TMPDIR=/tmp',
    ]);
  });

  test('its signal mask and descriptor limit are those we were started with', async () => {
    const cwd = place();
    const script = 'grep -E "^Sig(Blk|Ign)" /proc/self/status; ulimit -Sn';
    const native = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' });
    const { stdout } = await launch(shell(script), { cwd, plan: planFor(cwd) });
    assert.equal(stdout, native.stdout);
  });
});

describe('how it ends', () => {
  test('a missing program is 127, one that cannot run 126, and both are named', async () => {
    const cwd = place();
    writeFileSync(path.join(cwd, 'plain'), 'x');
    const plan = planFor(cwd);
    const missing = await launch(['no-such-program'], { cwd, plan });
    assert.deepEqual(
      [missing.code, missing.stderr],
      [127, 'cordon: could not run no-such-program: No such file or directory\n'],
    );
    const plain = await launch(['./plain'], { cwd, plan });
    assert.deepEqual(
      [plain.code, plain.stderr],
      [126, 'cordon: could not run ./plain: Permission denied\n'],
    );
  });

  test('what is left behind ends with the command', async () => {
    const cwd = place();
    const peer = await startLauncher(
      shell(
        'setsid sh -c \'trap "" TERM HUP; echo started >started; sleep 600\' & until [ -e started ]; do :; done',
      ),
      { cwd, plan: planFor(cwd) },
    );
    const { init } = await peer.frame('ready');
    assert.equal((await peer.ended).code, 0);
    assert.ok(!isAlive(Number(init)));
  });

  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGHUP', 1],
    ['SIGINT', 2],
    ['SIGQUIT', 3],
    ['SIGUSR1', 10],
    ['SIGUSR2', 12],
  ] as const) {
    test(`${signal} to the launcher reaches the command once`, async () => {
      const cwd = place();
      const script = `trap 'echo got >>got' ${number}; touch up; while [ ! -e stop ]; do sleep 0.05; done; wc -l <got`;
      const peer = await startLauncher(shell(script), { cwd, plan: planFor(cwd) });
      await until(() => existsSync(path.join(cwd, 'up')));
      peer.process.kill(signal);
      await until(() => existsSync(path.join(cwd, 'got')));
      writeFileSync(path.join(cwd, 'stop'), '');
      const { code, stdout } = await peer.ended;
      assert.deepEqual([code, stdout.trim()], [0, '1']);
    });
  }

  test('kill -9 of the launcher leaves nothing of the run', async () => {
    const cwd = place();
    const peer = await startLauncher(
      shell('setsid sleep 600 & setsid sh -c "sleep 600" & touch up; sleep 600'),
      { cwd, plan: planFor(cwd) },
    );
    const { init } = await peer.frame('ready');
    await until(() => existsSync(path.join(cwd, 'up')));
    peer.process.kill('SIGKILL');
    await until(() => !isAlive(Number(init)));
    assert.equal((await peer.ended).signal, 'SIGKILL');
  });

  test('stop ends a command that takes no notice of SIGTERM', async () => {
    const cwd = place();
    const peer = await startLauncher(shell('trap "" TERM; touch up; while :; do sleep 1; done'), {
      cwd,
      plan: planFor(cwd),
    });
    await until(() => existsSync(path.join(cwd, 'up')));
    peer.send({ kind: 'stop', reason: 'user' });
    const { code, frames } = await peer.ended;
    assert.deepEqual([code, frames.at(-1)], [137, { kind: 'exit', status: { signalled: 9 } }]);
  });

  test('a stopped command goes on to hear SIGTERM', async () => {
    const cwd = place();
    const peer = await startLauncher(shell('touch up; kill -STOP $$'), { cwd, plan: planFor(cwd) });
    await until(() => existsSync(path.join(cwd, 'up')));
    peer.send({ kind: 'stop', reason: 'user' });
    assert.equal((await peer.ended).code, 143);
  });

  test('a broker that breaks the protocol ends the run', async () => {
    const cwd = place();
    const peer = await startLauncher(['/bin/sleep', '600'], { cwd, plan: planFor(cwd) });
    await peer.frame('ready');
    peer.sendBytes(encode('{"kind":"nonsense"}'));
    const { code, frames } = await peer.ended;
    assert.equal(code, 143);
    assert.ok(frames.some((frame) => frame.kind === 'error'));
  });

  test('the loss of the broker ends a run that was to end with it', async () => {
    const cwd = place();
    const peer = await startLauncher(['/bin/sleep', '600'], { cwd, plan: planFor(cwd) });
    await peer.frame('ready');
    peer.hangUp();
    assert.equal((await peer.ended).code, 143);
  });
});

describe('what this system can do', () => {
  test('--probe tries everything and says so in one line', () => {
    const { stdout, status } = spawnSync(launcher, ['--probe'], { encoding: 'utf8' });
    assert.equal(status, 0);
    const told = JSON.parse(stdout) as { problem: unknown; features: Record<string, unknown> };
    assert.equal(told.problem, null);
    assert.deepEqual(Object.keys(told.features), [
      'namespaces',
      'mounts',
      'proc',
      'overlay',
      'network',
      'redirect',
      'fuse',
      'capabilities',
      'landlockScope',
      'notifications',
    ]);
  });
});
