// Closed places: names are free, and opening a file waits until somebody has answered. The launcher is driven by frames
// here, so that each answer comes when the test wants it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { createClosed, runHeld, startHeld } from '../support/heldReads.js';
import type { Closed, HeldOptions } from '../support/heldReads.js';

function shell(script: string): readonly string[] {
  return ['/bin/bash', '-c', `cd ..; ${script}`];
}

function python(script: string): readonly string[] {
  return ['/usr/bin/python3', '-c', `import os, sys; os.chdir('..')\n${script}`];
}

/** Says `ready` and what it reads, one line each, from standard output of the run. */
async function said(run: Awaited<ReturnType<typeof startHeld>>, text: string): Promise<void> {
  let output = '';
  await new Promise<void>((resolve) => {
    run.peer.process.stdout?.on('data', (data: string) => {
      output += data;
      if (output.includes(text)) resolve();
    });
  });
}

const deny = (): 'deny' => 'deny';
const once = (): 'once' => 'once';

describe('an answer', () => {
  test('allows one opening of one file, once', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(place, shell('cat secret/key; cat secret/key'), {
      answer: ({ id }) => (id === 1 ? 'once' : 'deny'),
    });
    assert.equal(ended.stdout, 'SECRET\n');
    assert.match(ended.stderr, /^cat: secret\/key: Permission denied$/m);
    assert.deepEqual(ended.asked, ['secret/key', 'secret/key']);
  });

  test('names program, path and folder; the folder of a closed file is none', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(place, shell('cat secret/sub/deep; cat netrc'), { answer: deny });
    await run.ended;
    assert.deepEqual(
      run.asks.map(({ action, object, subject }) => ({
        action,
        object,
        executable: subject.executable,
        arguments: subject.arguments,
      })),
      [
        {
          action: 'read',
          object: { path: path.join(place.secret, 'sub/deep'), folder: place.secret },
          executable: '/usr/bin/cat',
          arguments: ['cat', 'secret/sub/deep'],
        },
        {
          action: 'read',
          object: { path: place.file, folder: null },
          executable: '/usr/bin/cat',
          arguments: ['cat', 'netrc'],
        },
      ],
    );
  });

  test('tells the pid on the host, of a thread as well', async (t) => {
    const place = createClosed(t);
    const script = `
import threading
t = threading.Thread(target=lambda: open('secret/key'))
t.start(); t.join()`;
    const run = await startHeld(place, python(script), { answer: () => 'wait' });
    const { subject } = await run.asked(1);
    const command = readFileSync(`/proc/${subject.pid}/cmdline`, 'latin1');
    run.reply(1, 'deny');
    await run.ended;
    assert.ok(command.startsWith('/usr/bin/python3\0'), command);
    assert.equal(subject.executable.startsWith('/usr/bin/python3'), true);
  });

  test('for a folder holds for all in it, at once and for every process', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(place, shell('cat secret/key secret/other; cat secret/sub/deep'), {
      answer: ({ object }) => [object.folder ?? object.path],
    });
    assert.equal(ended.stdout, 'SECRET\nOTHER\nDEEP\n');
    assert.deepEqual(ended.asked, ['secret/key']);
  });

  test('for a file holds for that file', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(
      place,
      shell('cat secret/key secret/key secret/other netrc netrc'),
      {
        answer: ({ object }) => (object.path.endsWith('other') ? 'deny' : [object.path]),
      },
    );
    assert.equal(ended.stdout, 'SECRET\nSECRET\nNETRC\nNETRC\n');
    assert.deepEqual(ended.asked, ['secret/key', 'secret/other', 'netrc']);
  });

  test('that refuses is EACCES, for every program and for each file of a search', async (t) => {
    const place = createClosed(t);
    const script = `
try: open('secret/key')
except OSError as e: print(e.errno)
sys.stdout.flush()
os.system('grep -r SECRET secret; grep SECRET netrc')`;
    const ended = await runHeld(place, python(script), { answer: deny });
    assert.equal(ended.stdout, '13\n');
    assert.deepEqual([...ended.asked].sort(), [
      'netrc',
      'secret/key',
      'secret/key',
      'secret/other',
      'secret/sub/deep',
    ]);
  });

  test('to one of several openers is no answer to the others', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(
      place,
      shell('for i in 1 2 3 4 5 6 7 8; do cat secret/key & done; wait'),
    );
    await run.asked(8);
    for (let id = 1; id <= 8; id += 1) run.reply(id, id % 2 === 0 ? 'once' : 'deny');
    const { stdout, stderr } = await run.ended;
    assert.equal(stdout, 'SECRET\n'.repeat(4));
    assert.equal(stderr, 'cat: secret/key: Permission denied\n'.repeat(4));
  });

  test('is waited for by nobody else', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(
      place,
      shell(
        'cat secret/key & ls secret >/dev/null; cat netrc /etc/hostname >/dev/null; echo on; wait',
      ),
      { answer: ({ object }) => (object.path === place.file ? 'once' : 'wait') },
    );
    await said(run, 'on');
    const key = run.asks.find(({ object }) => object.path.endsWith('key')) ?? (await run.asked(2));
    run.reply(key.id, 'once');
    assert.match((await run.ended).stdout, /SECRET/);
  });

  test('that was standing from the start is not asked for', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(place, shell('cat secret/key netrc'), {
      answer: deny,
      plan: { opens: [{ access: 'read', path: place.secret }] },
    });
    assert.equal(ended.stdout, 'SECRET\n');
    assert.deepEqual(ended.asked, ['netrc']);
  });
});

