// Decides what the plan left open: policy, then grants, then a person. Every request ends in an answer that was recorded
// before it was given; whatever goes wrong on the way is a denial with a reason.
//
// A name is resolved only after it was allowed, and what is handed out is exactly what was checked: the addresses of one
// look-up, less those that a rule denies, and those that are not public only when a rule or a grant covers them.

import type { AuditEntry, AuditLine } from '../audit/schema.js';
import { redactSubject } from '../audit/redact.js';
import type { Clock } from '../base/clock.js';
import { createDeferred } from '../base/deferred.js';
import type { Deferred } from '../base/deferred.js';
import { toDisposable } from '../base/disposable.js';
import type { Disposable } from '../base/disposable.js';
import { Emitter } from '../base/emitter.js';
import type { Event } from '../base/emitter.js';
import { userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Grant } from '../policy/grant.js';
import type { AccessRequest, Decision } from '../policy/request.js';
import { checkAddresses } from './addresses.js';
import type { UnusualAddress } from './addresses.js';
import { GrantBook, makeGrant } from './grants.js';
import type { Answer, Prompter, Question } from './prompter.js';
import { Questions } from './questions.js';
import type { OpenQuestion } from './questions.js';
import type { RunPolicy } from './runPolicy.js';
import { received, transition } from './state.js';
import type { About, Ending, Permission, RequestEvent, RequestState } from './state.js';
import { Throttle } from './throttle.js';
import {
  denialLine,
  isHintUseful,
  reasonInWords,
  targetOf,
  unresolvedLine,
  waitingLine,
} from './words.js';

/** Longer than any resolver's own retries; a hanging one must not hold a program for ever. */
const RESOLVE_MS = 20_000;
/** Looking a name up has no port; its addresses are judged as for the most usual one. */
const LOOKUP_PORT = 443;
/** Requests that may wait at once, of all runs together. */
const MAX_WAITING = 4096;

/** A run as the broker sees it. */
export interface BrokerRun {
  readonly id: string;
  /** The session whose grants hold for it. */
  readonly session: string;
  readonly command: readonly string[];
  readonly policy: RunPolicy;
  /** How long a request may wait; the launcher gives up a little later. */
  readonly answerMs: number;
  /** One line on the run's terminal. */
  readonly notify: (text: string) => void;
  /** Closes relayed connections to a target. */
  readonly disconnect: (target: Grant['target']) => void;
}

export interface Words {
  /** Where the person finds the question; without it no line is written while it waits. */
  readonly whereToAnswer?: string;
  /** What to do after a denial. */
  readonly howToAllow: (request: AccessRequest) => string;
}

export interface BrokerOptions {
  readonly session: string;
  readonly prompter: Prompter;
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
  readonly onAlways?: (rule: {
    readonly effect: 'allow' | 'deny';
    readonly pattern: string;
  }) => Promise<void>;
}

export interface RunHandle extends Disposable {
  /** Never rejects. When the signal aborts, the asking process is gone. A `message` is for the run's terminal. */
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
  /** Takes grants up again that this broker's predecessor recorded. */
  restore(grants: readonly Grant[]): void;
  /** False when the question is over. */
  answer(questionId: string, answer: Answer): boolean;
  /** False when there is no such grant. */
  revoke(grantId: string): boolean;
  /** Denies what waits; afterwards everything is denied at once. */
  close(): void;
}

interface RunEntry {
  readonly run: BrokerRun;
  readonly throttle: Throttle;
  /** Set by `denyRun`. */
  refusesRest: boolean;
}

/** One request on its way. */
interface Entry {
  readonly runEntry: RunEntry;
  readonly request: AccessRequest;
  readonly number: number;
  readonly deadline: number;
  readonly settled: Deferred<Decision>;
  state: RequestState;
  /** The rule that made it a question. */
  rule: string;
}

