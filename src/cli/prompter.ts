// Asks a person at the terminal. The session has made the launcher's relay stand still and flush
// its input by then, so what is read here was typed by the person after the question appeared; the program inside has
// no descriptor of this terminal and can neither answer nor draw over the question.

import { plainText } from '../base/plainText.js';
import type { Answer, Prompter, Question } from '../broker/prompter.js';
import type { Terminal } from './terminal.js';

/** Never asks: every request that no rule allows is denied at once, with reason `noInterface`. */
export const denyPrompter: Prompter = {
  ask: () => Promise.reject(new Error('nobody is asked (--ask deny)')),
};

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
    terminal.write(`\ncordon: ${summary(question)}\n`);
    for (;;) {
      terminal.write(CHOICES);
      const line = await terminal.readLine(signal);
      if (line === undefined) {
        terminal.write('\ncordon: the question is over\n');
        return { kind: 'dismissed' };
      }
      const choice = choiceOf(line);
      if (choice === 'details') terminal.write(details(question));
      else if (choice !== undefined) return { kind: choice };
    }
  } finally {
    terminal.dispose();
  }
}

const CHOICES = 'cordon: (o)nce, (r)un, (s)ession, (a)lways, (d)eny, (n)o to all; (?) details: ';

/** Only a whole answer counts: a person who was typing for the program when the question came must not answer by accident. */
export function choiceOf(
  line: string,
): Exclude<Answer['kind'], 'dismissed' | 'denyAlways'> | 'details' | undefined {
  switch (line.trim().toLowerCase()) {
    case 'o':
    case 'once':
      return 'once';
    case 'r':
    case 'run':
      return 'run';
    case 's':
    case 'session':
      return 'session';
    case 'a':
    case 'always':
      return 'always';
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

/** "curl (4711) wants to reach example.com, port 443" */
export function summary({ request, waiting, places }: Question): string {
  const name = request.subject.executable.split('/').at(-1) ?? '';
  const program = `${plainText(name, 40)} (${request.subject.pid})`;
  const where = places.length > 0 ? `, which is ${places.join(', ')}` : '';
  const times = waiting > 1 ? `, ${waiting} calls wait` : '';
  return `${program} wants to ${wanted(request)}${where}${times}`;
}

function wanted({ action, object }: Question['request']): string {
  const name = 'host' in object ? object.host : object.address;
  if (action === 'lookup' || !('port' in object)) return `look up ${name}`;
  return `reach ${name}, port ${object.port}`;
}

function details({ request, command, rule }: Question): string {
  const { subject } = request;
  const rows: readonly (readonly [string, string])[] = [
    ['program', `${subject.executable} (${subject.pid})`],
    ['started as', subject.arguments.join(' ')],
    ['by', subject.chain.map(({ pid, name }) => `${name} (${pid})`).join(' < ')],
    ['in', subject.directory],
    ['run', command.join(' ')],
    ['asked because', rule],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(14)}${plainText(value, 400)}\n`).join('');
}
