// Runs attempts of test/sandbox/breach.c, inside a boundary and on the host, many in one run.

import assert from 'node:assert/strict';
import { compiled } from './sandbox.js';
import type { CommandOptions, Place } from './sandbox.js';

/** An attempt with its arguments: `['write', '/etc/x']`; `nested` first tries from a namespace of its own. */
export type Attempt = readonly [name: string, ...arguments_: readonly string[]];

/** Attempt → `done`, or the name of the errno that stopped it. Keys are the words, joined by spaces. */
export type Outcomes = Readonly<Record<string, string>>;

export async function attemptInside(
  place: Place,
  flags: readonly string[],
  attempts: readonly Attempt[],
  options?: CommandOptions,
): Promise<Outcomes> {
  const result = await place.cordon(flags, [compiled('breach'), '-'], {
    ...options,
    input: lines(attempts),
  });
  assert.equal(result.code, 0, `the attempts ran: ${JSON.stringify(result)}`);
  return outcomes(attempts, result.stdout);
}

/** The same on the host: to see that an attempt works where nothing stops it. */
export async function attemptOutside(
  place: Place,
  attempts: readonly Attempt[],
): Promise<Outcomes> {
  const result = await place.host([compiled('breach'), '-'], { input: lines(attempts) });
  assert.equal(result.code, 0, result.stderr);
  return outcomes(attempts, result.stdout);
}

/** What is expected when every attempt ends alike. */
export function each(attempts: readonly Attempt[], outcome: string): Outcomes {
  return Object.fromEntries(attempts.map((words) => [words.join(' '), outcome]));
}

function lines(attempts: readonly Attempt[]): string {
  return attempts.map((words) => `${words.join('\t')}\n`).join('');
}

function outcomes(attempts: readonly Attempt[], output: string): Outcomes {
  const results = output.trimEnd().split('\n');
  assert.equal(results.length, attempts.length, `one line an attempt: ${output}`);
  return Object.fromEntries(attempts.map((words, at) => [words.join(' '), results[at] ?? '']));
}