export function createBroker(options: BrokerOptions): Broker {
  const { audit, clock, log } = options;
  const changed = new Emitter<undefined>();
  const book = new GrantBook();
  const questions = new Questions<Entry>(clock);
  const runs = new Map<string, RunEntry>();
  const entries = new Set<Entry>();
  /** Targets of `denyAlways`: runs keep the policy they started with, but not against the person's word. */
  const deniedTargets = new Set<string>();
  /** What was taken back is not taken up again for another run that comes later. */
  const revoked = new Set<string>();
  let closed = false;
  let count = 0;

  const fireChanged = (): void => {
    changed.fire(undefined);
  };

  // One request.

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
    const withdraw = (): void => {
      step(entry, { kind: 'withdrawn' });
    };
    signal.addEventListener('abort', withdraw, { once: true });
    void entry.settled.promise.then(() => {
      signal.removeEventListener('abort', withdraw);
    });
    if (closed) step(entry, { kind: 'cancelled' });
    else if (signal.aborted) withdraw();
    else if (entries.size > MAX_WAITING) step(entry, { kind: 'failed', reason: 'limit' });
    else begin(entry);
    return entry.settled.promise;
  };

  const begin = (entry: Entry): void => {
    try {
      const { request } = entry;
      const judged = entry.runEntry.run.policy.decide(request.object);
      entry.rule = judged.rule;
      audit.append({
        kind: 'request',
        run: request.run,
        request: entry.number,
        subject: redactSubject(request.subject),
        action: request.action,
        object: request.object,
        rule: judged.rule,
      });
      if (judged.effect === 'deny') {
        step(entry, { kind: 'forbidden', by: 'rule', message: judged.rule });
      } else if (judged.effect === 'allow') {
        permit(entry, { by: 'rule', grant: null });
      } else {
        judgeByPeople(entry);
      }
    } catch (error) {
      fail(entry, error);
    }
  };

  /** What people have said already, and else a question. */
  const judgeByPeople = (entry: Entry): void => {
    const { runEntry, request } = entry;
    const target = targetOf(request.object);
    if (runEntry.refusesRest) {
      step(entry, { kind: 'forbidden', by: 'user', message: 'you denied the rest of this run' });
      return;
    }
    if (deniedTargets.has(target)) {
      step(entry, { kind: 'forbidden', by: 'user', message: 'you denied it for good' });
      return;
    }
    const grant = book.find(runEntry.run, request.object);
    if (grant !== undefined) {
      permit(entry, { by: 'grant', grant: grant.id });
    } else if (request.action === 'lookup') {
      // The question comes with the connect, which says the port, too.
      step(entry, { kind: 'forbidden', by: 'rule' });
    } else {
      question(entry, 'target', []);
    }
  };

  /** Moves the request on; an event that changes nothing does nothing. */
  const step = (entry: Entry, event: RequestEvent): void => {
    const before = entry.state;
    entry.state = transition(before, event);
    if (entry.state === before) return;
    if (entry.state.kind === 'decided') conclude(entry, entry.state.ending);
  };

  /** Records the outcome, and only then gives it out. */
  const conclude = (entry: Entry, ending: Ending): void => {
    const wasAsked = questions.leave(entry);
    try {
      audit.append({
        kind: 'answer',
        run: entry.request.run,
        request: entry.number,
        effect: ending.decision.effect,
        by: ending.decision.by,
        reason: ending.decision.reason,
        grant: ending.grant,
        addresses: ending.decision.addresses,
      });
      entry.state = transition(entry.state, { kind: 'recorded' });
    } catch (error) {
      log.error('a decision could not be recorded', error);
      entry.state = transition(entry.state, { kind: 'unrecorded' });
    }
    entries.delete(entry);
    if (entry.state.kind === 'recorded') entry.settled.resolve(spoken(entry, entry.state.ending));
    entry.state = transition(entry.state, { kind: 'sent' });
    if (wasAsked) fireChanged();
  };

  /** The decision with the one line that the program's user sees, or without when it was told already. */
  const spoken = (entry: Entry, { decision, outcome }: Ending): Decision => {
    const { message: why, ...plain } = decision;
    const { request, runEntry } = entry;
    if (outcome === 'withdrawn' || request.action === 'lookup') return plain;
    if (decision.effect === 'allow') {
      if (decision.addresses.length > 0) return plain;
      return { ...plain, message: unresolvedLine(request.object, entry.rule) };
    }
    const words = why ?? reasonInWords(decision.reason);
    if (!runEntry.throttle.maySay(`${targetOf(request.object)} ${words}`)) return plain;
    const hint = isHintUseful(decision.reason) ? options.words.howToAllow(request) : '';
    return { ...plain, message: denialLine(request.subject, request.object, words, hint) };
  };

  const fail = (entry: Entry, error: unknown): void => {
    log.error('a request failed', error);
    const isAudit = error instanceof Error && 'code' in error && error.code === 'auditFailed';
    step(entry, { kind: 'failed', reason: isAudit ? 'auditFailed' : 'internal' });
  };

  // Addresses.

  const permit = (entry: Entry, permission: Permission): void => {
    step(entry, { kind: 'permitted', permission });
    if (entry.state.kind !== 'resolving') return;
    const { object } = entry.request;
    if ('address' in object) step(entry, { kind: 'resolved', addresses: [object.address] });
    else void resolveThenCheck(entry, permission, object.host);
  };

  const resolveThenCheck = async (
    entry: Entry,
    permission: Permission,
    host: string,
  ): Promise<void> => {
    let found: readonly string[];
    try {
      found = await withinTime(clock, RESOLVE_MS, options.resolve(host));
    } catch (error) {
      entry.rule = error instanceof Error ? error.message : String(error);
      step(entry, { kind: 'resolved', addresses: [] });
      return;
    }
    // The world moved on while the name was looked up.
    if (entry.state.kind !== 'resolving') return;
    try {
      if (permission.grant !== null && !book.has(permission.grant)) {
        step(entry, { kind: 'forbidden', by: 'user', message: 'you took the permission back' });
        return;
      }
      checkThenGo(entry, found);
    } catch (error) {
      fail(entry, error);
    }
  };

  const checkThenGo = (entry: Entry, found: readonly string[]): void => {
    const { run } = entry.runEntry;
    const { object } = entry.request;
    const checked = checkAddresses(
      found,
      'port' in object ? object.port : LOOKUP_PORT,
      run.policy,
      (address) => book.findForAddress(run, object, address) !== undefined,
    );
    switch (checked.kind) {
      case 'usable':
        if (checked.addresses.length === 0) entry.rule = 'it has no address';
        step(entry, { kind: 'resolved', addresses: checked.addresses });
        break;
      case 'question':
        question(entry, 'addresses', checked.unusual);
        break;
      case 'denied':
        step(entry, { kind: 'forbidden', by: 'rule', message: checked.rule });
        break;
    }
  };

  // Questions.

  const question = (entry: Entry, about: About, unusual: readonly UnusualAddress[]): void => {
    const { runEntry, request } = entry;
    const addresses = unusual.map(({ address }) => address);
    step(entry, { kind: 'questioned', about });
    if (entry.state.kind !== 'waiting') return;
    const key = [request.run, request.action, targetOf(request.object), ...addresses].join(' ');
    if (questions.join(key, entry)) {
      step(entry, { kind: 'shown' });
      fireChanged();
      return;
    }
    const limit = runEntry.throttle.mayAsk(key);
    if (limit !== undefined) {
      step(entry, { kind: 'failed', reason: 'limit', message: limit });
      return;
    }
    const opened = questions.open(
      key,
      about,
      entry,
      {
        id: options.createId(),
        request,
        command: runEntry.run.command,
        rule: entry.rule,
        privateAddresses: addresses,
        places: unusual.map(({ address, place }) => `${address} (${place})`),
        askedAt: clock.now(),
        expiresAt: entry.deadline,
      },
      () => {
        end(opened, { kind: 'expired' });
      },
    );
    step(entry, { kind: 'shown' });
    prompt(opened);
  };

  const prompt = (opened: OpenQuestion<Entry>): void => {
    const { request, places } = opened.asked;
    const where = options.words.whereToAnswer;
    const run = runs.get(request.run)?.run;
    if (where !== undefined)
      run?.notify(waitingLine(request.subject, request.object, places, where));
    fireChanged();
    const current = questions.snapshot().find(({ id }) => id === opened.id);
    if (current === undefined) return; // a listener of the change has answered it
    Promise.resolve()
      .then(() => options.prompter.ask(current, opened.signal))
      .then(
        (given) => {
          if (given.kind !== 'dismissed') answer(opened.id, given);
        },
        (error: unknown) => {
          if (opened.signal.aborted) return;
          log.warn(`the question could not be asked: ${userMessageOf(error)}`);
          end(opened, { kind: 'failed', reason: 'noInterface' });
        },
      );
  };

  /** Ends a question without an answer. */
  const end = (opened: OpenQuestion<Entry>, event: RequestEvent): void => {
    const taken = questions.take(opened.id);
    if (taken === undefined) return;
    const [first] = taken.entries;
    first?.runEntry.throttle.refused(taken.key);
    for (const entry of taken.entries) step(entry, event);
    fireChanged();
  };

  const answer = (questionId: string, given: Answer): boolean => {
    if (given.kind === 'dismissed') return questions.list().some(({ id }) => id === questionId);
    const taken = questions.take(questionId);
    if (taken === undefined) return false;
    switch (given.kind) {
      case 'once':
        for (const entry of taken.entries) allowAsAnswered(entry, taken, null);
        break;
      case 'run':
      case 'session':
      case 'always':
        void give(taken, given.kind);
        break;
      case 'deny':
      case 'denyRun':
      case 'denyAlways':
        refuse(taken, given.kind);
        break;
    }
    fireChanged();
    return true;
  };

  const refuse = (taken: OpenQuestion<Entry>, kind: 'deny' | 'denyRun' | 'denyAlways'): void => {
    const [first] = taken.entries;
    const target = targetOf(taken.asked.request.object);
    if (kind === 'denyAlways') {
      deniedTargets.add(target);
      void writeRule('deny', target);
    }
    if (kind === 'denyRun' && first !== undefined) first.runEntry.refusesRest = true;
    first?.runEntry.throttle.refused(taken.key);
    for (const entry of taken.entries) step(entry, { kind: 'forbidden', by: 'user' });
    if (kind === 'deny') return;
    // The same word holds for what else is waiting.
    for (const other of questions.list()) {
      const { request } = other.asked;
      const isMeant =
        kind === 'denyRun'
          ? request.run === taken.asked.request.run
          : targetOf(request.object) === target;
      if (!isMeant) continue;
      for (const entry of questions.take(other.id)?.entries ?? []) {
        step(entry, { kind: 'forbidden', by: 'user' });
      }
    }
  };

  /** Records a grant, makes it safe on disk, and lets everything through that it covers. */
  const give = async (
    taken: OpenQuestion<Entry>,
    scope: 'run' | 'session' | 'always',
  ): Promise<void> => {
    const [first] = taken.entries;
    if (first === undefined) return;
    const { run } = first.request;
    let grant: Grant;
    try {
      grant = grantFor(first, taken, scope);
      audit.append({ kind: 'grant', run, grant });
      await audit.flush();
    } catch (error) {
      for (const entry of taken.entries) fail(entry, error);
      return;
    }
    if (closed || !runs.has(run)) return; // its requests have ended with it
    book.add(grant);
    if (scope === 'always') for (const pattern of grant.patterns) void writeRule('allow', pattern);
    for (const entry of taken.entries) allowAsAnswered(entry, taken, grant.id);
    for (const other of questions.list()) reconsider(other);
    fireChanged();
  };

  const grantFor = (
    entry: Entry,
    taken: OpenQuestion<Entry>,
    asked: 'run' | 'session' | 'always',
  ): Grant => {
    const { run } = entry.runEntry;
    const { object } = entry.request;
    if (!('port' in object)) throw new Error('a look-up is never a question');
    const scope = asked === 'always' && options.onAlways === undefined ? 'session' : asked;
    const { privateAddresses } = taken.asked;
    const at = clock.now();
    return makeGrant(
      { id: options.createId(), scope, holder: run, object, privateAddresses, at },
      book.findSame(run, scope, object),
    );
  };

  /** What was asked about was allowed: the target, or these very addresses. */
  const allowAsAnswered = (
    entry: Entry,
    taken: OpenQuestion<Entry>,
    grant: string | null,
  ): void => {
    const permission: Permission = { by: 'user', grant };
    if (taken.about === 'target') {
      permit(entry, permission);
    } else {
      step(entry, { kind: 'permitted', permission });
      step(entry, { kind: 'resolved', addresses: taken.asked.privateAddresses });
    }
  };

  /** A new grant may answer other questions, too. */
  const reconsider = (other: OpenQuestion<Entry>): void => {
    const [first] = other.entries;
    if (first === undefined) return;
    const { run } = first.runEntry;
    const { object } = first.request;
    const { privateAddresses } = other.asked;
    const covering =
      other.about === 'target'
        ? book.find(run, object)
        : privateAddresses
            .map((address) => book.findForAddress(run, object, address))
            .reduce((one, two) => one && two);
    if (covering === undefined) return;
    const permission: Permission = { by: 'grant', grant: covering.id };
    for (const entry of questions.take(other.id)?.entries ?? []) {
      if (other.about === 'target') {
        permit(entry, permission);
      } else {
        step(entry, { kind: 'permitted', permission });
        step(entry, { kind: 'resolved', addresses: privateAddresses });
      }
    }
  };

  const writeRule = async (effect: 'allow' | 'deny', pattern: string): Promise<void> => {
    try {
      await options.onAlways?.({ effect, pattern });
    } catch (error) {
      log.error(
        `the rule for ${pattern} could not be written to the settings; it holds for this session`,
        error,
      );
    }
  };

  const revoke = (grantId: string): boolean => {
    const grant = book.remove(grantId);
    if (grant === undefined) return false;
    revoked.add(grantId);
    // Taking back needs no record to take effect; it is recorded all the same.
    for (const { run } of runs.values()) {
      const isHolder =
        grant.run === undefined ? grant.session === run.session : grant.run === run.id;
      if (isHolder) run.disconnect(grant.target);
    }
    try {
      audit.append({ kind: 'revoke', run: grant.run ?? '', grant: grantId });
      void audit.flush().catch((error: unknown) => {
        log.error('a revocation is not safe on disk', error);
      });
    } catch (error) {
      log.error('a revocation could not be recorded', error);
    }
    fireChanged();
    return true;
  };

  const addRun = (run: BrokerRun): RunHandle => {
    const runEntry: RunEntry = { run, throttle: new Throttle(clock), refusesRest: false };
    runs.set(run.id, runEntry);
    const end = toDisposable(() => {
      if (runs.get(run.id) === runEntry) runs.delete(run.id);
      for (const entry of [...entries]) {
        if (entry.runEntry === runEntry) step(entry, { kind: 'withdrawn' });
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
  };

  return {
    onDidChange: changed.event,
    questions: () => questions.snapshot(),
    grants: () => book.list(),
    addRun,
    restore(grants) {
      for (const grant of grants) if (!revoked.has(grant.id)) book.add(grant);
      if (grants.length > 0) fireChanged();
    },
    answer,
    revoke,
    close() {
      if (closed) return;
      closed = true;
      for (const entry of [...entries]) step(entry, { kind: 'cancelled' });
      changed.dispose();
    },
  };
}

/** Rejects when the promise has not settled in time. */
function withinTime<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => {
      reject(new Error('no answer from the resolver'));
    });
    promise.then(resolve, reject).finally(() => {
      timer.dispose();
    });
  });
}
