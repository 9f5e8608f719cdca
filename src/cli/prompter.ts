// Asks a person at the terminal, one question at a time. The session has made the launcher's relay stand still and flush
// its input by then, so what is read here was typed by the person after the question appeared; the program inside has
// no descriptor of this terminal and can neither answer nor draw over the question.

import { oneLine } from './messages.js';
import type { Answer, Prompter, Question } from '../broker/prompter.js';
import type { Terminal } from './terminal.js';

/** Never asks: every request that no rule allows is denied at once, with reason `noInterface`. */
export const denyPrompter: Prompter = {
  ask: () => Promise.reject(new Error('nobody is asked (--ask deny)')),
};

/** Asks on `terminal`, which is opened for each question and left as it was found. */
export function createTerminalPrompter(openTerminal: () => Terminal): Prompter {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(question, signal) {
      const turn = last.then(() => askOn(openTerminal, question, signal));
      last = turn.catch(() => undefined); // the next question must not inherit this one's failure
      return turn;
    },
  };
}

async function askOn(
  open: () => Terminal,
  question: Question,
  signal: AbortSignal,
): Promise<Answer> {
  if (signal.aborted) return { kind: 'dismissed' };
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

const CHOICES =
  'cordon: allow (o)nce, this (r)un, this (s)ession, (a)lways, or (d)eny?  (?) details: ';

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
    case '?':
    case 'details':
      return 'details';
    default:
      return undefined;
  }
}

/** "curl (4711) wants to reach example.com, port 443" */
export function summary({ request, waiting, privateAddresses }: Question): string {
  const program = request.subject.executable.split('/').pop() ?? request.subject.executable;
  const times = waiting > 1 ? ` (${waiting} calls wait)` : '';
  const inward =
    privateAddresses.length > 0
      ? `, which is ${privateAddresses.join(', ')}: this machine or its own network`
      : '';
  return oneLine(
    `${program} (${request.subject.pid}) wants to ${wanted(request)}${inward}${times}`,
  );
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
  return rows
    .map(([name, value]) => `  ${name.padEnd(14)}${oneLine(value).slice(0, 400)}\n`)
    .join('');
}