describe('without a question', () => {
  const free: readonly (readonly [name: string, script: string, output: RegExp])[] = [
    ['ls -la', 'ls -la . secret secret/sub netrc', / key$[^]* deep$/m],
    ['find', 'find .; find / -xdev -maxdepth 2 >/dev/null 2>&1 || true', /secret\/sub\/deep/],
    ['completion', 'compgen -f secret/; compgen -f net', /secret\/key[^]*netrc/],
    [
      'stat',
      'stat -c "%s %F" secret/key netrc secret',
      /^7 regular file\n6 regular file\n\d+ directory\n$/,
    ],
    ['readlink and realpath', 'ln -s secret/key ws/l; realpath ws/../secret/key', /secret\/key\n$/],
    ['du and df', 'du -s secret; df secret', /secret/],
    [
      'tests of a shell',
      '[ -r secret/key ] && [ -d secret/sub ] && [ ! -w netrc ] && echo so',
      /^so\n$/,
    ],
    ['a working directory', 'cd secret/sub; pwd; ls', /secret\/sub\ndeep\n$/],
    [
      'extended attributes',
      'python3 -c "import os; print(os.listxattr(\'/etc\'))"; ls -lZ secret/key',
      /key/,
    ],
  ];
  for (const [name, script, output] of free) {
    test(name, async (t) => {
      const place = createClosed(t);
      const ended = await runHeld(place, shell(script), { answer: deny });
      assert.match(ended.stdout, output);
      assert.deepEqual(ended.asked, []);
      assert.equal(ended.code, 0, ended.stderr);
    });
  }

  test('git status above it', async (t) => {
    const place = createClosed(t);
    const git = (...words: readonly string[]): void => {
      assert.equal(spawnSync('git', ['-C', place.folder, ...words]).status, 0);
    };
    // older than the index, else git has to look into them
    for (const name of ['secret/key', 'secret/other', 'secret/sub/deep', 'netrc']) {
      utimesSync(path.join(place.folder, name), 1, 1);
    }
    git('init', '-q');
    git('add', 'secret', 'netrc');
    const ended = await runHeld(place, shell('git status --porcelain'), { answer: deny });
    assert.equal(ended.stdout, 'A  netrc\nA  secret/key\nA  secret/other\nA  secret/sub/deep\n');
    assert.deepEqual(ended.asked, []);
  });

  test('kinds are told; none of them is opened on the host', async (t) => {
    const place = createClosed(t);
    const at = (name: string): string => path.join(place.secret, name);
    assert.equal(spawnSync('mkfifo', [at('fifo')]).status, 0);
    symlinkSync('/etc/hostname', at('out'));
    symlinkSync('nowhere', at('dangling'));
    const script = `
import socket, stat
for name in sorted(os.listdir('secret')):
    print(name, stat.filemode(os.lstat('secret/' + name).st_mode)[0])
print(os.readlink('secret/out'), open('secret/out').read() == open('/etc/hostname').read())
f = os.open('secret/fifo', os.O_RDONLY | os.O_NONBLOCK)
print(os.read(f, 1))`;
    const ended = await runHeld(place, python(script), { answer: deny });
    assert.equal(
      ended.stdout,
      "dangling l\nfifo p\nkey -\nother -\nout l\nsub d\n/etc/hostname True\nb''\n",
      ended.stderr,
    );
    assert.deepEqual(ended.asked, []);
  });

  test('writing is refused as in any read-only place', async (t) => {
    const place = createClosed(t);
    const script = `
def attempt(call, *arguments):
    try: call(*arguments); print('done')
    except OSError as e: print(e.errno)
attempt(open, 'secret/key', 'w'); attempt(open, 'secret/key', 'r+'); attempt(open, 'secret/new', 'w')
attempt(os.unlink, 'secret/key'); attempt(os.rename, 'secret/key', 'secret/moved'); attempt(os.chmod, 'secret/key', 0o777)
attempt(os.mkdir, 'secret/dir'); attempt(os.utime, 'netrc'); attempt(os.truncate, 'netrc', 0)`;
    const ended = await runHeld(place, python(script), { answer: once });
    assert.match(ended.stdout, /^((30|13|18)\n){9}$/);
    assert.equal(readFileSync(path.join(place.secret, 'key'), 'utf8'), 'SECRET\n');
    assert.deepEqual(readdirSync(place.secret).sort(), ['key', 'other', 'sub']);
  });
});

