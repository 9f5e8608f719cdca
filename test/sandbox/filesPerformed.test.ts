import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compiled, createPlace } from '../support/sandbox.js';

/** `/` is another mount inside, and a read-only one: calls on it end before the kernel looks at rights. */
function isOfRoot(row: string): boolean {
  return /^[^:]* [@=]?\/\/?[ :]/.test(row) && /: (EROFS|EXDEV)$/.test(row);
}

test('calls that change files do inside what they do on the host, in every variant', async (t) => {
  const place = createPlace(t);
  const folder = path.join(place.workspace, 'calls');
  mkdirSync(folder);
  const words = [compiled('fileCalls'), folder];
  const host = await place.host(words, { timeoutMs: 240_000 });
  const inside = await place.cordon([], words, { timeoutMs: 240_000 });
  assert.equal(host.code, 0, host.stderr);
  assert.equal(inside.code, 0, inside.stderr);
  const expected = host.stdout.split('\n');
  const rows = inside.stdout.split('\n');
  assert.equal(rows.length, expected.length);
  assert.ok(rows.length > 7000, `it tried ${rows.length}`);
  const other = rows
    .map((row, at) => ({ inside: row, host: expected[at] }))
    .filter((pair) => pair.inside !== pair.host && !isOfRoot(pair.inside));
  assert.deepEqual(other, []);
});

test('no exchange of what a call names makes something protected', async (t) => {
  const place = createPlace(t);
  const hooks = path.join(place.workspace, '.git/hooks');
  rmSync(hooks, { recursive: true, force: true });
  mkdirSync(hooks);
  writeFileSync(path.join(hooks, 'sleeping'), '#!/bin/sh\n', { mode: 0o644 });
  const words = [compiled('fileRaces'), place.workspace, '150'];
  const result = await place.cordon(['--ask', 'deny'], words, { timeoutMs: 120_000 });
  assert.equal(result.code, 0, result.stderr);
  const rows = result.stdout.trim().split('\n');
  assert.equal(rows.length, 13);
  for (const row of rows) assert.match(row, /: [1-9]\d* tries, 0 wins$/);
  assert.deepEqual(readdirSync(hooks), ['sleeping']);
  assert.equal(existsSync(path.join(place.workspace, '.vscode')), false);
});

/** What depends on who makes a call, or on when it returns; each prints the same on the host. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'a FIFO is opened when somebody reads it':
    'mkfifo p; (sleep 0.2; cat p) & echo through > p; wait; rm p',
  'a program that waits for a reader can be ended':
    "mkfifo p; timeout 0.3 sh -c 'echo x > p'; echo $?; rm p",
  'what was just written can be executed':
    "for i in $(seq 40); do printf '#!/bin/sh\\necho ran\\n' > s; chmod +x s; ./s; done | sort -u",
  'a name space maps its own user':
    "unshare -r sh -c 'id -u; echo a > own; chown 0:0 own; cat own'",
  'a task writes to its own files in /proc':
    "sh -c 'echo 7 > /proc/$$/oom_score_adj; cat /proc/self/oom_score_adj; echo x > /proc/self/comm'",
  'standard output is opened by its names':
    '(echo a > /dev/stdout; echo b > /dev/fd/1; echo c > /proc/self/fd/1) | cat',
  'a session has the terminal that was made for it':
    "script -qc 'echo seen > /dev/tty; echo twice > $(tty)' /dev/null < /dev/null",
  'a session without a terminal has none':
    "setsid -w sh -c 'echo x > /dev/tty' 2> /dev/null; echo $?",
  'a file without a name gets one':
    "python3 -c \"import os; f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o640); os.write(f, b'text'); " +
    "os.link('/proc/self/fd/%d' % f, 'named', src_dir_fd=0)\"; cat named; stat -c %a named; rm named",
  'each process has its own umask':
    "umask 027; touch a; (umask 0; mkdir b; sh -c 'umask 077; touch c'; touch d); touch e; stat -c '%a %n' a b c d e; rm -r a b c d e",
  'a data base writes ahead':
    "python3 -c \"import sqlite3; c = sqlite3.connect('db'); print(c.execute('pragma journal_mode=wal').fetchone()); " +
    "c.execute('create table t(a)'); c.commit(); print(c.execute('select * from t').fetchall())\"; rm -f db*",
  'processes share memory and locks':
    'python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1, 2]))"',
};

for (const [sentence, script] of Object.entries(PROGRAMS)) {
  test(`as on the host: ${sentence}`, async (t) => {
    const place = createPlace(t);
    const words = ['sh', '-c', script];
    const host = await place.host(words);
    const inside = await place.cordon(['--ask', 'deny'], words);
    assert.deepEqual([inside.stdout, inside.code], [host.stdout, host.code], inside.stderr);
    assert.notEqual(host.stdout, '');
  });
}
