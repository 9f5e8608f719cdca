// What answers, grants and revocations open and close, in a run that goes on: cordon-launch driven directly by frames.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { Frame, Peer } from '../support/launcherPeer.js';
import { deny, planFor, startLauncher } from '../support/launcherPeer.js';

type Test = { after(call: () => void): void };
type Access = 'write' | 'read' | 'git' | 'socket';

/** A run whose command is a shell that takes one script after the other. */
interface Shell {
  readonly workspace: string;
  /** On the host's disk and read-only inside. */
  readonly outside: string;
  readonly peer: Peer;
  /** The exit code of a script; what it prints. */
  run(script: string): Promise<{ readonly code: number; readonly output: string }>;
  /** What `opened` said: the error of each. */
  grant(...paths: readonly string[]): Promise<readonly unknown[]>;
  /** What `revoked` said: whether each is busy. */
  revoke(...paths: readonly string[]): Promise<readonly unknown[]>;
}

interface Parts {
  readonly mounts?: (outside: string) => readonly unknown[];
  readonly plan?: (outside: string) => Readonly<Record<string, unknown>>;
  readonly reply?: (frame: Frame, outside: string) => Frame | undefined;
}

/** Nothing is open in it but its workspace; every question is answered no, unless the parts say otherwise. */
async function startShell(t: Test, parts: Parts = {}) {
  const folder = realpathSync(mkdtempSync(path.join(os.homedir(), 'opens-')));
  const [workspace, outside] = [path.join(folder, 'ws'), path.join(folder, 'outside')];
  mkdirSync(workspace);
  mkdirSync(outside);
  const base = planFor(workspace);
  const plan = planFor(workspace, {
    mounts: [...(base['mounts'] as readonly unknown[]), ...(parts.mounts?.(outside) ?? [])],
    ...parts.plan?.(outside),
  });
  const peer = await startLauncher(['/bin/sh'], {
    cwd: workspace,
    plan,
    reply: (frame) => (parts.reply ?? deny)(frame, outside),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.after(() => {
    peer.process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  await peer.frame('ready');
  return shellOf(peer, workspace, outside);
}

function shellOf(peer: Peer, workspace: string, outside: string): Shell {
  const told = { opened: 0, revoked: 0 };
  let output = '';
  let look = (): void => undefined;
  peer.process.stdout?.on('data', (text: string) => {
    output += text;
    look();
  });
  const say = async (
    kind: 'grant' | 'revoke',
    heard: 'opened' | 'revoked',
    opens: readonly unknown[],
  ): Promise<readonly Frame[]> => {
    peer.send(kind === 'grant' ? { kind, opens } : { kind, connections: [], opens, ports: [] });
    return (await peer.frame(heard, told[heard]++))['opens'] as readonly Frame[];
  };
  return {
    workspace,
    outside,
    peer,
    run: (script) =>
      new Promise((resolve) => {
        output = '';
        look = () => {
          const end = /=(\d+)=\n$/.exec(output);
          if (end !== null) {
            resolve({ code: Number(end[1]), output: output.slice(0, end.index) });
          }
        };
        peer.process.stdin?.write(`{ ${script}\n} 2>&1; echo "=$?="\n`);
      }),
    grant: async (...paths) =>
      (await say('grant', 'opened', paths.map(opening))).map((open) => open['error']),
    revoke: async (...paths) =>
      (await say('revoke', 'revoked', paths.map(opening))).map((open) => open['busy']),
  };
}

function opening(file: string): { readonly access: Access; readonly path: string } {
  return { access: 'write', path: file };
}

async function isOpen(shell: Shell, file: string): Promise<boolean> {
  const { code } = await shell.run(`touch '${file}'`);
  assert.equal(existsSync(file), code === 0, 'the host has it, or not');
  rmSync(file, { force: true });
  return code === 0;
}

test('a granted folder is writable at once, and read-only again when that is taken back', async (t) => {
  const shell = await startShell(t);
  const file = path.join(shell.outside, 'file');
  assert.equal(await isOpen(shell, file), false);
  assert.deepEqual(await shell.grant(shell.outside), [null]);
  assert.equal(await isOpen(shell, file), true);
  assert.equal((await shell.run(`test -w '${shell.outside}'`)).code, 0);
  assert.deepEqual(await shell.revoke(shell.outside), [false]);
  assert.equal(await isOpen(shell, file), false);
  assert.notEqual((await shell.run(`test -w '${shell.outside}'`)).code, 0);
});

test('a process that runs already can write there', async (t) => {
  const shell = await startShell(t);
  const script = 'while read -r line; do echo "$line" > "$1" && echo done >&2; done';
  await shell.run(
    `mkfifo pipe; sh -c '${script}' sh '${shell.outside}/file' < pipe 2> told & exec 3> pipe`,
  );
  await shell.grant(shell.outside);
  await shell.run('echo word >&3; until [ -s told ]; do sleep 0.01; done');
  assert.equal(readFileSync(path.join(shell.outside, 'file'), 'utf8'), 'word\n');
});

test('a folder can be granted and taken back a hundred times', async (t) => {
  const shell = await startShell(t);
  const before = await shell.run('wc -l < /proc/self/mountinfo');
  for (let round = 0; round < 100; round += 1) {
    assert.deepEqual(await shell.grant(shell.outside), [null]);
    assert.equal((await shell.run(`echo ${round} > '${shell.outside}/file'`)).code, 0);
    assert.deepEqual(await shell.revoke(shell.outside), [false]);
  }
  assert.equal(readFileSync(path.join(shell.outside, 'file'), 'utf8'), '99\n');
  assert.deepEqual(await shell.run('wc -l < /proc/self/mountinfo'), before);
  assert.equal(await isOpen(shell, path.join(shell.outside, 'other')), false);
});

test('a grant that is repeated is one grant', async (t) => {
  const shell = await startShell(t);
  assert.deepEqual(await shell.grant(shell.outside, shell.outside), [null, null]);
  assert.deepEqual(await shell.revoke(shell.outside, shell.outside), [false, false]);
  assert.equal(await isOpen(shell, path.join(shell.outside, 'file')), false);
});

test('what is hidden or protected below a granted folder stays so', async (t) => {
  const mounts = (outside: string): readonly unknown[] => {
    mkdirSync(path.join(outside, 'secret'));
    mkdirSync(path.join(outside, 'kept'));
    writeFileSync(path.join(outside, 'secret', 'key'), 'key\n');
    return [
      { op: 'mask', path: path.join(outside, 'secret') },
      { op: 'protect', path: path.join(outside, 'kept') },
    ];
  };
  const shell = await startShell(t, { mounts });
  await shell.grant(shell.outside);
  assert.equal(await isOpen(shell, path.join(shell.outside, 'file')), true);
  assert.equal(await isOpen(shell, path.join(shell.outside, 'secret', 'file')), false);
  assert.equal((await shell.run(`cat '${shell.outside}/secret/key'`)).code, 1);
  assert.notEqual((await shell.run(`test -w '${shell.outside}/kept'`)).code, 0);
});

function filesWith(parts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { ...(planFor('/')['files'] as Readonly<Record<string, unknown>>), ...parts };
}

test('what is protected by its name is protected in a granted folder, too', async (t) => {
  const shell = await startShell(t, {
    plan: () => ({ files: filesWith({ names: ['.vscode'], git: 'ask' }) }),
  });
  await shell.grant(shell.outside);
  const script = `cd '${shell.outside}' && mkdir plain; mkdir .vscode; mkdir plain/.git; git init -q own`;
  assert.notEqual((await shell.run(script)).code, 0);
  assert.deepEqual(readdirSync(shell.outside).sort(), ['own', 'plain']);
  assert.deepEqual(readdirSync(path.join(shell.outside, 'plain')), []);
  assert.deepEqual(readdirSync(path.join(shell.outside, 'own')), []);
});

test('a program whose directory lies below writes there by relative paths', async (t) => {
  const shell = await startShell(t);
  mkdirSync(path.join(shell.outside, 'in'));
  await shell.run(`cd '${shell.outside}/in'`);
  await shell.grant(shell.outside);
  assert.deepEqual(await shell.run('echo word > file && mkdir folder && mv file ../moved'), {
    code: 0,
    output: '',
  });
  assert.equal(readFileSync(path.join(shell.outside, 'moved'), 'utf8'), 'word\n');
  assert.deepEqual(readdirSync(path.join(shell.outside, 'in')), ['folder']);
  assert.deepEqual(await shell.revoke(shell.outside), [false]);
  assert.notEqual((await shell.run('echo word > file')).code, 0);
  assert.deepEqual(readdirSync(path.join(shell.outside, 'in')), ['folder']);
});

test('what is taken back is closed for a sandbox inside, too', async (t) => {
  const shell = await startShell(t);
  const attempt = `mount -t tmpfs none /mnt; read -r line < go; echo word > '${shell.outside}/file'`;
  await shell.run('mkfifo go told');
  await shell.grant(shell.outside);
  await shell.run(
    `unshare -Urm sh -c "echo begun > told; ${attempt}; echo $? > told" &\nread -r line < told`,
  );
  await shell.revoke(shell.outside);
  await shell.run('echo > go; read -r line < told');
  assert.deepEqual(readdirSync(shell.outside), []);
});

test('what the plan opens is open from the start', async (t) => {
  const shell = await startShell(t, {
    plan: (outside) => ({ opens: [{ access: 'write', path: outside }] }),
  });
  assert.equal(await isOpen(shell, path.join(shell.outside, 'file')), true);
});

test('a folder that another one replaces while the question stands is not opened', async (t) => {
  const shell = await startShell(t, {
    reply: (frame, outside) => {
      const answer = deny(frame);
      if (answer === undefined) return undefined;
      assert.equal((frame['object'] as { readonly folder: unknown }).folder, outside);
      renameSync(outside, `${outside}.old`);
      mkdirSync(outside);
      return { ...answer, effect: 'allow', opens: [opening(outside)], message: null };
    },
  });
  assert.notEqual((await shell.run(`touch '${shell.outside}/file'`)).code, 0);
  const [opened] = (await shell.peer.frame('opened'))['opens'] as readonly Frame[];
  assert.match(String(opened?.['error']), /another folder/);
  assert.deepEqual(readdirSync(shell.outside), []);
  assert.deepEqual(readdirSync(`${shell.outside}.old`), []);
});

test('grants within each other are taken back in any order', async (t) => {
  const shell = await startShell(t);
  const inner = path.join(shell.outside, 'inner');
  mkdirSync(inner);
  const open = async (): Promise<readonly boolean[]> => [
    await isOpen(shell, path.join(shell.outside, 'file')),
    await isOpen(shell, path.join(inner, 'file')),
  ];
  for (const [first, second] of [
    [shell.outside, inner],
    [inner, shell.outside],
  ] as const) {
    for (const [gone, stays] of [
      [first, second],
      [second, first],
    ] as const) {
      await shell.grant(first);
      await shell.grant(second);
      assert.deepEqual(await open(), [true, true]);
      await shell.revoke(gone);
      assert.deepEqual(await open(), [stays === shell.outside, true]);
      await shell.revoke(stays);
      assert.deepEqual(await open(), [false, false]);
    }
  }
});

test('no way through a symbolic link is opened', async (t) => {
  const shell = await startShell(t);
  const other = path.join(path.dirname(shell.outside), 'other');
  mkdirSync(other);
  symlinkSync(other, path.join(shell.outside, 'link'));
  const [error] = await shell.grant(path.join(shell.outside, 'link'));
  assert.match(String(error), /symbolic link/);
  assert.equal(await isOpen(shell, path.join(other, 'file')), false);
});

test('a folder that is renamed outside is closed where it is by then', async (t) => {
  const shell = await startShell(t);
  const [old, renamed] = ['old', 'renamed'].map((name) => path.join(shell.outside, name));
  assert.ok(old !== undefined && renamed !== undefined);
  mkdirSync(old);
  await shell.grant(old);
  renameSync(old, renamed);
  mkdirSync(old);
  assert.deepEqual(await shell.revoke(old), [false]);
  assert.notEqual((await shell.run(`test -w '${renamed}'`)).code, 0);
  assert.notEqual((await shell.run(`test -w '${old}'`)).code, 0);
});

test('a program that is in a folder or has a file of it open is told of', async (t) => {
  const shell = await startShell(t);
  await shell.grant(shell.outside);
  await shell.run(`cd '${shell.outside}'`);
  assert.deepEqual(await shell.revoke(shell.outside), [true]);
  assert.notEqual((await shell.run('touch file')).code, 0);
  assert.notEqual(
    (await shell.run(`cd '${shell.workspace}'; touch '${shell.outside}/file'`)).code,
    0,
  );
  await shell.grant(shell.outside);
  await shell.run(`exec 4> '${shell.outside}/open'`);
  assert.deepEqual(await shell.revoke(shell.outside), [true]);
  assert.equal((await shell.run('echo still >&4')).code, 0);
  assert.equal(await isOpen(shell, path.join(shell.outside, 'file')), false);
  assert.equal(existsSync(path.join(shell.outside, 'file')), false);
});
