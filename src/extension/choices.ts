// The answers that a question offers, and in a sentence each what it changes. Nothing here decides: what is offered, and
// what "always" writes, come with the question.

import { assertNever } from '../base/assertNever.js';
import type { Answer, Question } from '../broker/prompter.js';
import type { AlwaysRule } from '../policy/grant.js';
import { programName } from './question.js';
import { editorText, pathText } from './text.js';

export type AnswerKind = Exclude<Answer['kind'], 'dismissed'>;

export interface Choice {
  readonly kind: AnswerKind;
  readonly label: string;
  /** What it changes, as one sentence. */
  readonly effect: string;
}

const ENTRY_LENGTH = 100;

/** Those of a notification first, in its order. */
const KINDS: readonly AnswerKind[] = [
  'once',
  'session',
  'always',
  'deny',
  'run',
  'denyRun',
  'denyAlways',
];
const NOTIFIED: readonly AnswerKind[] = ['once', 'session', 'always', 'deny'];

const LABELS: Readonly<Record<AnswerKind, string>> = {
  once: 'Allow once',
  session: 'Allow for this session',
  always: 'Always allow',
  deny: 'Deny',
  run: 'Allow for this terminal',
  denyRun: 'Deny for this terminal',
  denyAlways: 'Always deny',
};

const IN_RUN = 'in this terminal, until it closes';
const IN_SESSION = 'in all sandboxed terminals, until this window closes';

/** All answers of a question, those of the notification first. */
export function choicesOf(question: Question): readonly Choice[] {
  return KINDS.filter((kind) => isOffered(question, kind)).map((kind) => ({
    kind,
    label: labelOf(question, kind),
    effect: effectOf(question, kind),
  }));
}

/** The answers that stand on the notification itself. */
export function notificationChoices(question: Question): readonly Choice[] {
  return choicesOf(question).filter(({ kind }) => NOTIFIED.includes(kind));
}

function isOffered({ offers }: Question, kind: AnswerKind): boolean {
  switch (kind) {
    case 'once':
    case 'run':
    case 'session':
    case 'always':
      return offers.includes(kind);
    case 'deny':
    case 'denyRun':
    case 'denyAlways':
      return true;
    default:
      return assertNever(kind);
  }
}

/** What is not written anywhere does not last longer than the window. */
function labelOf({ never }: Question, kind: AnswerKind): string {
  return kind === 'denyAlways' && never.length === 0 ? 'Deny for this session' : LABELS[kind];
}

function effectOf(question: Question, kind: AnswerKind): string {
  switch (kind) {
    case 'once':
      return `Lets ${callsText(question)} through; the next one asks again.`;
    case 'run':
      return `${openingText(question)} ${IN_RUN}.`;
    case 'session':
      return `${openingText(question)} ${IN_SESSION}.`;
    case 'always':
      return writingText(question, question.always);
    case 'deny':
      return `${programName(question.request)} gets an error; the next call asks again.`;
    case 'denyRun':
      return 'Everything else this terminal asks is denied, too.';
    case 'denyAlways':
      return question.never.length > 0
        ? writingText(question, question.never)
        : `Denied without a question ${IN_SESSION}.`;
    default:
      return assertNever(kind);
  }
}

function callsText({ waiting }: Question): string {
  return waiting === 1 ? 'the call that waits now' : `the ${waiting} calls that wait now`;
}

/** What a wider answer opens, as the beginning of a sentence that says where and for how long. */
function openingText({ request, wider }: Question): string {
  switch (request.action) {
    case 'connect':
    case 'lookup':
      return 'Reached without a question';
    case 'write':
      return `Opens ${placeText(request.object.path, wider)} for writing,`;
    case 'read':
      return `Opens ${placeText(request.object.path, wider)} for reading,`;
    case 'git':
      return `Lets git change ${pathText(request.object.repository)}, but for hooks and settings that start programs,`;
    case 'socket':
      return `Opens ${pathText(request.object.path)}`;
    case 'sign':
      return 'Lets programs sign with this key';
    case 'publish':
      return `Opens port ${request.object.port} whenever a program listens on it`;
    default:
      return assertNever(request);
  }
}

function placeText(path: string, wider: string | null): string {
  return wider === null ? `only ${pathText(path)}` : `the folder ${pathText(wider)}`;
}

/** "Adds a:1 and b:2 to cordon.network.allow in your user settings." */
function writingText({ request }: Question, rules: readonly AlwaysRule[]): string {
  const [first] = rules;
  if (first === undefined) return '';
  const setting = `cordon.${first.setting}`;
  if (request.action === 'git')
    return `Sets ${setting} to "${first.entry}" in your user settings, for every folder.`;
  const entries = rules.map(({ entry }) => editorText(String(entry), ENTRY_LENGTH)).join(' and ');
  return `Adds ${entries} to ${setting} in your user settings.`;
}
