// Everything known about a question, as a page of plain text: who asks, from where, for what, and what each answer changes.

import { assertNever } from '../base/assertNever.js';
import { plainText } from '../base/plainText.js';
import type { Question } from '../broker/prompter.js';
import { choicesOf } from './choices.js';
import { addressKind, questionTitle, reasonText } from './question.js';
import { commandLine, pageText, sentenceTable, table } from './text.js';

const NAME_LENGTH = 40;
const LINE_LENGTH = 400;
/** PATH_MAX of Linux: a path is shown whole. */
const PATH_LENGTH = 4096;

type Fact = readonly [label: string, text: string];
type Time = (milliseconds: number) => string;

export function questionDetails(question: Question, time: Time): string {
  const change = changeOf(question);
  return [
    `${questionTitle(question)}${reasonText(question)}`,
    '',
    ...table(factsOf(question, time)),
    '',
    'What each answer changes',
    ...sentenceTable(choicesOf(question).map(({ label, effect }) => [label, effect])),
    '',
    ...(change === null ? [] : ['What would be written', '', pageText(change), '']),
  ].join('\n');
}

/** What would be written, as far as it is known before; null when it is not. */
export function changeOf({ request }: Question): string | null {
  return request.action === 'write' ? request.object.change : null;
}

function factsOf(question: Question, time: Time): readonly Fact[] {
  const { subject, run } = question.request;
  const chain = subject.chain.map(({ pid, name }) => `${plainText(name, NAME_LENGTH)} (${pid})`);
  const calls = question.waiting === 1 ? '1 call' : `${question.waiting} calls`;
  return [
    ['Program', `${line(subject.executable)} (process ${subject.pid})`],
    ['Command', line(commandLine(subject.arguments))],
    ['Folder', line(subject.directory)],
    ['Started by', chain.length > 1 ? chain.slice(1).join(' ← ') : 'the terminal itself'],
    ['Terminal runs', line(commandLine(question.command))],
    ['Run', run],
    ...objectFacts(question),
    ['Asked because', line(question.rule)],
    ['Waiting', `${calls}, since ${time(question.askedAt)}`],
    ['Without answer', `denied at ${time(question.expiresAt)}`],
  ];
}

function line(text: string): string {
  return plainText(text, LINE_LENGTH);
}

/** What its title had to shorten or leave out. */
function objectFacts({ request, privateAddresses }: Question): readonly Fact[] {
  const path = (text: string): string => plainText(text, PATH_LENGTH);
  switch (request.action) {
    case 'connect':
    case 'lookup':
      return privateAddresses.length === 0
        ? []
        : [
            [
              'Leads to',
              privateAddresses.map((each) => `${each} (${addressKind(each)})`).join(', '),
            ],
          ];
    case 'write': {
      const { to } = request.object;
      return [
        ['Path', path(request.object.path)],
        ['Call', request.object.call],
        ...(to === null ? [] : [['Other path', path(to)] as const]),
      ];
    }
    case 'git':
      return [
        ['Repository', path(request.object.repository)],
        ['Path', path(request.object.path)],
        ['Call', request.object.call],
      ];
    case 'read':
      return [['Path', path(request.object.path)]];
    case 'socket':
      return [
        ['Socket', path(request.object.path)],
        ['Call', request.object.call],
      ];
    case 'sign':
      return [
        ['Agent', request.object.agent],
        ['Key', line(request.object.key)],
        ['Purpose', request.object.purpose === '' ? 'not told' : line(request.object.purpose)],
      ];
    case 'publish':
      return [['Port', String(request.object.port)]];
    default:
      return assertNever(request);
  }
}
