// What the broker says on a run's terminal: one line each, from our words and text of programs made safe to show.

import { plainText } from '../base/plainText.js';
import type { ReasonCode, RequestObject, Subject } from '../policy/request.js';

const NAME_LIMIT = 40;

/** The program's name, as short as it can be told. */
export function programOf(subject: Subject): string {
  const name = subject.executable.split('/').at(-1) ?? '';
  return plainText(name === '' ? (subject.arguments[0] ?? 'a program') : name, NAME_LIMIT);
}

/** `example.com:443`, `192.0.2.1:22`, `[2001:db8::1]:443`, or the name alone for a lookup. */
export function targetOf(object: RequestObject): string {
  if (!('port' in object)) return object.host;
  if ('host' in object) return `${object.host}:${object.port}`;
  return object.address.includes(':')
    ? `[${object.address}]:${object.port}`
    : `${object.address}:${object.port}`;
}

/** While a question waits. */
export function waitingLine(
  subject: Subject,
  object: RequestObject,
  places: readonly string[],
  where: string,
): string {
  const resolved = places.length > 0 ? `, which resolves to ${places.join(', ')}` : '';
  return `cordon: waiting for an answer: ${programOf(subject)} wants to reach ${targetOf(object)}${resolved} (${where})`;
}

/** After a denial. `hint` is a whole phrase. */
export function denialLine(
  subject: Subject,
  object: RequestObject,
  why: string,
  hint?: string,
): string {
  const line = `cordon: denied: ${programOf(subject)} to ${targetOf(object)} (${why})`;
  return hint === undefined || hint === '' ? line : `${line}. ${hint}`;
}

/** After an approval that leads nowhere. */
export function unresolvedLine(object: RequestObject, why: string): string {
  return `cordon: ${targetOf(object)} is allowed, but its name could not be resolved (${plainText(why, 60)})`;
}

/** Why something was denied, when nothing more particular is known. */
export function reasonInWords(reason: ReasonCode): string {
  switch (reason) {
    case 'rule':
      return 'a rule forbids it';
    case 'grant':
    case 'user':
      return 'you denied it';
    case 'noAnswer':
      return 'nobody answered';
    case 'noInterface':
      return 'there is nobody to ask';
    case 'withdrawn':
      return 'the program has ended';
    case 'sessionClosed':
      return 'the session has ended';
    case 'auditFailed':
      return 'the record of decisions cannot be written';
    case 'unresolved':
      return 'the name could not be resolved';
    case 'brokerLost':
      return 'the editor is gone';
    case 'limit':
      return 'too many questions';
    case 'internal':
      return 'an internal error';
  }
}

/** Whether allowing it is in the hands of whoever reads the line. */
export function isHintUseful(reason: ReasonCode): boolean {
  return reason === 'noAnswer' || reason === 'noInterface' || reason === 'limit';
}
