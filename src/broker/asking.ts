// Asks a person, and carries the answer out: for the requests that wait for it, as a grant for later ones, for other
// questions that it answers, too. An answer to a question that is over does nothing and says so.

import { redactArguments } from '../audit/redact.js';
import type { AuditEntry, AuditLine } from '../audit/schema.js';
import type { Clock } from '../base/clock.js';
import { userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { AlwaysRule, Grant, GrantOrigin, GrantScope, GrantTarget } from '../policy/grant.js';
import type { AccessRequest } from '../policy/request.js';
import { alwaysOf, keyOf, neverOf, placeKeyOf, targetOf, widerOf, wishOf } from './actions.js';
import type { UnusualAddress } from './addresses.js';
import type { GrantBook } from './grants.js';
import { covers, makeGrant } from './grants.js';
import type { Answer, Prompter, Question } from './prompter.js';
import type { OpenQuestion } from './questions.js';
import { Questions } from './questions.js';
import type { Entry, Requests } from './requests.js';
import type { About, Permission, RequestEvent } from './state.js';
import { programOf, waitingLine } from './words.js';

/** Questions of one run that may wait at once; further ones are refused, so that each can still be read. */
const MAX_WAITING = 30;

const SCOPES: readonly GrantScope[] = ['once', 'run', 'session', 'always'];

type AllowedFor = Exclude<GrantScope, 'once'>;
type Refusal = 'deny' | 'denyRun' | 'denyAlways';

export interface AskingOptions {
  /** Without one, nobody is asked. */
  readonly prompter: Prompter | undefined;
  readonly whereToAnswer: string | undefined;
  readonly home: string;
  readonly audit: {
    append(entry: AuditEntry): AuditLine;
    flush(): Promise<void>;
  };
  readonly book: GrantBook;
  readonly clock: Clock;
  readonly createId: () => string;
  readonly log: Log;
  readonly onAlways: ((rule: AlwaysRule) => Promise<void>) | undefined;
  /** Whether the run is still there. */
  readonly isLive: (run: string) => boolean;
  /** A new grant holds for other runs than the one it came from, too. */
  readonly spread: (grant: Grant, from: string) => void;
  readonly onDidChange: () => void;
}

export interface Asking {
  /** Opens a question, or joins the request to an equal one. */
  readonly question: (entry: Entry, about: About, unusual: readonly UnusualAddress[]) => void;
  /** The words of a denial that was said for good; undefined when there is none. */
  readonly saidNo: (entry: Entry) => string | undefined;
  /** False when the question is over. */
  answer(questionId: string, given: Answer): boolean;
  /** The request has its outcome. */
  leave(entry: Entry): void;
  snapshot(): readonly Question[];
}

/** `requests` comes late, because requests and questions need each other. */
export function createAsking(options: AskingOptions, requests: () => Requests): Asking {
  const { audit, book, clock, log, onDidChange } = options;
  const questions = new Questions<Entry>(clock);
  /** Targets of `denyAlways`: a run keeps the policy it started with, but not against the person's word. */
  const deniedTargets: GrantTarget[] = [];

  const question: Asking['question'] = (entry, about, unusual) => {
    const { runEntry, request } = entry;
    const addresses = unusual.map(({ address }) => address);
    const key = [request.run, keyOf(request) ?? `#${entry.number}`, ...addresses].join(' ');
    requests().step(entry, { kind: 'questioned', about });
    if (options.prompter === undefined) {
      requests().step(entry, { kind: 'failed', reason: 'noInterface' });
      return;
    }
    if (questions.join(key, entry)) {
      requests().step(entry, { kind: 'shown' });
      onDidChange();
      return;
    }
    const tooMuch = tooMany(request.run) ?? runEntry.throttle.mayAsk(placeKeyOf(request));
    if (tooMuch !== undefined) {
      requests().step(entry, { kind: 'failed', reason: 'limit', message: tooMuch });
      return;
    }
    const opened = questions.open(key, about, entry, asked(entry, unusual), () => {
      end(opened, { kind: 'expired' });
    });
    requests().step(entry, { kind: 'shown' });
    prompt(opened, entry, options.prompter);
  };

  /** What to say when too many questions of the run wait already. */
  const tooMany = (run: string): string | undefined => {
    const waiting = questions.list().filter(({ asked: { request } }) => request.run === run).length;
    return waiting < MAX_WAITING ? undefined : `${waiting} questions of this run wait already`;
  };

  const asked = (entry: Entry, unusual: readonly UnusualAddress[]): Omit<Question, 'waiting'> => {
    const { runEntry, request } = entry;
    const addresses = unusual.map(({ address }) => address);
    const offers = offersFor(entry, addresses);
    return {
      id: options.createId(),
      request,
      wish: wishOf(request, options.home),
      offers,
      wider: offers.includes('run') ? widerOf(request) : null,
      always: offers.includes('always') ? alwaysOf(request, addresses) : [],
      never: options.onAlways === undefined ? [] : neverOf(request),
      command: runEntry.run.command,
      rule: entry.rule,
      privateAddresses: addresses,
      places: unusual.map(({ address, place }) => `${address} (${place})`),
      askedAt: clock.now(),
      expiresAt: entry.deadline,
    };
  };

  const offersFor = (
    { request, runEntry }: Entry,
    addresses: readonly string[],
  ): readonly GrantScope[] => {
    // What is asked beforehand (`cordon request`) holds no call that could be let through once.
    const held: readonly GrantScope[] = request.because === null ? ['once'] : [];
    if (!runEntry.run.policy.mayWiden(request)) return held;
    const isWritten = options.onAlways !== undefined && alwaysOf(request, addresses).length > 0;
    return [...held, 'run', 'session', ...(isWritten ? (['always'] as const) : [])];
  };

  const prompt = (opened: OpenQuestion<Entry>, entry: Entry, prompter: Prompter): void => {
    const { request, wish, places } = opened.asked;
    const where = options.whereToAnswer;
    if (where !== undefined) {
      entry.runEntry.run.notify(waitingLine(request.subject, wish, places, where));
    }
    onDidChange();
    const current = questions.snapshot().find(({ id }) => id === opened.id);
    if (current === undefined) return; // whoever heard of the change has answered it
    Promise.resolve()
      .then(() => prompter.ask(current, opened.signal))
      .then(
        (given) => {
          answer(opened.id, given);
        },
        (error: unknown) => {
          if (opened.signal.aborted) return;
          log.warn(`a question could not be asked: ${userMessageOf(error)}`);
          end(opened, { kind: 'failed', reason: 'noInterface' });
        },
      );
  };

  /** Ends a question without an answer. */
  const end = (opened: OpenQuestion<Entry>, event: RequestEvent): void => {
    const taken = questions.take(opened.id);
    if (taken === undefined) return;
    const [first] = taken.entries;
    first?.runEntry.throttle.refused(placeKeyOf(taken.asked.request));
    for (const entry of taken.entries) requests().step(entry, event);
    onDidChange();
  };

  const answer: Asking['answer'] = (questionId, given) => {
    if (given.kind === 'dismissed') return questions.list().some(({ id }) => id === questionId);
    const taken = questions.take(questionId);
    if (taken === undefined) return false;
    switch (given.kind) {
      case 'once':
      case 'run':
      case 'session':
      case 'always':
        allowFor(taken, widestOffered(taken.asked, given.kind));
        break;
      case 'deny':
      case 'denyRun':
      case 'denyAlways':
        refuse(taken, given.kind);
        break;
    }
    onDidChange();
    return true;
  };

  const allowFor = (taken: OpenQuestion<Entry>, scope: GrantScope): void => {
    if (scope === 'once') allow(taken, { by: 'user', grant: null });
    else void give(taken, scope);
  };

  /** What was asked about is allowed: the target, or these very addresses. */
  const allow = (taken: OpenQuestion<Entry>, permission: Permission): void => {
    for (const entry of taken.entries) {
      if (taken.about === 'target') requests().permit(entry, permission);
      else requests().permitAddresses(entry, permission, taken.asked.privateAddresses);
    }
  };

  const refuse = (taken: OpenQuestion<Entry>, kind: Refusal): void => {
    const { request } = taken.asked;
    const [first] = taken.entries;
    first?.runEntry.throttle.refused(placeKeyOf(request));
    if (kind === 'denyRun' && first !== undefined) first.runEntry.refusesRest = true;
    if (kind === 'denyAlways') {
      deniedTargets.push(targetOf(request));
      writeRules(neverOf(request));
    }
    for (const entry of taken.entries) requests().step(entry, { kind: 'forbidden', by: 'user' });
    // The same word holds for what else is waiting.
    for (const other of questions.list()) {
      const [waiting] = other.entries;
      if (waiting !== undefined && saidNo(waiting) !== undefined) {
        end(other, { kind: 'forbidden', by: 'user' });
      }
    }
  };

  const saidNo: Asking['saidNo'] = ({ runEntry, request }) => {
    if (runEntry.refusesRest) return 'you denied the rest of this run';
    const isDenied =
      request.action !== 'lookup' && deniedTargets.some((target) => covers(target, request));
    return isDenied ? 'you denied it for good' : undefined;
  };

  /** Records a grant, makes it safe on disk, and lets everything through that it covers. */
  const give = async (taken: OpenQuestion<Entry>, scope: AllowedFor): Promise<void> => {
    const [first] = taken.entries;
    if (first === undefined) return;
    const { run } = first.request;
    let grant: Grant | undefined;
    try {
      grant = grantFor(first, taken.asked, scope);
      audit.append({ kind: 'grant', run, grant });
      await audit.flush();
    } catch (error) {
      if (grant !== undefined) takeBack(run, grant);
      for (const entry of taken.entries) requests().fail(entry, error);
      return;
    }
    if (!options.isLive(run)) return; // its requests have ended with it
    book.add(grant);
    writeRules(grant.written);
    options.spread(grant, run);
    allow(taken, { by: 'user', grant: grant.id });
    for (const other of questions.list()) reconsider(other);
    onDidChange();
  };

  /** A grant that is not safe on disk is none: whoever reads the record later must not find it there alone. */
  const takeBack = (run: string, grant: Grant): void => {
    try {
      audit.append({ kind: 'revoke', run, grant: grant.id });
    } catch (error) {
      log.error('a grant that failed could not be taken back in the record', error);
    }
  };

  const grantFor = (
    { runEntry: { run } }: Entry,
    { request, privateAddresses, always }: OpenQuestion<Entry>['asked'],
    scope: AllowedFor,
  ): Grant => {
    const target = targetOf(request);
    const offer = {
      id: options.createId(),
      scope,
      holder: run,
      target,
      origin: originOf(request, run.command),
      privateAddresses,
      written: scope === 'always' ? always : [],
      at: clock.now(),
    };
    return makeGrant(offer, book.findSame(run, scope, target));
  };

  /** A new grant may answer other questions, too. */
  const reconsider = (other: OpenQuestion<Entry>): void => {
    const [waiting] = other.entries;
    if (waiting === undefined) return;
    const { request, runEntry } = waiting;
    const grants =
      other.about === 'target'
        ? [book.find(runEntry.run, request)]
        : other.asked.privateAddresses.map((address) =>
            book.findForAddress(runEntry.run, request, address),
          );
    const [first] = grants;
    if (first === undefined || grants.includes(undefined)) return;
    const taken = questions.take(other.id);
    if (taken !== undefined) allow(taken, { by: 'grant', grant: first.id });
  };

  const writeRules = (rules: readonly AlwaysRule[]): void => {
    for (const rule of rules) void writeRule(rule);
  };

  const writeRule = async (rule: AlwaysRule): Promise<void> => {
    try {
      await options.onAlways?.(rule);
    } catch (error) {
      const { setting, entry } = rule;
      log.error(`${entry} could not be written to cordon.${setting}; it holds for now`, error);
    }
  };

  return {
    question,
    saidNo,
    answer,
    leave(entry) {
      if (questions.leave(entry)) onDidChange();
    },
    snapshot: () => questions.snapshot(),
  };
}

/** The scope, or the widest below it that is offered. */
function widestOffered({ offers }: Pick<Question, 'offers'>, scope: GrantScope): GrantScope {
  const isWithin = (each: GrantScope): boolean => SCOPES.indexOf(each) <= SCOPES.indexOf(scope);
  return offers.findLast(isWithin) ?? 'once';
}

function originOf({ run, subject }: AccessRequest, command: readonly string[]): GrantOrigin {
  return { run, program: programOf(subject), command: redactArguments(command) };
}
