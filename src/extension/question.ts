// What a question says, as text. Names, commands and folders in it come from programs, so each goes through
// `editorText`; nothing here decides.

import { plainText } from '../base/plainText.js';
import type { Answer, Question } from '../broker/prompter.js';
import type { AccessRequest, RequestObject } from '../policy/request.js';

export type AnswerKind = Exclude<Answer['kind'], 'dismissed'>;

export interface Choice {
  readonly kind: AnswerKind;
  readonly label: string;
  /** What it changes, as one sentence. */
  readonly effect: string;
}

const NAME_LENGTH = 40;
const TARGET_LENGTH = 80;
const LABEL_LENGTH = 120;
const LINE_LENGTH = 400;

/**
 * Text from programs inside VS Code's own labels and messages, which would otherwise turn `[x](command:y)` into a link and
 * `$(name)` into an icon.
 */
export function editorText(text: string, limit: number): string {
  return plainText(text, limit).replaceAll('](', '] (').replaceAll('$(', '$ (');
}

/** "curl wants to reach example.com:443". */
export function questionTitle(question: Question): string {
  const { request } = question;
  const wish = request.action === 'lookup' ? 'look up' : 'reach';
  return `${programName(request)} wants to ${wish} ${targetText(request.object)}${addressNote(question)}`;
}

/**
 * The program's file name, in quotes when it could be read as words of ours ("curl wants to reach a.test, and x"). A program
 * that has none is still told apart by its process id.
 */
export function programName({ subject }: Pick<AccessRequest, 'subject'>): string {
  const name = subject.executable.split('/').at(-1) ?? '';
  if (name === '') return `process ${subject.pid}`;
  const shown = editorText(name, NAME_LENGTH);
  return /^[\p{L}\p{N}._+-]+$/u.test(name) ? shown : `“${shown.replaceAll(/[“”]/gu, "'")}”`;
}

/** `example.com:443`, `[2001:db8::1]:443`, or the name alone. */
export function targetText(object: RequestObject): string {
  const host =
    'host' in object
      ? object.host
      : object.address.includes(':')
        ? `[${object.address}]`
        : object.address;
  const port = 'port' in object ? `:${object.port}` : '';
  return `${editorText(host, TARGET_LENGTH)}${port}`;
}

/** A public name that leads into this machine or its network is worth saying before anything else. */
function addressNote({ privateAddresses, request }: Question): string {
  const [first] = privateAddresses;
  if (first === undefined) return '';
  const where = addressKind(first);
  return 'address' in request.object ? ` (${where})` : ` (${first}, ${where})`;
}

function addressKind(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:/, '');
  if (plain === '::1' || plain.startsWith('127.')) return 'this computer';
  if (plain === '169.254.169.254' || plain === 'fd00:ec2::254') return 'cloud metadata service';
  return 'private network';
}

/** A name's private addresses are allowed one by one, so that the name cannot lead anywhere else later. */
function privatePatterns({ privateAddresses, request: { object } }: Question): readonly string[] {
  if (!('host' in object) || !('port' in object)) return [];
  return privateAddresses.map((address) => targetText({ address, port: object.port }));
}

/** The answers of a question; the notification shows the first four, the quick pick all. */
export function choicesOf(question: Question): readonly Choice[] {
  const target = targetText(question.request.object);
  const patterns = [target, ...privatePatterns(question)].join(' and ');
  const program = programName(question.request);
  const calls =
    question.waiting === 1
      ? 'the call that waits now'
      : `the ${question.waiting} calls that wait now`;
  return [
    {
      kind: 'once',
      label: 'Allow once',
      effect: `Lets ${calls} through; the next one asks again.`,
    },
    {
      kind: 'session',
      label: 'Allow for this session',
      effect: 'All sandboxed terminals of this window, until it closes.',
    },
    {
      kind: 'always',
      label: 'Always allow',
      effect: `Adds ${patterns} to cordon.network.allow in your user settings.`,
    },
    { kind: 'deny', label: 'Deny', effect: `${program} gets an error; the next call asks again.` },
    {
      kind: 'run',
      label: 'Allow for this terminal',
      effect: 'This terminal only, until it closes.',
    },
    {
      kind: 'denyRun',
      label: 'Deny for this terminal',
      effect: 'Everything else this terminal asks is denied, too.',
    },
    {
      kind: 'denyAlways',
      label: 'Always deny',
      effect: `Adds ${target} to cordon.network.deny in your user settings.`,
    },
  ];
}

/** Number of the choices that a notification shows. */
export const NOTIFICATION_CHOICES = 4;

/** Everything known about a question, as a page of plain text. */
export function questionDetails(
  question: Question,
  time: (milliseconds: number) => string,
): string {
  const { subject, run } = question.request;
  const line = (text: string): string => plainText(text, LINE_LENGTH);
  const chain = subject.chain.map(({ pid, name }) => `${plainText(name, NAME_LENGTH)} (${pid})`);
  const facts: readonly (readonly [string, string])[] = [
    ['Program', `${line(subject.executable)} (process ${subject.pid})`],
    ['Command', line(commandLine(subject.arguments))],
    ['Folder', line(subject.directory)],
    ['Started by', chain.length > 1 ? chain.slice(1).join(' ← ') : 'the terminal itself'],
    ['Terminal runs', line(commandLine(question.command))],
    ['Run', run],
    ...(question.privateAddresses.length > 0
      ? [
          [
            'Leads to',
            question.privateAddresses.map((each) => `${each} (${addressKind(each)})`).join(', '),
          ] as const,
        ]
      : []),
    ['Asked because', line(question.rule)],
    [
      'Waiting',
      `${question.waiting === 1 ? '1 call' : `${question.waiting} calls`}, since ${time(question.askedAt)}`,
    ],
    ['Without answer', `denied at ${time(question.expiresAt)}`],
  ];
  return [
    questionTitle(question),
    '',
    ...table(facts),
    '',
    'What each answer changes',
    ...table(choicesOf(question).map(({ label, effect }) => [label, effect])),
    '',
  ].join('\n');
}

/** A command line for one line of a list. */
export function commandText(words: readonly string[]): string {
  return editorText(commandLine(words), LABEL_LENGTH);
}

function commandLine(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
}
