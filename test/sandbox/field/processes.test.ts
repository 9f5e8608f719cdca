// Reported failures around processes, terminals and what is said of a refusal.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, test } from 'node:test';
import { readEvents } from '../../support/events.js';
import { script } from '../../support/programs.js';
import { cordonCommand, createPlace } from '../../support/sandbox.js';
import type { Place } from '../../support/sandbox.js';

/** A literal address nobody has (RFC 5737): it is refused before anything is sent. */
const NOWHERE = '192.0.2.1';

/** Processes of this host whose command line holds `mark`. */
function alive(mark: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/u.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false; // it ended meanwhile
    }
  });
}

async function assertGone(mark: string): Promise<void> {
  const end = Date.now() + 2000;
  while (alive(mark).length > 0 && Date.now() < end) await sleep(20);
  assert.deepEqual(alive(mark), []);
}

/** Leaves descendants in other sessions and groups, and twice forked. */
function scatter(mark: string): string {
  const wait = `exec -a ${mark} sleep 300 >/dev/null 2>&1`;
  return `(setsid bash -c '${wait}' &); (setsid setsid bash -c '${wait}' & ) & bash -c '${wait}' & set -m; bash -c '${wait}' & sleep 0.3; echo up`;
}

describe('C050 every descendant is gone within two seconds', () => {
  test('after the command has ended', async (t) => {
    const place = createPlace(t);
    const mark = `cordon-ended-${process.pid}`;
    const { stdout } = await place.cordon([], ['bash', '-c', scatter(mark)]);
    assert.match(stdout, /up/u);
    await assertGone(mark);
  });

  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGHUP', 'SIGINT'] as const) {
    test(`after ${signal} to the CLI`, async (t) => {
      const place = createPlace(t);
      const mark = `cordon-${signal}-${process.pid}`;
      const started = place.start([], ['bash', '-c', `${scatter(mark)}; sleep 300`]);
      await started.said('up');
      assert.ok(alive(mark).length >= 4);
      const begun = Date.now();
      started.child.kill(signal);
      await started.finished;
      assert.ok(Date.now() - begun < 10_000, 'it ends by the signal, not by a time limit');
      await assertGone(mark);
    });
  }
});

test('C050 a time limit that interrupts the whole process group leaves nobody behind', async (t) => {
  const place = createPlace(t);
  const mark = `cordon-timeout-${process.pid}`;
  const begun = Date.now();
  const { code } = await place.host([
    ...['timeout', '--signal=INT', '1.5'],
    ...cordonCommand([], ['bash', '-c', `${scatter(mark)}; sleep 300`]),
  ]);
  assert.equal(code, 124);
  assert.ok(Date.now() - begun < 6000);
  await assertGone(mark);
});

test('C051 the command has a controlling terminal: /dev/tty opens, and job control works', async (t) => {
  const place = createPlace(t);
  const inside =
    'echo typed to tty > /dev/tty; tty; set -m; sleep 60 & kill -STOP %1; sleep 0.3; jobs; kill -CONT %1; sleep 0.3; jobs; kill %1; stty size > /dev/null && echo sized';
  const { stdout } = await place.host([
    ...['/usr/bin/python3', script('answer.py'), '-', '0'],
    ...cordonCommand([], ['bash', '-c', inside]),
  ]);
  for (const expected of [
    /typed to tty/u,
    /\/dev\/(pts\/\d+|console|tty)/u,
    /Stopped/u,
    /Running/u,
    /sized/u,
  ]) {
    assert.match(stdout, expected);
  }
});

test('C052 a refusal hidden by a pipeline is recorded and said', async (t) => {
  const place = createPlace(t);
  const events = path.join(place.folder, 'events.jsonl');
  const { code, stderr } = await place.cordon(['--ask', 'deny', '--events', events], [
    'sh', '-c', `curl -s http://${NOWHERE}:8080/ | cat; true`,
  ]); // prettier-ignore
  assert.equal(code, 0);
  assert.match(stderr, new RegExp(`^cordon: .*${NOWHERE.replaceAll('.', '\\.')}`, 'mu'));
  const lines = await readEvents(events);
  const request = lines.find((line) => line.kind === 'request' || line.kind === 'denial');
  assert.deepEqual(request?.object, { address: NOWHERE, port: 8080 });
  assert.equal(path.basename(request.subject.executable), 'curl');
  assert.notEqual(request.rule, '');
});

test('C053 processes of one run can be listed and probed; others answer as if they were not there', async (t) => {
  const place = createPlace(t);
  const { stdout } = await place.cordon([], [
    'bash', '-c',
    `sleep 60 & kill -0 $! && echo alive; ps -o comm= -p $!; kill -0 ${process.pid} 2>/dev/null || echo unknown; ls -d /proc/${process.pid} 2>/dev/null; kill $!`,
  ]); // prettier-ignore
  assert.equal(stdout, 'alive\nsleep\nunknown\n');
});

test('C065 several lines and trailing backslashes behave as in a plain shell', async (t) => {
  const place = createPlace(t);
  const commands = [
    'echo one \\\n two\necho three',
    "printf '%s|' a\\\\ b\\",
    'cat <<EOF\nlines\n  "quoted" $HOME `echo x`\nEOF\n',
    'for i in 1 2\ndo\n  echo $i\ndone',
    "echo 'it'\\''s' \"$0\" '$0' \\$0 *; # comment\n\n",
    '',
  ];
  const odd = ['', ' ', '\n', '--', '-x', '$(touch made)', '*', "'", '"', '\\', 'ä\u{1f600}'];
  const run = async (of: (words: readonly string[]) => ReturnType<Place['host']>) => {
    const outputs: unknown[] = [];
    for (const command of commands) {
      const { code, stdout } = await of(['sh', '-c', command]);
      outputs.push({ code, stdout });
    }
    const { stdout } = await of(['printf', '<%s>\n', ...odd]);
    return [...outputs, stdout];
  };
  assert.deepEqual(
    await run((words) => place.cordon([], words)),
    await run((words) => place.host(words)),
  );
});

test('C068 nothing runs a second time by itself, whatever was refused', async (t) => {
  const place = createPlace(t);
  const count = path.join(place.workspace, 'count');
  writeFileSync(count, '');
  for (const attempt of [
    `curl -s http://${NOWHERE}/`,
    'echo x > ../outside/file',
    'cat ~/.ssh/id_ed25519',
    'exit 3',
  ]) {
    const { code } = await place.cordon(
      ['--ask', 'deny'],
      ['sh', '-c', `echo ran >> count; ${attempt}`],
    );
    assert.notEqual(code, 0);
  }
  assert.equal(readFileSync(count, 'utf8'), 'ran\n'.repeat(4));
  assert.equal(readFileSync(path.join(place.outside, 'file'), 'utf8'), 'original\n');
});
