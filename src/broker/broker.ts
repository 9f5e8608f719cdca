// Decides what the plan left open: policy, then grants, then a person (requests.ts, asking.ts). Owns what waits and what
// was granted. Every request ends in an answer that was recorded before it was given.

import type { AuditEntry, AuditLine } from '../audit/schema.js';
import type { Clock } from '../base/clock.js';
import { createDeferred } from '../base/deferred.js';
import type { Disposable } from '../base/disposable.js';
import { toDisposable } from '../base/disposable.js';
import type { Event } from '../base/emitter.js';
import { Emitter } from '../base/emitter.js';
import type { Log } from '../base/log.js';
import type { AlwaysRule, Grant } from '../policy/grant.js';
import type { AccessRequest, Decision } from '../policy/request.js';
import { opensOf, revocationOf } from './actions.js';
import { createAsking } from './asking.js';
import { GrantBook, holds } from './grants.js';
import type { Answer, Prompter, Question } from './prompter.js';
import type { BrokerRun, Entry, Requests, RunEntry } from './requests.js';
import { createRequests } from './requests.js';
import type { RequestEvent } from './state.js';
import { received } from './state.js';
import { Throttle } from './throttle.js';

/** Requests of one run that may wait at once; the launcher keeps to fewer. */
const MAX_OPEN = 4096;

export interface Words {
  /** Where the person finds the question; without it no line is written while it waits. */
  readonly whereToAnswer?: string;
  /** What to do after a denial. */
  readonly howToAllow: (request: AccessRequest) => string;
  /** The home folder, which paths are told relative to. */
  readonly home: string;
}

export interface BrokerOptions {
  /** Without one, nobody is asked: what no rule and no grant allows is denied at once, for `noInterface`. */
  readonly prompter: Prompter | undefined;
  readonly words: Words;
  readonly audit: {
    append(entry: AuditEntry): AuditLine;
    flush(): Promise<void>;
  };
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly createId: () => string;
  readonly log: Log;
  /** Writes rules to the user's settings. Without it `always` is a grant for the session. */
  readonly onAlways?: (rule: AlwaysRule) => Promise<void>;
}

export interface RunHandle extends Disposable {
  /**
   * Never rejects. When the signal aborts, the asking process is gone. A `message` is for the run's terminal.
   */
  ask(request: AccessRequest, signal: AbortSignal): Promise<Decision>;
}

export interface Broker {
  /** Questions or grants changed. */
  readonly onDidChange: Event<undefined>;
  /** Oldest first. */
  questions(): readonly Question[];
  grants(): readonly Grant[];
  /** Disposing the handle ends the run's grants and withdraws what it asked. */
  addRun(run: BrokerRun): RunHandle;
  /** Takes up grants that this broker's predecessor recorded. */
  restore(grants: readonly Grant[]): void;
  /** False when the question is over. */
  answer(questionId: string, answer: Answer): boolean;
  /** False when there is no such grant. */
  revoke(grantId: string): boolean;
  /** Denies what waits; afterwards everything is denied at once. */
  close(): void;
}

export function createBroker(options: BrokerOptions): Broker {
  const { audit, clock, log } = options;
  const changed = new Emitter<undefined>();
  const book = new GrantBook();
  const runs = new Map<string, RunEntry>();
  const entries = new Set<Entry>();
  /** What was taken back is not taken up again for another run that comes later. */
  const revoked = new Set<string>();
  let closed = false;
  let count = 0;

  const fireChanged = (): void => {
    changed.fire(undefined);
  };

  /** What was allowed for the session is open in its other runs at once, not only when they ask. */
  const spread = (grant: Grant, from: string): void => {
    const opens = opensOf(grant.target);
    if (opens.length === 0) return;
    for (const { run } of runs.values()) {
      if (run.id !== from && holds(grant, run)) run.open(opens);
    }
  };

  const asking = createAsking(
    {
      prompter: options.prompter,
      whereToAnswer: options.words.whereToAnswer,
      audit,
      book,
      clock,
      createId: options.createId,
      log,
      onAlways: options.onAlways,
      home: options.words.home,
      isLive: (run) => !closed && runs.has(run),
      spread,
      onDidChange: fireChanged,
    },
    () => requests,
  );
  const requests: Requests = createRequests({
    audit,
    book,
    resolve: options.resolve,
    clock,
    log,
    howToAllow: options.words.howToAllow,
    home: options.words.home,
    saidNo: asking.saidNo,
    onQuestion: asking.question,
    onDecided(entry) {
      entries.delete(entry);
      entry.runEntry.open -= 1;
      asking.leave(entry);
    },
  });

  const ask = (
    runEntry: RunEntry,
    request: AccessRequest,
    signal: AbortSignal,
  ): Promise<Decision> => {
    count += 1;
    const entry: Entry = {
      runEntry,
      request,
      number: count,
      deadline: clock.now() + runEntry.run.answerMs,
      settled: createDeferred<Decision>(),
      state: received,
      rule: '',
    };
    entries.add(entry);
    runEntry.open += 1;
    const withdraw = (): void => {
      requests.step(entry, { kind: 'withdrawn' });
    };
    signal.addEventListener('abort', withdraw, { once: true });
    void entry.settled.promise.then(() => {
      signal.removeEventListener('abort', withdraw);
    });
    requests.begin(entry, hindrance(runEntry, signal));
    return entry.settled.promise;
  };

  /** Why a request is over before it was judged. */
  const hindrance = (runEntry: RunEntry, signal: AbortSignal): RequestEvent | undefined => {
    if (closed) return { kind: 'cancelled' };
    if (signal.aborted || runs.get(runEntry.run.id) !== runEntry) return { kind: 'withdrawn' };
    return runEntry.open > MAX_OPEN ? { kind: 'failed', reason: 'limit' } : undefined;
  };

  return {
    onDidChange: changed.event,
    questions: () => asking.snapshot(),
    grants: () => book.list(),
    addRun(run) {
      const runEntry: RunEntry = {
        run,
        throttle: new Throttle(clock),
        refusesRest: false,
        open: 0,
      };
      runs.set(run.id, runEntry);
      const end = toDisposable(() => {
        if (runs.get(run.id) === runEntry) runs.delete(run.id);
        for (const entry of [...entries]) {
          if (entry.runEntry === runEntry) requests.step(entry, { kind: 'withdrawn' });
        }
        book.removeRun(run.id);
        fireChanged();
      });
      return {
        ask: (request, signal) => ask(runEntry, request, signal),
        dispose: () => {
          end.dispose();
        },
      };
    },
    restore(grants) {
      for (const grant of grants) if (!revoked.has(grant.id)) book.add(grant);
      if (grants.length > 0) fireChanged();
    },
    answer: (questionId, given) => asking.answer(questionId, given),
    revoke(grantId) {
      const grant = book.remove(grantId);
      if (grant === undefined) return false;
      revoked.add(grantId);
      try {
        audit.append({ kind: 'revoke', run: grant.run ?? '', grant: grantId });
        audit.flush().catch((error: unknown) => {
          log.error('a revocation is not safe on disk', error);
        });
      } catch (error) {
        log.error('a revocation could not be recorded', error); // it takes effect all the same
      }
      for (const { run } of runs.values()) {
        const isKept = book.hasTarget(run, grant.target);
        if (holds(grant, run) && !isKept) run.revoke(revocationOf(grant.target));
      }
      fireChanged();
      return true;
    },
    close() {
      if (closed) return;
      closed = true;
      for (const entry of [...entries]) requests.step(entry, { kind: 'cancelled' });
      changed.dispose();
    },
  };
}