describe('without names', () => {
  const hidden: HeldOptions = { names: false };

  test('a folder is empty and a file has no size', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(
      place,
      shell('ls -A secret; stat -c %s netrc; cat secret/key; stat secret/sub'),
      { ...hidden, answer: deny },
    );
    assert.equal(ended.stdout, '0\n');
    assert.match(ended.stderr, /secret\/key: No such file[^]*secret\/sub[^]*No such file/);
    assert.deepEqual(ended.asked, []);
  });

  test('a file is asked for, and shows its size with the grant', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(place, shell('cat netrc; stat -c %s netrc; cat netrc'), {
      ...hidden,
      answer: ({ object }) => [object.path],
    });
    assert.equal(ended.stdout, 'NETRC\n6\nNETRC\n');
    assert.deepEqual(ended.asked, ['netrc']);
  });

  test('a granted folder shows what it holds', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(place, shell('ls secret; cat secret/sub/deep'), {
      ...hidden,
      answer: deny,
      plan: { opens: [{ access: 'read', path: place.secret }] },
    });
    assert.equal(ended.stdout, 'key\nother\nsub\nDEEP\n');
  });
});

describe('a held program', () => {
  const signals = { SIGHUP: 129, SIGINT: 130, SIGKILL: 137, SIGTERM: 143 } as const;
  for (const [signal, status] of Object.entries(signals)) {
    test(`ends at once by ${signal}, and its question is withdrawn`, async (t) => {
      const place = createClosed(t);
      const run = await startHeld(
        place,
        shell('cat secret/key; echo $?; while [ ! -e ws/go ]; do sleep 0.02; done'),
      );
      const { subject } = await run.asked(1);
      process.kill(subject.pid, signal);
      assert.equal((await run.peer.frame('withdraw'))['id'], 1);
      writeFileSync(path.join(place.workspace, 'go'), '');
      assert.equal((await run.ended).stdout, `${status}\n`);
    });
  }

  test('that handles a signal goes on after it', async (t) => {
    const place = createClosed(t);
    const script = `
import signal
class Woken(Exception): pass
def handler(*_): raise Woken()
signal.signal(signal.SIGUSR1, handler)
try: open('secret/key')
except Woken: print('woken')
print(open('secret/key').read(), end='')`;
    const run = await startHeld(place, python(script));
    process.kill((await run.asked(1)).subject.pid, 'SIGUSR1');
    run.reply((await run.asked(2)).id, 'once');
    assert.equal((await run.ended).stdout, 'woken\nSECRET\n');
  });

  test('does not keep the run from ending', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(
      place,
      shell('for i in 1 2 3 4; do cat secret/key & done; echo up; read x < /dev/zero & sleep 60'),
    );
    await run.asked(4);
    run.peer.send({ kind: 'stop', reason: 'user' });
    const { frames } = await run.ended;
    assert.equal(frames.at(-1)?.kind, 'exit');
  });

  test('ends with the supervisor', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(place, shell('exec cat secret/key'));
    const { subject } = await run.asked(1);
    run.peer.process.kill('SIGKILL');
    await run.ended;
    for (let waited = 0; isThere(subject.pid); waited += 20) {
      assert.ok(waited < 5000, 'it is still there');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  test('is refused when there is no answer in time', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(place, shell('cat secret/key'), {
      plan: { limits: { answerMs: 300, brokerMs: 1000 } },
    });
    assert.match(ended.stderr, /cat: secret\/key: Permission denied/);
    assert.match(ended.stderr, /cordon: denied: cat .*key/);
  });

  test('one of a hundred, each killed while it waits, leaves nothing behind', async (t) => {
    const place = createClosed(t);
    const script = `
import signal, subprocess
for round in range(10):
    some = [subprocess.Popen(['cat', 'secret/key'], stderr=subprocess.DEVNULL) for _ in range(10)]
    for p in some: p.kill()
    for p in some: p.wait()
print(open('netrc').read(), end='')`;
    const ended = await runHeld(place, python(script), {
      answer: ({ object }) => (object.path === place.file ? 'once' : 'wait'),
    });
    assert.equal(ended.stdout, 'NETRC\n');
    const ids = (kind: string): readonly unknown[] =>
      ended.frames.filter((frame) => frame.kind === kind).map((frame) => frame['id']);
    assert.deepEqual([...ids('withdraw')].sort(), ids('ask').slice(0, -1).sort());
  });
});

