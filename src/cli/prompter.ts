// Asks a person at the terminal. The session has made the launcher's relay stand still and flush
// its input by then, so what is read here was typed by the person after the question appeared; the program inside has
// no descriptor of this terminal and can neither answer nor draw over the question.

import { plainText } from '../base/plainText.js';
import { pathText, programOf } from '../session/words.js';
import type { Answer, Prompter, Question } from '../broker/prompter.js';
import type { GrantScope } from '../policy/grant.js';
import type { Terminal } from './terminal.js';

/** Asks on a terminal that is opened for each question and left as it was found. The session asks one at a time. */
export function createTerminalPrompter(openTerminal: () => Terminal): Prompter {
  return { ask: (question, signal) => askOn(openTerminal, question, signal) };
}

async function askOn(
  open: () => Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const terminal = open();
  try {
    terminal.write(`\ncordon: ${summary(question)}\n${change(question)}`);
    for (;;) {
      terminal.write(choices(question));
      const line = await terminal.readLine(signal);
      if (line === undefined) {
        terminal.write('\ncordon: the question is over\n');
        return { kind: 'dismissed' };
      }
      const choice = choiceOf(line, question.offers);
      if (choice === 'details') terminal.write(details(question));
      else if (choice !== undefined) return { kind: choice };
    }
  } finally {
    terminal.dispose();
  }
}

const scopeChoices: Readonly<Record<GrantScope, string>> = {
  once: '(o)nce',
  run: '(r)un',
  session: '(s)ession',
  always: '(a)lways',
};

function choices({ offers, wider }: Question): string {
  const scopes = offers.map((scope) => scopeChoices[scope]).join(', ');
  const opens = wider === null ? '' : ` [from (r) on: all of ${pathText(wider, home())}]`;
  return `cordon: ${scopes}, (d)eny, (n)o to all;${opens} (?) details: `;
}

/** Only a whole answer counts: a person who was typing for the program when the question came must not answer by accident. */
export function choiceOf(
  line: string,
  offers: readonly GrantScope[],
): Exclude<Answer['kind'], 'dismissed' | 'denyAlways'> | 'details' | undefined {
  const word = line.trim().toLowerCase();
  const scope = offers.find((each) => word === each || word === each.slice(0, 1));
  if (scope !== undefined) return scope;
  switch (word) {
    case 'd':
    case 'deny':
      return 'deny';
    case 'n':
    case 'no':
      return 'denyRun';
    case '?':
    case 'details':
      return 'details';
    default:
      return undefined;
  }
}

/** "curl (4711) wants to reach example.com:443" */
export function summary({ request, waiting, wish, places }: Question): string {
  const program = `${programOf(request.subject)} (${request.subject.pid})`;
  const where = places.length > 0 ? `, which is ${places.join(', ')}` : '';
  const why = request.because === null ? '' : `, because “${plainText(request.because, 200)}”`;
  const times = waiting > 1 ? `, ${waiting} calls wait` : '';
  return `${program} wants to ${wish}${where}${why}${times}`;
}

/** Lines of a change that are shown; the rest is in the file that was not written. */
const MAX_CHANGE_LINES = 40;

/** What would be written, each line marked, so that none of it can pass for a line of ours. */
function change({ request }: Question): string {
  if (request.action !== 'write' || request.object.change === null) return '';
  const lines = request.object.change.replace(/\n$/u, '').split('\n');
  const shown = lines.slice(0, MAX_CHANGE_LINES).map((line) => `  | ${plainText(line, 160)}\n`);
  const left = lines.length - shown.length;
  return `${shown.join('')}${left > 0 ? `  … ${left} more lines\n` : ''}`;
}

function details({ request, command, rule, always }: Question): string {
  const { subject } = request;
  const rows: readonly (readonly [string, string])[] = [
    ['program', `${subject.executable} (${subject.pid})`],
    ['started as', subject.arguments.join(' ')],
    ['by', subject.chain.map(({ pid, name }) => `${name} (${pid})`).join(' < ')],
    ['in', subject.directory],
    ['run', command.join(' ')],
    ['asked because', rule],
    ...always.map(({ setting, entry }) => ['always writes', `${entry} to ${setting}`] as const),
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(14)}${plainText(value, 400)}\n`).join('');
}

/** Only for words: what a path begins with to be told as `~`. */
function home(): string {
  return process.env['HOME'] ?? '';
}
