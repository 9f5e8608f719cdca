// What a question says in a line. Names, paths and words in it come from programs, so each goes through `editorText`;
// nothing here decides.

import type { Question } from '../broker/prompter.js';
import type { AccessRequest } from '../policy/request.js';
import { programOf } from '../session/words.js';
import { editorText } from './text.js';

const NAME_LENGTH = 50;
const WISH_LENGTH = 240;
const REASON_LENGTH = 120;

/** "curl wants to reach example.com:443". */
export function questionTitle(question: Question): string {
  const { request, wish } = question;
  return `${programName(request)} wants to ${editorText(wish, WISH_LENGTH)}${note(question)}`;
}

/** What a program said when it asked by itself; empty when it did not. */
export function reasonText({ request: { because } }: Question): string {
  return because === null ? '' : `. It says: ${quoted(editorText(because, REASON_LENGTH))}`;
}

/** The program's name; one that has none is still told apart by its process id. */
export function programName({ subject }: Pick<AccessRequest, 'subject'>): string {
  const isNamed = subject.executable.split('/').at(-1) !== '';
  return isNamed ? editorText(programOf(subject), NAME_LENGTH) : `process ${subject.pid}`;
}

function quoted(text: string): string {
  return `“${text.replaceAll(/[“”]/gu, "'")}”`;
}

/** What is more than it looks like is worth saying at once. */
function note({ privateAddresses, request }: Question): string {
  if (request.action === 'write' && request.object.protected) return ' (protected)';
  const [first] = privateAddresses;
  if (first === undefined) return '';
  const where = addressKind(first);
  return 'address' in request.object ? ` (${where})` : ` (${first}, ${where})`;
}

export function addressKind(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:/, '');
  if (plain === '::1' || plain.startsWith('127.')) return 'this computer';
  if (plain === '169.254.169.254' || plain === 'fd00:ec2::254') return 'cloud metadata service';
  return 'private network';
}
