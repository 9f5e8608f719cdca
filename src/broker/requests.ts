// The way of one request: recorded, judged by the policy and the grants, resolved and its addresses checked if it is for
// the network, its outcome recorded and only then given out. Whatever goes wrong on the way is a denial with a reason.
//
// A name is resolved only after it was allowed, and what is handed out is exactly what was checked: the addresses of one
// look-up, less those that a rule denies, and those that are not public only when a rule or a grant covers them.

import { redactWanted, redactSubject, redactText } from '../audit/redact.js';
import type { AuditEntry, AuditLine } from '../audit/schema.js';
import type { Clock } from '../base/clock.js';
import type { Deferred } from '../base/deferred.js';
import { CordonError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Revocation } from '../policy/grant.js';
import type { AccessRequest, Decision, Open, ReasonCode } from '../policy/request.js';
import { deedOf, isExtra, opensOf } from './actions.js';
import type { UnusualAddress } from './addresses.js';
import { checkAddresses } from './addresses.js';
import type { GrantBook } from './grants.js';
import type { RunPolicy } from './runPolicy.js';
import type { About, Ending, Permission, RequestEvent, RequestState } from './state.js';
import { transition } from './state.js';
import type { Throttle } from './throttle.js';
import {
  denialLine,
  isHintUseful,
  MANY_DENIALS_LINE,
  reasonInWords,
  unresolvedLine,
} from './words.js';

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
  /** Opens what was allowed in another run of the session. */
  readonly open: (opens: readonly Open[]) => void;
  /** Takes away what a grant gave it. */
  readonly revoke: (revocation: Revocation) => void;
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
  readonly home: string;
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
      const judged = entry.runEntry.run.policy.decide(request);
      entry.rule = judged.rule;
      audit.append({
        kind: 'request',
        run: request.run,
        request: entry.number,
        subject: redactSubject(request.subject),
        because: request.because === null ? null : redactText(request.because),
        rule: judged.rule,
        ...redactWanted(request),
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
    const grant = book.find(runEntry.run, request);
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
        opens: decision.opens,
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
      if (decision.reason !== 'unresolved' || request.action !== 'connect') return plain;
      return { ...plain, message: unresolvedLine(request.object, entry.rule) };
    }
    const message = denialMessage(runEntry, request, decision.reason, why);
    return message === undefined ? plain : { ...plain, message };
  };

  const denialMessage = (
    { throttle }: RunEntry,
    request: AccessRequest,
    reason: ReasonCode,
    why: string | undefined,
  ): string | undefined => {
    if (reason === 'noInterface' && isExtra(request)) return undefined;
    const words = why ?? reasonInWords(reason);
    const deed = deedOf(request, options.home);
    const isNews = throttle.maySay(deed);
    // Refused because it was refused before: a program that tries again and again is told once (C042).
    if (reason === 'limit' && !isNews) return undefined;
    if (!throttle.maySay(`${deed} ${words}`)) return undefined;
    switch (throttle.countLine()) {
      case 'line':
        return denialLine(
          request.subject,
          deed,
          words,
          isHintUseful(reason) ? options.howToAllow(request) : '',
        );
      case 'last':
        return MANY_DENIALS_LINE;
      case 'none':
        return undefined;
    }
  };

  const fail = (entry: Entry, error: unknown): void => {
    log.error('a request failed', error);
    const isUnrecorded = error instanceof CordonError && error.code === 'auditFailed';
    step(entry, { kind: 'failed', reason: isUnrecorded ? 'auditFailed' : 'internal' });
  };

  const permit = (entry: Entry, permission: Permission): void => {
    const { request } = entry;
    if (request.action !== 'connect' && request.action !== 'lookup') {
      const grant = permission.grant === null ? undefined : book.get(permission.grant);
      step(entry, {
        kind: 'opened',
        permission,
        opens: grant === undefined ? [] : opensOf(grant.target),
      });
      return;
    }
    step(entry, { kind: 'permitted', permission });
    if (entry.state.kind !== 'resolving') return;
    const { object } = request;
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
      if (permission.grant !== null && book.get(permission.grant) === undefined) {
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
    const { request } = entry;
    if (request.action !== 'connect') {
      // A look-up only says whether there is such a name; nothing is dialled.
      step(entry, { kind: 'resolved', addresses: found });
      return;
    }
    const checked = checkAddresses(
      found,
      request.object.port,
      run.policy,
      (address) => book.findForAddress(run, request, address) !== undefined,
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