function isThere(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
  } catch {
    return false;
  }
}

describe('after a grant', () => {
  const folder: HeldOptions = { answer: ({ object }) => [object.folder ?? object.path] };

  test('a program can be run, mapped and read by others', async (t) => {
    const place = createClosed(t);
    writeFileSync(path.join(place.secret, 'script'), '#!/bin/sh\necho script\n', { mode: 0o755 });
    spawnSync('cp', ['/bin/true', path.join(place.secret, 'true')]);
    writeFileSync(path.join(place.secret, 'module.js'), 'module.exports = "module";\n');
    const script = `
import mmap, subprocess
print(mmap.mmap(os.open('secret/key', os.O_RDONLY), 0, mmap.MAP_SHARED, mmap.PROT_READ)[:].decode(), end='')
print(mmap.mmap(os.open('secret/key', os.O_RDONLY), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)[:].decode(), end='')
sys.stdout.flush()
print(subprocess.run(['secret/true']).returncode)
sys.stdout.flush()
subprocess.run(['secret/script'])
subprocess.run(['git', 'hash-object', 'secret/key'])`;
    const ended = await runHeld(place, python(script), folder);
    assert.equal(
      ended.stdout,
      'SECRET\nSECRET\n0\nscript\nfadba0ed10e4928fa44ed5b2da2e7a2e0cf8e1bd\n'.replace(
        /[0-9a-f]{40}/,
        spawnSync('git', ['hash-object', path.join(place.secret, 'key')], {
          encoding: 'utf8',
        }).stdout.trim(),
      ),
    );
    assert.deepEqual(ended.asked, ['secret/key']);
  });

  test('a program that was never granted is not run', async (t) => {
    const place = createClosed(t);
    writeFileSync(path.join(place.secret, 'script'), '#!/bin/sh\necho script\n', { mode: 0o755 });
    const ended = await runHeld(place, shell('secret/script'), { answer: deny });
    assert.deepEqual([ended.code, ended.stdout], [126, '']);
  });

  test('a working directory inside is no way round, and none is needed', async (t) => {
    const place = createClosed(t);
    const ended = await runHeld(
      place,
      shell('cd secret/sub; cat ../key; cat deep; cat ../../netrc'),
      {
        answer: ({ object }) => (object.folder === null ? 'deny' : [object.folder]),
      },
    );
    assert.equal(ended.stdout, 'SECRET\nDEEP\n');
    assert.deepEqual(ended.asked, ['secret/key', 'netrc']);
  });

  test('links lead where they lead inside: what is closed stays closed', async (t) => {
    const place = createClosed(t);
    symlinkSync('key', path.join(place.secret, 'inner'));
    symlinkSync('../netrc', path.join(place.secret, 'outer'));
    linkSync(path.join(place.secret, 'key'), path.join(place.secret, 'hard'));
    symlinkSync(place.file, path.join(place.workspace, 'in'));
    const ended = await runHeld(
      place,
      shell('cat secret/inner secret/outer secret/hard ws/in; stat -c %h secret/key'),
      { answer: ({ object }) => (object.path.endsWith('key') ? [object.path] : 'deny') },
    );
    assert.equal(ended.stdout, 'SECRET\n2\n');
    assert.deepEqual(ended.asked, ['secret/key', 'netrc', 'secret/hard', 'netrc']);
  });

  test('what the host changes is seen', async (t) => {
    const place = createClosed(t);
    const script = `
f = open('secret/key'); print(f.read(), end=''); print('first'); sys.stdout.flush()
while not os.path.exists('ws/go'): pass
print(f.read(), end=''); print(open('secret/other').read(), end=''); print(os.fstat(f.fileno()).st_size)
print(sorted(os.listdir('secret')))`;
    const run = await startHeld(place, python(script), folder);
    await said(run, 'first');
    appendFileSync(path.join(place.secret, 'key'), 'MORE\n');
    writeFileSync(path.join(place.secret, 'new'), 'NEW\n');
    renameSync(path.join(place.secret, 'new'), path.join(place.secret, 'other'));
    rmSync(path.join(place.secret, 'sub'), { recursive: true });
    writeFileSync(path.join(place.workspace, 'go'), '');
    assert.equal((await run.ended).stdout, "SECRET\nfirst\nMORE\nNEW\n12\n['key', 'other']\n");
  });

  test('a file that was replaced is still held, and a removed one can be read on', async (t) => {
    const place = createClosed(t);
    const script = `
f = open('secret/key'); n = open('netrc'); print('open'); sys.stdout.flush()
while not os.path.exists('ws/go'): pass
print(f.read(), n.read(), os.fstat(f.fileno()).st_size)
print(open('netrc').read())`;
    const run = await startHeld(place, python(script), { answer: once });
    await said(run, 'open');
    rmSync(path.join(place.secret, 'key'));
    writeFileSync(path.join(place.workspace, 'go'), '');
    assert.equal((await run.ended).stdout, 'open\nSECRET\n NETRC\n 7\nNETRC\n\n');
    assert.equal(run.asks.length, 3);
  });
});

