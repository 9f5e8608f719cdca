// Many runs at once, and many after one another: each correct, nothing left behind.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createPlace, snapshot, type Finished, type Place } from '../support/sandbox.js';

const AT_ONCE = 200;
const IN_TURN = 300;

/** Each run writes a file of its own, fails to write outside, and ends with a status of its own. */
function runNumber(place: Place, number: number): Promise<Finished> {
  const script = `echo ${number} > run-${number} && ! touch ../outside/run-${number} 2>/dev/null && exit ${number % 100}`;
  return place.cordon(['--network', 'off'], ['sh', '-c', script], { timeoutMs: 600_000 });
}

function assertAllRan(place: Place, ends: readonly Finished[], outside: readonly string[]): void {
  const wrong = ends
    .map(({ code, signal, stderr }, number) => ({ number, code, signal, stderr }))
    .filter(({ number, code }) => code !== number % 100);
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    ends.map((_, number) => readFileSync(path.join(place.workspace, `run-${number}`), 'utf8')),
    ends.map((_, number) => `${number}\n`),
  );
  assert.deepEqual(snapshot(place.outside), outside);
}

/** Launchers of this user that still live. */
function launchers(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => nameOf(pid) === 'cordon-launch');
}

function nameOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return ''; // ended meanwhile
  }
}

test(`${AT_ONCE} runs at once are all correct, and none is left`, async (t) => {
  const place = createPlace(t);
  const outside = snapshot(place.outside);
  const before = launchers();
  const ends = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => runNumber(place, n)));
  assertAllRan(place, ends, outside);
  assert.deepEqual(
    launchers().filter((pid) => !before.includes(pid)),
    [],
  );
});

test(`${IN_TURN} runs in turn leave the runtime folder as it was`, async (t) => {
  const place = createPlace(t);
  const outside = snapshot(place.outside);
  const runtime = place.environment['XDG_RUNTIME_DIR'] ?? '';
  const ends: Finished[] = [];
  for (let n = 0; n < IN_TURN; n += 1) ends.push(await runNumber(place, n));
  assertAllRan(place, ends, outside);
  const left = readdirSync(runtime, { recursive: true }).filter((name) => name !== 'cordon');
  assert.deepEqual(left, []);
});
