// The way of one request: recorded, judged by the policy and the grants, resolved, its addresses checked, its outcome
// recorded and only then given out. Whatever goes wrong on the way is a denial with a reason.
//
// A name is resolved only after it was allowed, and what is handed out is exactly what was checked: the addresses of one
// look-up, less those that a rule denies, and those that are not public only when a rule or a grant covers them.

import { redactSubject } from '../audit/redact.js';
import type { AuditEntry, AuditLine } from '../audit/schema.js';
import type { Clock } from '../base/clock.js';
import type { Deferred } from '../base/deferred.js';
import { CordonError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Grant } from '../policy/grant.js';
import type { AccessRequest, Decision } from '../policy/request.js';
import type { UnusualAddress } from './addresses.js';
import { checkAddresses } from './addresses.js';
import type { GrantBook } from './grants.js';
import type { RunPolicy } from './runPolicy.js';
import type { About, Ending, Permission, RequestEvent, RequestState } from './state.js';
import { transition } from './state.js';
import type { Throttle } from './throttle.js';
import { denialLine, isHintUseful, reasonInWords, targetOf, unresolvedLine } from './words.js';

/** Longer than any resolver's own retries; a hanging one must not hold a program for ever. */
const RESOLVE_MS = 20_000;

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

export interface RunEntry {
  readonly run: BrokerRun;
  readonly throttle: Throttle;
  /** A person has denied the rest of the run. */
  refusesRest: boolean;
  /** Requests without an outcome. */
  open: number;
}

/** One request on its way. */
export interface Entry {
  readonly runEntry: RunEntry;
  readonly request: AccessRequest;
  readonly number: number;
  readonly deadline: number;
  readonly settled: Deferred<Decision>;
  state: RequestState;
  /** The rule that it was judged by, in words. */
  rule: string;
}

export interface RequestsOptions {
  readonly audit: { append(entry: AuditEntry): AuditLine };
  readonly book: GrantBook;
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly log: Log;
  readonly howToAllow: (request: AccessRequest) => string;
  /** What people have said for good: the words of a denial, or undefined. */
  readonly saidNo: (entry: Entry) => string | undefined;
  /** A person must be asked, about the target or about these addresses. */
  readonly onQuestion: (entry: Entry, about: About, unusual: readonly UnusualAddress[]) => void;
  /** The request has its outcome: nobody needs to be asked any more. */
  readonly onDecided: (entry: Entry) => void;
}

export interface Requests {
  /** Records the request and judges it; a `hindrance` ends it without. */
  begin(entry: Entry, hindrance: RequestEvent | undefined): void;
  /** Moves the request on; an event that changes nothing does nothing. */
  step(entry: Entry, event: RequestEvent): void;
  /** The target is allowed: its addresses come next. */
  permit(entry: Entry, permission: Permission): void;
  /** These addresses of the target are allowed, too. */
  permitAddresses(entry: Entry, permission: Permission, addresses: readonly string[]): void;
  fail(entry: Entry, error: unknown): void;
}

export function createRequests(options: RequestsOptions): Requests {
  const { audit, book, clock, log } = options;

  const begin: Requests['begin'] = (entry, hindrance) => {
    const { request } = entry;
    try {
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
      if (hindrance !== undefined) {
        step(entry, hindrance);
      } else if (judged.effect === 'deny') {
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
    const no = options.saidNo(entry);
    const grant = book.find(runEntry.run, request.object);
    if (no !== undefined) {
      step(entry, { kind: 'forbidden', by: 'user', message: no });
    } else if (grant !== undefined) {
      permit(entry, { by: 'grant', grant: grant.id });
    } else if (request.action === 'lookup') {
      step(entry, { kind: 'forbidden', by: 'rule' }); // the question comes with the connect, which says the port, too
    } else {
      options.onQuestion(entry, 'target', []);
    }
  };

  const step = (entry: Entry, event: RequestEvent): void => {
    const before = entry.state;
    entry.state = transition(before, event);
    if (entry.state !== before && entry.state.kind === 'decided')
      conclude(entry, entry.state.ending);
  };

  /** Records the outcome, and only then gives it out. */
  const conclude = (entry: Entry, ending: Ending): void => {
    const { decision } = ending;
    options.onDecided(entry);
    try {
      audit.append({
        kind: 'answer',
        run: entry.request.run,
        request: entry.number,
        effect: decision.effect,
        by: decision.by,
        reason: decision.reason,
        grant: ending.grant,
        addresses: decision.addresses,
      });
      entry.state = transition(entry.state, { kind: 'recorded' });
    } catch (error) {
      log.error('a decision could not be recorded', error);
      entry.state = transition(entry.state, { kind: 'unrecorded' });
    }
    if (entry.state.kind === 'recorded') entry.settled.resolve(spoken(entry, entry.state.ending));
    entry.state = transition(entry.state, { kind: 'sent' });
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
    const target = targetOf(request.object);
    const isNews = runEntry.throttle.maySay(target);
    // Refused because it was refused before: a program that tries again and again is told once (C042).
    if (decision.reason === 'limit' && !isNews) return plain;
    if (!runEntry.throttle.maySay(`${target} ${words}`)) return plain;
    const hint = isHintUseful(decision.reason) ? options.howToAllow(request) : '';
    return { ...plain, message: denialLine(request.subject, request.object, words, hint) };
  };

  const fail = (entry: Entry, error: unknown): void => {
    log.error('a request failed', error);
    const isUnrecorded = error instanceof CordonError && error.code === 'auditFailed';
    step(entry, { kind: 'failed', reason: isUnrecorded ? 'auditFailed' : 'internal' });
  };

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
    if (entry.state.kind !== 'resolving') return; // the world moved on while the name was looked up
    try {
      if (permission.grant !== null && !book.has(permission.grant)) {
        step(entry, { kind: 'forbidden', by: 'user', message: 'you took the permission back' });
      } else {
        check(entry, found);
      }
    } catch (error) {
      fail(entry, error);
    }
  };

  const check = (entry: Entry, found: readonly string[]): void => {
    const { run } = entry.runEntry;
    const { object } = entry.request;
    if (!('port' in object)) {
      // A look-up only says whether there is such a name; nothing is dialled.
      step(entry, { kind: 'resolved', addresses: found });
      return;
    }
    const checked = checkAddresses(
      found,
      object.port,
      run.policy,
      (address) => book.findForAddress(run, object, address) !== undefined,
    );
    switch (checked.kind) {
      case 'usable':
        if (checked.addresses.length === 0) entry.rule = 'it has no address';
        step(entry, { kind: 'resolved', addresses: checked.addresses });
        break;
      case 'question':
        options.onQuestion(entry, 'addresses', checked.unusual);
        break;
      case 'denied':
        step(entry, { kind: 'forbidden', by: 'rule', message: checked.rule });
        break;
    }
  };

  const permitAddresses = (
    entry: Entry,
    permission: Permission,
    addresses: readonly string[],
  ): void => {
    step(entry, { kind: 'permitted', permission });
    step(entry, { kind: 'resolved', addresses });
  };

  return { begin, step, permit, permitAddresses, fail };
}

/** Rejects when the promise has not settled in time. */
function withinTime<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => {
      reject(new Error('no answer from the resolver'));
    });
    const settle = (call: () => void): void => {
      timer.dispose();
      call();
    };
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) =>
        settle(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
  });
}