describe('a grant that is taken back', () => {
  const program = `
import mmap
f = open('secret/key', 'rb', buffering=0); m = mmap.mmap(f.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
print(f.read(3), m[:3]); sys.stdout.flush()
while not os.path.exists('ws/go'): pass
def attempt(call):
    try: print(call())
    except OSError as e: print(e.errno)
attempt(lambda: f.read(3)); attempt(lambda: open('secret/key').read())
sys.stdout.flush()
pid = os.fork()
if pid == 0: print(m[:3]); os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;

  async function revoked(place: Closed, first: (folder: string) => readonly string[] | 'once') {
    const run = await startHeld(place, python(program), {
      answer: ({ id }) => (id === 1 ? first(place.secret) : 'deny'),
    });
    await said(run, 'SEC');
    const revoked = await run.revoke(place.secret);
    writeFileSync(path.join(place.workspace, 'go'), '');
    return { revoked, ...(await run.ended) };
  }

  test('ends reading of what was opened under it, mapped pages included', async (t) => {
    const place = createClosed(t);
    const { stdout } = await revoked(place, (folder) => [folder]);
    assert.equal(stdout, "b'SEC' b'SEC'\n13\n13\n-7\n");
  });

  test('does not end what was allowed once', async (t) => {
    const place = createClosed(t);
    const { stdout } = await revoked(place, () => 'once');
    assert.equal(stdout, "b'SEC' b'SEC'\nb'RET'\n13\nb'SEC'\n0\n".replace("b'SEC'\n0\n", '0\n'));
  });
});

describe('a program that means harm', () => {
  const folder: HeldOptions = { answer: ({ object }) => [object.folder ?? object.path] };

  test('cannot stop the supervisor with names, depth or number', async (t) => {
    const place = createClosed(t);
    let deep = place.secret;
    const long = 'x'.repeat(255);
    for (let depth = 0; depth < 12; depth += 1) {
      deep = path.join(deep, 'y'.repeat(250));
      mkdirSync(deep);
    }
    writeFileSync(path.join(deep, 'end'), 'END\n');
    writeFileSync(path.join(place.secret, long), 'LONG\n');
    const odd = Buffer.concat([Buffer.from(`${place.secret}/`), Buffer.from([0xff, 0xfe, 0x0a])]);
    writeFileSync(odd, 'ODD\n');
    const many = path.join(place.secret, 'many');
    mkdirSync(many);
    for (let i = 0; i < 1500; i += 1) writeFileSync(path.join(many, `file ${i}`), '');
    const script = `
s = b'secret'
print(len(os.listdir(s + b'/many')), len([e for e in os.scandir(s + b'/many') if e.stat().st_size == 0]))
print(open(s + b'/' + b'x' * 255).read(), open(s + b'/\\xff\\xfe\\n').read())
def attempt(path):
    try: os.stat(path); print('there')
    except OSError as e: print(e.errno)
attempt(s + b'/' + b'x' * 256)
attempt(s + b'/' + b'a/' * 3000)
attempt(s + b'/../secret/./sub/../key')
os.chdir(s)
for _ in range(12): os.chdir('y' * 250)
print(open('end').read(), end='')
for i in range(40):
    try: os.chdir('..')
    except OSError: pass
print(os.getcwd())`;
    const ended = await runHeld(place, python(script), folder);
    assert.equal(ended.stdout, '1500 1500\nLONG\n ODD\n\n36\n36\nthere\nEND\n/\n', ended.stderr);
    assert.equal(ended.code, 0);
  });

  test('may open a file ten thousand times', async (t) => {
    const place = createClosed(t);
    const script = `
import resource
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
count, handles = min(10000, hard - 100), []
try:
    while len(handles) < count: handles.append(os.open('secret/key', os.O_RDONLY))
except OSError as e: print(e.errno)
print(len(handles) > 100, os.pread(handles[-1], 9, 0))
for h in handles: os.close(h)
print(open('secret/other').read(), end='')`;
    const ended = await runHeld(place, python(script), folder);
    assert.match(ended.stdout, /True b'SECRET\\n'\nOTHER\n$/, ended.stderr);
  });

  test('may wait in more places than there is room for', async (t) => {
    const place = createClosed(t);
    const script = `
import threading
errors = {}
def read():
    try: open('secret/key')
    except OSError as e: errors[e.errno] = errors.get(e.errno, 0) + 1
threads = [threading.Thread(target=read) for _ in range(700)]
for t in threads: t.start()
print('started'); sys.stdout.flush()
for t in threads: t.join()
print(sum(errors.values()), sorted(errors))`;
    const run = await startHeld(place, python(script), { answer: () => 'wait' });
    await said(run, 'started');
    for (let id = 1; id <= 512; id += 1) run.reply((await run.asked(id)).id, 'deny');
    assert.equal((await run.ended).stdout, 'started\n700 [11, 13]\n');
  });

  test('meets what changes while it reads', async (t) => {
    const place = createClosed(t);
    const sparse = path.join(place.secret, 'sparse');
    writeFileSync(sparse, '');
    truncateSync(sparse, 2 ** 40);
    const script = `
import random
f = os.open('secret/sparse', os.O_RDONLY)
print(os.pread(f, 4, 2 ** 39), os.fstat(f).st_size, os.lseek(f, 0, os.SEEK_END))
g = open('secret/key', 'rb', buffering=0)
print('open'); sys.stdout.flush()
while not os.path.exists('ws/go'):
    g.seek(0); g.read()
    try: os.stat('secret/key')
    except FileNotFoundError: pass
g.seek(0); print(g.read()); print(os.stat('secret/key').st_size)`;
    const run = await startHeld(place, python(script), folder);
    await said(run, 'open');
    const key = path.join(place.secret, 'key');
    for (let i = 0; i < 200; i += 1) {
      truncateSync(key, (i * 977) % 40_000);
      if (i % 10 === 0) {
        renameSync(key, `${key}.old`);
        mkdirSync(key);
        rmdirSync(key);
        renameSync(`${key}.old`, key);
      }
    }
    writeFileSync(key, 'LAST\n');
    writeFileSync(path.join(place.workspace, 'go'), '');
    assert.equal(
      (await run.ended).stdout,
      `b'\\x00\\x00\\x00\\x00' ${2 ** 40} ${2 ** 40}\nopen\nb'LAST\\n'\n5\n`,
    );
  });

  test('reads nothing by other ways in', async (t) => {
    const place = createClosed(t);
    const script = `
import ctypes, fcntl
def attempt(name, call):
    try: print(name, call())
    except OSError as e: print(name, e.errno)
p = os.open('secret/key', os.O_PATH)
attempt('proc', lambda: open('/proc/self/fd/%d' % p).read())
attempt('read', lambda: os.read(p, 9))
attempt('exec', lambda: os.execv('secret/key', ['key']))
attempt('link', lambda: os.link('secret/key', 'ws/key'))
attempt('rename', lambda: os.rename('secret', 'ws/secret'))
attempt('rmdir', lambda: os.rmdir('secret'))
attempt('xattr', lambda: os.getxattr('secret/key', 'user.x'))
attempt('sendfile', lambda: os.sendfile(1, p, 0, 9))
attempt('root', lambda: open('/proc/1/root' + os.getcwd() + '/secret/key').read())
attempt('cwd', lambda: open('/proc/self/cwd/secret/key').read())
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0: raise OSError(ctypes.get_errno(), name)
attempt('umount', lambda: call('umount2', b'secret', 2))
def nested():
    call('unshare', 0x10020000)
    call('umount2', b'secret', 2)
attempt('nested', nested)`;
    const ended = await runHeld(place, python(script), { answer: deny });
    const lines = Object.fromEntries(
      ended.stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    );
    assert.deepEqual(Object.keys(lines).length, 12, ended.stderr);
    for (const [name, outcome] of Object.entries(lines)) assert.match(outcome, /^\d+$/, name);
    assert.equal(ended.stdout.includes('SECRET'), false);
  });
});

describe('reading from roots only', () => {
  /** All of the user's folders is closed, but for the workspace and one folder of tools. */
  function rooted(place: Closed): HeldOptions {
    mkdirSync(path.join(place.folder, 'tools/bin'), { recursive: true });
    writeFileSync(path.join(place.folder, 'tools/bin/tool'), '#!/bin/sh\necho tool\n', {
      mode: 0o755,
    });
    return {
      mounts: [
        { op: 'tripwire', path: place.folder, names: true },
        { op: 'readable', path: path.join(place.folder, 'tools') },
        { op: 'tripwire', path: place.secret, names: false },
      ],
      answer: ({ object }) => (object.path.endsWith('netrc') ? 'deny' : 'once'),
    };
  }

  test('the workspace and readable folders work, another project is held', async (t) => {
    const place = createClosed(t);
    const options = rooted(place);
    mkdirSync(path.join(place.folder, 'project'));
    writeFileSync(path.join(place.folder, 'project/code'), 'CODE\n');
    const script = `
import subprocess
def run(*words, **more): print(subprocess.run(words, capture_output=True, text=True, **more).stdout, end='')
os.chdir('ws')
run('git', 'init', '-q'); open('a.py', 'w').write('print("python")'); open('b.js', 'w').write('console.log("node")')
run('git', 'add', 'a.py'); run('git', 'status', '--porcelain', 'a.py')
run('/usr/bin/python3', 'a.py'); run('../tools/bin/tool'); run('cat', '../project/code'); run('cat', '../netrc')
print(os.getcwd() == '${place.workspace}', os.path.realpath('a.py') == '${place.workspace}/a.py')
print(sorted(os.listdir('..')), os.listdir('../secret'))
try: open('../tools/bin/tool', 'a')
except OSError as e: print(e.errno)`;
    const ended = await runHeld(place, python(script), options);
    assert.equal(
      ended.stdout,
      "A  a.py\npython\ntool\nCODE\nTrue True\n['netrc', 'project', 'secret', 'tools', 'ws'] []\n30\n",
      ended.stderr,
    );
    assert.deepEqual(ended.asked, ['project/code', 'netrc']);
  });

  test('a folder that is opened opens no closed place in it', async (t) => {
    const place = createClosed(t);
    const { mounts } = rooted(place);
    const run = await startHeld(place, shell('cat netrc tools/../netrc secret/key; ls -A secret'), {
      ...(mounts === undefined ? {} : { mounts }),
      answer: ({ object }) => (object.folder === null ? 'deny' : [object.folder]),
    });
    assert.equal((await run.ended).stdout, 'NETRC\nNETRC\n');
    assert.deepEqual(
      run.asks.map(({ object }) => object),
      [{ path: place.file, folder: place.folder }],
    );
  });

  test('hidden names still show the way to what is mounted', async (t) => {
    const place = createClosed(t);
    const mounts = [{ op: 'tripwire', path: place.folder, names: false }];
    const ended = await runHeld(place, shell('ls; cat netrc; cd ws && pwd'), {
      mounts,
      answer: deny,
    });
    assert.equal(ended.stdout, `ws\n${place.workspace}\n`);
    assert.deepEqual(ended.asked, []);
  });

  test('what leads to the workspace stays, whatever the host does', async (t) => {
    const place = createClosed(t);
    const inner = path.join(place.folder, 'a/b/ws');
    mkdirSync(inner, { recursive: true });
    const moved: Closed = { ...place, workspace: inner };
    const script = `
print('up'); sys.stdout.flush()
while not os.path.exists(f'{os.getcwd()}/ws/go'): pass
print(open(os.getcwd() + '/ws/go').read(), end='')
print(os.path.isdir('..'), os.path.isdir('../../a'))`;
    const run = await startHeld(moved, python(script), {
      mounts: [{ op: 'tripwire', path: place.folder, names: true }],
      answer: deny,
    });
    await said(run, 'up');
    renameSync(path.join(place.folder, 'a'), path.join(place.folder, 'z'));
    writeFileSync(path.join(place.folder, 'z/b/ws/going'), 'GO\n');
    renameSync(path.join(place.folder, 'z/b/ws/going'), path.join(place.folder, 'z/b/ws/go'));
    assert.equal((await run.ended).stdout, 'up\nGO\nTrue True\n');
  });
});

describe('what the host puts at a closed place during the run', () => {
  /** Reads `file` again and again, as the one beside it says that it may; ends when it is refused. */
  const insist = (file: string): readonly string[] =>
    python(`
print('up'); sys.stdout.flush()
while True:
    try: open('${file}').read()
    except PermissionError: break
    except OSError: pass
print('closed')`);

  test('is held like what was there, when a file is replaced', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(place, insist('netrc'), {
      answer: ({ id }) => (id < 3 ? 'once' : 'deny'),
    });
    await said(run, 'up');
    await run.asked(1);
    writeFileSync(`${place.file}.new`, 'NEW\n');
    renameSync(`${place.file}.new`, place.file);
    assert.equal((await run.ended).stdout, 'up\nclosed\n');
    assert.equal(run.asks.length, 3);
  });

  test('is held when a folder comes that was not there, or one above it', async (t) => {
    const place = createClosed(t);
    const late = path.join(place.folder, 'config/cloud/keys');
    const run = await startHeld(place, insist('config/cloud/keys/key'), {
      mounts: [{ op: 'tripwire', path: late, names: true }],
      answer: deny,
    });
    await said(run, 'up');
    mkdirSync(late, { recursive: true });
    writeFileSync(path.join(late, 'key'), 'LATE\n');
    assert.equal((await run.ended).stdout, 'up\nclosed\n');
    assert.deepEqual(
      run.asks.map(({ object }) => object),
      [{ path: path.join(late, 'key'), folder: late }],
    );
  });

  test('is held when a folder was removed and made again, also as a file', async (t) => {
    const place = createClosed(t);
    const run = await startHeld(place, insist('secret'), { answer: deny });
    await said(run, 'up');
    rmSync(place.secret, { recursive: true });
    writeFileSync(place.secret, 'FILE\n');
    assert.equal((await run.ended).stdout, 'up\nclosed\n');
    assert.deepEqual(
      run.asks.map(({ object }) => object),
      [{ path: place.secret, folder: null }],
    );
  });
});

test('without /dev/fuse closed places are hidden, and that is a gap', async (t) => {
  const place = createClosed(t);
  const run = await runHeld(place, shell('ls -A secret; cat netrc; cat secret/key'), {
    answer: once,
    withoutFuse: true,
  });
  assert.equal(run.stdout, '');
  assert.match(run.stderr, /secret\/key: No such file/);
  assert.deepEqual(run.asked, []);
  const ready = run.frames.find(({ kind }) => kind === 'ready');
  assert.match(JSON.stringify(ready?.['gaps']), /Reads of closed places are held.*\/dev\/fuse/);
});
