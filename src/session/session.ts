// Puts policy, plan, launch, broker and audit together for one window or one command, and owns everything disposable.
// It must never decide: the policy, the broker and the person do.

import type { AbsolutePath } from '../policy/paths.js';
import type { AccessRequest } from '../policy/request.js';
import type { Answer, Prompter } from '../broker/prompter.js';
import type { AuditLine } from '../audit/schema.js';
import type { Clock } from '../base/clock.js';
import type { Event } from '../base/emitter.js';
import type { Log } from '../base/log.js';
import type { PolicyResult } from '../policy/policy.js';
import type { Run } from '../launch/run.js';
import type { SessionSnapshot } from './snapshot.js';

/** What a launcher says before it gets its plan. */
export interface RunRequest {
  readonly directory: string;
  readonly arguments: readonly string[];
}

/** Words that only the face knows. */
export interface Wording {
  /** Ends the line on the run's terminal while a question waits: "click the bell in the status bar". No line without it. */
  readonly whereToAnswer?: string;
  /** What a person can do after a denial, as a whole phrase: "Allow it with --allow example.com:443". */
  readonly howToAllow: (request: AccessRequest) => string;
}

/** A rule that an "always" answer writes, in the notation of `cordon.network.allow` and `.deny`. */
export interface AlwaysRule {
  readonly effect: 'allow' | 'deny';
  readonly pattern: string;
}

export interface SessionOptions {
  /** Default: random. */
  readonly id?: string;
  /** The policy for a run; called for each one, so that it follows the settings. */
  readonly policyFor: (request: RunRequest) => PolicyResult;
  /** Launchers below these find this session by themselves; none registers nothing (CLI). */
  readonly roots: readonly AbsolutePath[];
  readonly prompter: Prompter;
  readonly wording: Wording;
  /** Default: dns.promises.lookup(host, { all: true, verbatim: true }). */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** For audit and caches: ~/.local/state/cordon. */
  readonly state: AbsolutePath;
  /** For the socket; default: found as native/PROTOCOL.md says. Not used without roots. */
  readonly runtime?: AbsolutePath;
  /** The folder with `native/`; default: the folder of the bundle. */
  readonly dist?: AbsolutePath;
  readonly brokerLoss: 'end' | 'wait';
  /** `relay`: the launcher relays a terminal of its own and stands still while a question is asked. */
  readonly terminal?: 'inherit' | 'relay';
  /** Writes the user's settings. Without it `always` counts as `session`. */
  readonly onAlways?: (rule: AlwaysRule) => Promise<void>;
  /** Every line of the audit, after it was written. */
  readonly events?: (line: AuditLine) => void;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly log?: Log;
}

export interface StartOptions {
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface Session {
  readonly id: string;
  /** One event for everything a face shows. */
  readonly onDidChange: Event<SessionSnapshot>;
  snapshot(): SessionSnapshot;
  /** False when the question is over; nothing happens then. */
  answer(questionId: string, answer: Answer): boolean;
  /** Ends a grant: later calls ask again, relayed connections to its target are closed. */
  revoke(grantId: string): void;
  /** Starts a command inside (CLI). The run ends with this process. */
  start(command: readonly string[], options?: StartOptions): Run;
  /** Ends a run by its id; false when it is not there. */
  stop(runId: string): boolean;
  /** Denies what waits, ends what this process started, leaves the others to the next broker. */
  close(): Promise<void>;
}

export type CreateSession = (options: SessionOptions) => Promise<Session>;
