// Asks a person, and carries the answer out: for the requests that wait for it, as a grant for later ones, for other
// questions that it answers, too. An answer to a question that is over does nothing and says so.

import type { AuditEntry, AuditLine } from '../audit/schema.js';
import type { Clock } from '../base/clock.js';
import { userMessageOf } from '../base/errors.js';
import type { Log } from '../base/log.js';
import type { Grant } from '../policy/grant.js';
import type { UnusualAddress } from './addresses.js';
import type { GrantBook } from './grants.js';
import { makeGrant } from './grants.js';
import type { Answer, Prompter, Question } from './prompter.js';
import type { OpenQuestion } from './questions.js';
import { Questions } from './questions.js';
import type { Entry, Requests } from './requests.js';
import type { About, Permission, RequestEvent } from './state.js';
import { targetOf, waitingLine } from './words.js';

type AllowedFor = 'run' | 'session' | 'always';
type Refusal = 'deny' | 'denyRun' | 'denyAlways';

export interface AskingOptions {
  readonly prompter: Prompter;
  readonly whereToAnswer: string | undefined;
  readonly audit: {
    append(entry: AuditEntry): AuditLine;
    flush(): Promise<void>;
  };
  readonly book: GrantBook;
  readonly clock: Clock;
  readonly createId: () => string;
  readonly log: Log;
  readonly onAlways:
    | ((rule: { readonly effect: 'allow' | 'deny'; readonly pattern: string }) => Promise<void>)
    | undefined;
  /** Whether the run is still there. */
  readonly isLive: (run: string) => boolean;
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
  const deniedTargets = new Set<string>();

  const question: Asking['question'] = (entry, about, unusual) => {
    const { runEntry, request } = entry;
    const addresses = unusual.map(({ address }) => address);
    const key = [request.run, targetOf(request.object), ...addresses].join(' ');
    requests().step(entry, { kind: 'questioned', about });
    if (questions.join(key, entry)) {
      requests().step(entry, { kind: 'shown' });
      onDidChange();
      return;
    }
    const tooMuch = runEntry.throttle.mayAsk(key);
    if (tooMuch !== undefined) {
      requests().step(entry, { kind: 'failed', reason: 'limit', message: tooMuch });
      return;
    }
    const asked = {
      id: options.createId(),
      request,
      command: runEntry.run.command,
      rule: entry.rule,
      privateAddresses: addresses,
      places: unusual.map(({ address, place }) => `${address} (${place})`),
      askedAt: clock.now(),
      expiresAt: entry.deadline,
    };
    const opened = questions.open(key, about, entry, asked, () => {
      end(opened, { kind: 'expired' });
    });
    requests().step(entry, { kind: 'shown' });
    prompt(opened, entry);
  };

  const prompt = (opened: OpenQuestion<Entry>, entry: Entry): void => {
    const { request, places } = opened.asked;
    const where = options.whereToAnswer;
    if (where !== undefined) {
      entry.runEntry.run.notify(waitingLine(request.subject, request.object, places, where));
    }
    onDidChange();
    const current = questions.snapshot().find(({ id }) => id === opened.id);
    if (current === undefined) return; // whoever heard of the change has answered it
    Promise.resolve()
      .then(() => options.prompter.ask(current, opened.signal))
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
    first?.runEntry.throttle.refused(taken.key);
    for (const entry of taken.entries) requests().step(entry, event);
    onDidChange();
  };

  const answer: Asking['answer'] = (questionId, given) => {
    if (given.kind === 'dismissed') return questions.list().some(({ id }) => id === questionId);
    const taken = questions.take(questionId);
    if (taken === undefined) return false;
    switch (given.kind) {
      case 'once':
        allow(taken, { by: 'user', grant: null });
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
    onDidChange();
    return true;
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
    const target = targetOf(request.object);
    const [first] = taken.entries;
    first?.runEntry.throttle.refused(taken.key);
    if (kind === 'denyRun' && first !== undefined) first.runEntry.refusesRest = true;
    if (kind === 'denyAlways') {
      deniedTargets.add(target);
      void writeRule('deny', target);
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

  const saidNo: Asking['saidNo'] = (entry) => {
    if (entry.runEntry.refusesRest) return 'you denied the rest of this run';
    if (deniedTargets.has(targetOf(entry.request.object))) return 'you denied it for good';
    return undefined;
  };

  /** Records a grant, makes it safe on disk, and lets everything through that it covers. */
  const give = async (taken: OpenQuestion<Entry>, scope: AllowedFor): Promise<void> => {
    const [first] = taken.entries;
    if (first === undefined) return;
    const { run } = first.request;
    let grant: Grant | undefined;
    try {
      grant = grantFor(first, taken, scope);
      audit.append({ kind: 'grant', run, grant });
      await audit.flush();
    } catch (error) {
      if (grant !== undefined) takeBack(run, grant);
      for (const entry of taken.entries) requests().fail(entry, error);
      return;
    }
    if (!options.isLive(run)) return; // its requests have ended with it
    book.add(grant);
    if (scope === 'always') for (const pattern of grant.patterns) void writeRule('allow', pattern);
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

  const grantFor = (entry: Entry, taken: OpenQuestion<Entry>, asked: AllowedFor): Grant => {
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

  /** A new grant may answer other questions, too. */
  const reconsider = (other: OpenQuestion<Entry>): void => {
    const [waiting] = other.entries;
    if (waiting === undefined) return;
    const { run } = waiting.runEntry;
    const { object } = waiting.request;
    const grants =
      other.about === 'target'
        ? [book.find(run, object)]
        : other.asked.privateAddresses.map((address) => book.findForAddress(run, object, address));
    const [first] = grants;
    if (first === undefined || grants.includes(undefined)) return;
    const taken = questions.take(other.id);
    if (taken !== undefined) allow(taken, { by: 'grant', grant: first.id });
  };

  const writeRule = async (effect: 'allow' | 'deny', pattern: string): Promise<void> => {
    try {
      await options.onAlways?.({ effect, pattern });
    } catch (error) {
      log.error(
        `${effect} ${pattern} could not be written to the settings; it holds for now`,
        error,
      );
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
