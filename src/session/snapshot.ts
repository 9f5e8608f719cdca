// The immutable view of a session that faces show. Pure types and one pure function.

import type { Gap } from '../plan/plan.js';
import type { Grant } from '../policy/grant.js';
import type { Question } from '../broker/prompter.js';
import type { RunExit } from '../launch/run.js';

/** Shown, never chosen. `not enforcing`: nothing can be run here, because the policy or this host forbids it. */
export type Posture = 'enforcing' | 'enforcing with gaps' | 'not enforcing';

export interface RunSnapshot {
  readonly id: string;
  /** The launcher's process id on the host. */
  readonly pid: number;
  readonly command: readonly string[];
  readonly directory: string;
  readonly state: 'preparing' | 'running' | 'stopping' | 'exited' | 'failed';
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly gaps: readonly Gap[];
  /** Set once the run is over. */
  readonly exit?: RunExit;
}

/** A listener inside a run that can be reached on this machine. */
export interface PublishedPort {
  readonly run: string;
  readonly port: number;
  /** Another one when the port was taken. */
  readonly hostPort: number;
  /** A loopback address of this machine. */
  readonly address: string;
}

export interface SessionSnapshot {
  /** Runs that are not over, oldest first, and then the latest ones that are. */
  readonly runs: readonly RunSnapshot[];
  /** Questions without an answer, oldest first. */
  readonly pending: readonly Question[];
  readonly grants: readonly Grant[];
  /** Of all runs, in the order in which they were opened. */
  readonly ports: readonly PublishedPort[];
  readonly posture: Posture;
  /** What this host, or a run that is not over, cannot keep. */
  readonly gaps: readonly Gap[];
  /** Why nothing can be run here; set when the posture is `not enforcing`. */
  readonly problem?: string;
}

/** What the promises kept by the host and the living runs amount to. */
export function postureOf(problem: string | undefined, gaps: readonly Gap[]): Posture {
  if (problem !== undefined) return 'not enforcing';
  return gaps.length > 0 ? 'enforcing with gaps' : 'enforcing';
}
