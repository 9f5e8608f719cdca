import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RunEvent, RunState } from '../../../src/launch/run.js';
import { childStatus, preparing, trackRun, transitionRun } from '../../../src/launch/run.js';
import { parseSupport } from '../../../src/launch/schema.js';

function after(...events: readonly RunEvent[]): RunState {
  return events.reduce(transitionRun, preparing);
}

/** The state, or how it ended: kind, exit code, and what is particular to it. */
function inShort(state: RunState): string {
  if (state.kind !== 'over') return state.kind;
  const { exit } = state;
  switch (exit.kind) {
    case 'exited':
      return `exited ${exit.exitCode}`;
    case 'stopped':
      return `stopped ${exit.exitCode} for ${exit.reason}`;
    case 'failed':
      return `failed ${exit.exitCode}, ${exit.shown ? 'shown' : 'not shown'}: ${exit.message}`;
    case 'lost':
      return `lost: ${exit.message}`;
  }
}

const ready = { kind: 'ready' } as const;
const error = { kind: 'error', message: 'no namespaces' } as const;
const lost = { kind: 'gone', message: 'no connection', isLost: true } as const;
const unstarted = { kind: 'gone', message: 'no launcher', isLost: false } as const;
const exit = (exited: number): RunEvent => ({ kind: 'exit', status: { exited } });
const ended = (exited: number): RunEvent => ({ kind: 'ended', status: { exited } });
const killed: RunEvent = { kind: 'ended', status: { signalled: 9 } };
const stop = (reason: 'user' | 'limit'): RunEvent => ({ kind: 'stop', reason });

const paths: readonly (readonly [name: string, events: readonly RunEvent[], end: string])[] = [
  ['nothing yet', [], 'preparing'],
  ['the boundary stands', [ready], 'running'],
  ['a command that ends', [ready, exit(3), ended(3)], 'exited 3'],
  ['a run of another process that ends', [ready, exit(3), lost], 'exited 3'],
  ['a boundary that cannot be set up', [error, ended(125)], 'failed 125, shown: no namespaces'],
  ['a program that is not there', [error, ended(127)], 'failed 127, shown: no namespaces'],
  ['an error that claims success', [error, ended(0)], 'failed 125, shown: no namespaces'],
  [
    'a launcher that ends well without a word',
    [ended(0)],
    'failed 125, not shown: the launcher ended with 0',
  ],
  [
    'a launcher that ends with 125 by itself',
    [ended(125)],
    'failed 125, shown: the launcher ended with 125',
  ],
  [
    'a launcher that is killed',
    [ready, killed],
    'failed 137, not shown: the launcher ended by signal 9',
  ],
  ['a launcher that cannot be started', [unstarted], 'failed 125, not shown: no launcher'],
  ['a connection that is lost', [ready, lost], 'lost: no connection'],
  ['an error of another process’s run', [error, lost], 'failed 125, shown: no namespaces'],
  ['stopping', [ready, stop('user')], 'stopping'],
  [
    'the first reason',
    [ready, stop('user'), stop('limit'), exit(143), ended(143)],
    'stopped 143 for user',
  ],
  ['stopped before it began', [stop('user'), ended(125)], 'stopped 125 for user'],
  ['lost while stopping', [ready, stop('user'), lost], 'lost: no connection'],
  ['the first end', [ready, exit(3), ended(3), ended(4), stop('user'), lost], 'exited 3'],
];

for (const [name, events, end] of paths) {
  test(`a run goes its way: ${name}`, () => {
    assert.equal(inShort(after(...events)), end);
  });
}

test('stopping twice gives the same end, and the launcher is asked each time with the first reason', async () => {
  const asked: string[] = [];
  const run = trackRun('r', {
    stop: (reason) => asked.push(reason),
    signal: () => undefined,
    onDidChange: () => undefined,
  });
  const ends = [run.stop('user'), run.stop('limit')];
  run.step({ kind: 'ended', status: { exited: 0 } });
  assert.deepEqual(await Promise.all(ends), [await run.exited, await run.exited]);
  assert.deepEqual(asked, ['user', 'user']);
  await run.stop('internal');
  assert.deepEqual(asked, ['user', 'user']);
});

test('how a child process ended is told by status or signal', () => {
  assert.deepEqual(
    [childStatus(3, null), childStatus(null, 'SIGKILL')],
    [{ exited: 3 }, { signalled: 9 }],
  );
});

test('what the probe says is taken whole, or not at all', () => {
  const said = {
    protocol: 1,
    version: '0.1.0',
    problem: null,
    overlay: true,
    gaps: [{ promise: 'p', reason: 'r' }],
    landlock: 0,
    features: { network: 'EPERM', mounts: null },
  };
  assert.deepEqual(parseSupport(JSON.stringify(said)), said);
  for (const broken of [
    '',
    '{}',
    '{"protocol":1',
    JSON.stringify({ ...said, more: 1 }),
    JSON.stringify({ ...said, overlay: 'yes' }),
  ]) {
    assert.equal(parseSupport(broken), undefined, broken);
  }
});
