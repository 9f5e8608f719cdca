// A running thing is an object: it has one end, and the first reason for it wins. What becomes of a run is one pure
// function; whoever holds the socket or the child process feeds it.

import os from 'node:os';

import { assertNever } from '../base/assertNever.js';
import { createDeferred } from '../base/deferred.js';
import type { RunStatus } from './control/schema.js';

export type StopReason = 'user' | 'sessionClosed' | 'brokerLost' | 'limit' | 'internal';

/**
 * How a run ended. `exitCode` is what a shell would see: 125 when the boundary could not be set up. `lost`: the run went
 * out of sight, as when its window closes; it may go on, confined.
 */
export type RunExit =
  | { readonly kind: 'exited'; readonly status: RunStatus; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly reason: StopReason; readonly exitCode: number }
  | {
      readonly kind: 'failed';
      readonly message: string;
      readonly exitCode: number;
      /** The launcher has said it on the run's standard error. */
      readonly shown: boolean;
    }
  | { readonly kind: 'lost'; readonly message: string; readonly exitCode: number };

export interface Run {
  /** Known before the launcher says `ready`. */
  readonly id: string;
  /** Settles once and never rejects, because a failure is an outcome too. */
  readonly exited: Promise<RunExit>;
  stop(reason: StopReason): Promise<RunExit>;
  /** Passes a signal on to the launcher; nothing when this process did not start it. */
  signal(name: NodeJS.Signals): void;
}

export const EXIT_NO_BOUNDARY = 125;
/** With these the launcher ends by itself, never without a line on standard error. */
const EXPLAINED: ReadonlySet<number> = new Set([EXIT_NO_BOUNDARY, 126, 127]);

export type RunState =
  | { readonly kind: 'preparing' | 'running'; readonly seen: Seen }
  | { readonly kind: 'stopping'; readonly reason: StopReason; readonly seen: Seen }
  | { readonly kind: 'over'; readonly exit: RunExit };

/** What the launcher has said about the end so far. */
type Seen =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'exit'; readonly status: RunStatus }
  | { readonly kind: 'error'; readonly message: string };

export type RunEvent =
  | { readonly kind: 'ready' }
  | { readonly kind: 'stop'; readonly reason: StopReason }
  | { readonly kind: 'exit'; readonly status: RunStatus }
  | { readonly kind: 'error'; readonly message: string }
  /** The child process ended: how the kernel reported it. */
  | { readonly kind: 'ended'; readonly status: RunStatus }
  /** Nothing more will be heard: the launcher could not be started, or its connection is gone. */
  | { readonly kind: 'gone'; readonly message: string; readonly isLost: boolean };

export const preparing: RunState = { kind: 'preparing', seen: { kind: 'nothing' } };

/** Returns the same object when the event does not change the state. */
export function transitionRun(state: RunState, event: RunEvent): RunState {
  if (state.kind === 'over') return state;
  switch (event.kind) {
    case 'ready':
      return state.kind === 'preparing' ? { ...state, kind: 'running' } : state;
    case 'stop':
      return state.kind === 'stopping'
        ? state
        : { kind: 'stopping', reason: event.reason, seen: state.seen };
    case 'exit':
    case 'error':
      return state.seen.kind === 'nothing' ? { ...state, seen: event } : state;
    case 'ended':
      return over(state, exitOf(state, event.status));
    case 'gone':
      return over(state, exitWithoutStatus(state, event));
    default:
      return assertNever(event);
  }
}

/** 128 + n for a signal, as shells have it. */
export function exitCodeOf(status: RunStatus): number {
  return 'exited' in status ? status.exited : 128 + status.signalled;
}

/** The status of a child process, as `exit` events of child_process tell it. */
export function childStatus(code: number | null, signal: NodeJS.Signals | null): RunStatus {
  return signal === null
    ? { exited: code ?? EXIT_NO_BOUNDARY }
    : { signalled: os.constants.signals[signal] };
}

function over(state: Exclude<RunState, { readonly kind: 'over' }>, exit: RunExit): RunState {
  if (state.kind !== 'stopping' || exit.kind === 'lost') return { kind: 'over', exit };
  return { kind: 'over', exit: { kind: 'stopped', reason: state.reason, exitCode: exit.exitCode } };
}

function exitOf(state: Exclude<RunState, { readonly kind: 'over' }>, status: RunStatus): RunExit {
  const exitCode = exitCodeOf(status);
  switch (state.seen.kind) {
    case 'exit':
      return { kind: 'exited', status: state.seen.status, exitCode };
    case 'error': {
      const failed = EXPLAINED.has(exitCode) ? exitCode : EXIT_NO_BOUNDARY;
      return { kind: 'failed', message: state.seen.message, exitCode: failed, shown: true };
    }
    case 'nothing': {
      const how = 'exited' in status ? `with ${status.exited}` : `by signal ${status.signalled}`;
      const shown = 'exited' in status && EXPLAINED.has(status.exited);
      // A launcher that ends well without having told of a run has not run anything: that is no success.
      const failed = 'exited' in status && !shown ? EXIT_NO_BOUNDARY : exitCode;
      return { kind: 'failed', message: `the launcher ended ${how}`, exitCode: failed, shown };
    }
  }
}

function exitWithoutStatus(
  state: Exclude<RunState, { readonly kind: 'over' }>,
  event: { readonly message: string; readonly isLost: boolean },
): RunExit {
  if (state.seen.kind === 'exit') {
    return { kind: 'exited', status: state.seen.status, exitCode: exitCodeOf(state.seen.status) };
  }
  const exitCode = EXIT_NO_BOUNDARY;
  if (state.seen.kind === 'error') {
    return { kind: 'failed', message: state.seen.message, exitCode, shown: true };
  }
  const { message } = event;
  if (event.isLost) return { kind: 'lost', message, exitCode };
  return { kind: 'failed', message, exitCode, shown: false };
}

export interface TrackedRun extends Run {
  readonly state: RunState;
  /** Feeds what happened; an event that changes nothing does nothing. */
  step(event: RunEvent): void;
}

export interface RunControls {
  /** Asks the launcher to end; may be called before it can be reached, and again. */
  readonly stop: (reason: StopReason) => void;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly onDidChange: () => void;
}

export function trackRun(id: string, controls: RunControls): TrackedRun {
  const end = createDeferred<RunExit>();
  let state = preparing;
  const step = (event: RunEvent): void => {
    const before = state;
    state = transitionRun(before, event);
    if (state === before) return;
    if (state.kind === 'over') end.resolve(state.exit);
    controls.onDidChange();
  };
  return {
    id,
    exited: end.promise,
    get state() {
      return state;
    },
    step,
    stop(reason) {
      step({ kind: 'stop', reason }); // the first reason wins; later callers get the same end
      if (state.kind === 'stopping') controls.stop(state.reason);
      return end.promise;
    },
    signal: controls.signal,
  };
}
