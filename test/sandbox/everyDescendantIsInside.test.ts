import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { changes, cordonCommand, createPlace, snapshot } from '../support/sandbox.js';
import type { Started } from '../support/sandbox.js';

/** Unlikely to be anybody else's `sleep`. */
let next = 100_000 + (process.pid % 10_000) * 10;
const uniqueSeconds = (): string => String((next += 1));

/** Host processes whose command line holds `text`. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
      } catch {
        return ''; // it ended meanwhile
      }
    })
    .filter((line) => line.includes(text));
}

async function gone(text: string, withinMs = 3000): Promise<void> {
  const until = Date.now() + withinMs;
  while (processesWith(text).length > 0) {
    assert.ok(Date.now() < until, `still there: ${processesWith(text).join('\n')}`);
    await sleep(20);
  }
}

/** Every way out of a group, session or parent that programs use. */
const daemons = (seconds: string): string =>
  `sleep ${seconds} & setsid sleep ${seconds} & (setsid sh -c 'sleep ${seconds} &' &) ; nohup setsid sh -c '(sleep ${seconds} &)' >/dev/null 2>&1 &`;

/** Waits until the host sees `count` of them. */
async function appeared(text: string, count: number): Promise<void> {
  const until = Date.now() + 5000;
  while (processesWith(text).length < count) {
    assert.ok(Date.now() < until, `only ${processesWith(text).join('\n')}`);
    await sleep(20);
  }
}

/** The launcher's pids below the CLI. */
function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

test('a descendant in a session of its own is as confined as its parent', async (t) => {
  const place = createPlace(t);
  const attempt = `echo x > ${place.outside}/escaped; cat ${place.home}/.ssh/id`;
  const script = `setsid sh -c '${attempt}'; (setsid sh -c '(${attempt}) &' &); sh -c '${attempt}' & wait; sleep 0.3`;
  const before = snapshot(place.outside);
  await place.cordon([], ['sh', '-c', script]);
  assert.deepEqual(changes(place.outside, before), []);
});

test('when the command ends, no descendant lives on, whatever session or group it moved to', async (t) => {
  const place = createPlace(t);
  const seconds = uniqueSeconds();
  const result = await place.cordon([], ['sh', '-c', `${daemons(seconds)} sleep 0.3; exit 7`]);
  assert.equal(result.code, 7);
  await gone(`sleep ${seconds}`, 2000);
});

for (const victim of ['the CLI', 'the launcher'] as const) {
  test(`kill -9 of ${victim}: nothing of the run survives and no artefact stays`, async (t) => {
    const place = createPlace(t);
    const seconds = uniqueSeconds();
    const before = snapshot(place.folder);
    const temporary = [names('/tmp'), names('/var/tmp')];
    const running = place.start(
      [],
      ['sh', '-c', `${daemons(seconds)} touch /tmp/here; echo ready; sleep ${seconds}`],
    );
    await running.said('ready');
    await appeared(`sleep ${seconds}`, 4);
    process.kill(victimOf(running, victim), 'SIGKILL');
    await gone(`sleep ${seconds}`, 2000);
    await running.finished;
    assert.deepEqual(changes(place.folder, before), []);
    assert.deepEqual([names('/tmp'), names('/var/tmp')], temporary);
  });
}

function victimOf(running: Started, victim: 'the CLI' | 'the launcher'): number {
  const cli = running.child.pid ?? 0;
  if (victim === 'the CLI') return cli;
  const [launcher, ...more] = childrenOf(cli);
  assert.ok(launcher !== undefined && more.length === 0, 'the CLI has one child, the launcher');
  return launcher;
}

/** Names in a shared folder, less what other programs and tests come and go with. */
function names(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) =>
    /cordon-launch|^here$|overlay|\.git|\.codex|\.agents/.test(name),
  );
}

test('the end of the launcher’s parent ends the run also when the CLI was stopped', async (t) => {
  const place = createPlace(t);
  const seconds = uniqueSeconds();
  const running = place.start([], ['sh', '-c', `echo ready; sleep ${seconds}`]);
  await running.said('ready');
  const cli = running.child.pid ?? 0;
  process.kill(cli, 'SIGSTOP');
  process.kill(cli, 'SIGKILL');
  await gone(`sleep ${seconds}`, 2000);
});

test('SIGTERM to the CLI reaches the command, which may end in its own way', async (t) => {
  const place = createPlace(t);
  const script = 'trap "echo bye; exit 9" TERM; echo ready; while :; do sleep 0.05; done';
  const running = place.start([], ['sh', '-c', script]);
  await running.said('ready');
  running.child.kill('SIGTERM');
  const { code, stdout } = await running.finished;
  assert.deepEqual({ code, stdout }, { code: 9, stdout: 'ready\nbye\n' });
});

test('cancelling a whole process group leaves nothing behind', async (t) => {
  const place = createPlace(t);
  const seconds = uniqueSeconds();
  const script = `${cordonCommand([], ['sh', '-c', `${daemons(seconds)} sleep ${seconds}`])
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(' ')} & sleep 1.5; kill -KILL 0`;
  await place.host(['setsid', '-w', 'sh', '-c', script]);
  await gone(`sleep ${seconds}`, 2000);
});

test('a run leaves no socket, lock or temporary file of its own', async (t) => {
  const place = createPlace(t);
  const before = snapshot(place.folder);
  await place.cordon([], ['true']);
  assert.deepEqual(changes(place.folder, before), []);
  assert.deepEqual(readdirSync(path.join(place.folder, 'runtime')), []);
});
