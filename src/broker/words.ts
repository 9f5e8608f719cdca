// What the broker says on a run's terminal: one line each, from our words and text of programs that cannot pass for them:
// nothing in it hides or reorders, and what could be read as words of ours stands in quotes.

import { plainText } from '../base/plainText.js';
import type { GrantTarget, Open } from '../policy/grant.js';
import type { NetworkObject, ReasonCode, Subject } from '../policy/request.js';

const NAME_LIMIT = 40;
const PATH_LIMIT = 160;
const KEY_LIMIT = 120;

/** Text of a program inside a sentence of ours. */
export function quoted(text: string, limit: number): string {
  const shown = plainText(text, limit);
  if (/^[\p{L}\p{N}._+@%=:,/~-]+$/u.test(text)) return shown;
  return `“${shown.replaceAll(/[“”]/gu, "'")}”`;
}

/** The program's name, as short as it can be told. */
export function programOf(subject: Subject): string {
  const name = subject.executable.split('/').at(-1) ?? '';
  return quoted(
    name === '' ? (subject.arguments[0] ?? `process ${subject.pid}`) : name,
    NAME_LIMIT,
  );
}

/** A path, with `~` for the home folder; one that is really called so still begins with a slash. */
export function pathText(path: string, home: string): string {
  const isBelow = home.length > 1 && (path === home || path.startsWith(`${home}/`));
  return quoted(isBelow ? `~${path.slice(home.length)}` : path, PATH_LIMIT);
}

/** `example.com:443`, `192.0.2.1:22`, `[2001:db8::1]:443`, or the name alone for a lookup. */
export function networkText(object: NetworkObject): string {
  if (!('port' in object)) return object.host;
  if ('host' in object) return `${object.host}:${object.port}`;
  return object.address.includes(':')
    ? `[${object.address}]:${object.port}`
    : `${object.address}:${object.port}`;
}

/** A key of an agent, as the agent names it. */
export function keyText({ agent, key }: { readonly agent: string; readonly key: string }): string {
  return `${agent === 'gpg' ? 'GPG' : 'SSH'} key ${quoted(key, KEY_LIMIT)}`;
}

/** A git directory by the folder that people know it by. */
export function repositoryText(repository: string, home: string): string {
  return pathText(repository.replace(/(?<=.)\/\.git$/u, ''), home);
}

/** What a grant is for: `write to ~/elsewhere`. */
export function targetText(target: GrantTarget, home: string): string {
  if ('access' in target) return openText(target, home);
  if ('agent' in target) return `use the ${keyText(target)}`;
  if ('publish' in target) return `open port ${target.publish} on this machine`;
  return `reach ${networkText(target)}`;
}

export function openText({ access, path }: Open, home: string): string {
  switch (access) {
    case 'write':
      return `write to ${pathText(path, home)}`;
    case 'read':
      return `read ${pathText(path, home)}`;
    case 'git':
      return `update the repository ${repositoryText(path, home)}`;
    case 'socket':
      return `use the socket ${pathText(path, home)}`;
  }
}

/** While a question waits. `wish` completes "wants to". */
export function waitingLine(
  subject: Subject,
  wish: string,
  places: readonly string[],
  where: string,
): string {
  const resolved = places.length > 0 ? `, which resolves to ${places.join(', ')}` : '';
  return `cordon: waiting for an answer: ${programOf(subject)} wants to ${wish}${resolved} (${where})`;
}

/** After a denial. `deed` completes "denied: NAME to"; `hint` is a whole phrase. */
export function denialLine(subject: Subject, deed: string, why: string, hint?: string): string {
  const line = `cordon: denied: ${programOf(subject)} to ${deed} (${why})`;
  return hint === undefined || hint === '' ? line : `${line}. ${hint}`;
}

/** Instead of more of them. */
export const MANY_DENIALS_LINE =
  'cordon: denied: more in this minute, which is not told line by line; `cordon log` shows all of it';

/** After an approval that leads nowhere. */
export function unresolvedLine(object: NetworkObject, why: string): string {
  return `cordon: ${networkText(object)} is allowed, but its name could not be resolved (${plainText(why, 60)})`;
}

/** An approval that could not be carried out. */
export function openFailedLine(open: Open, error: string, home: string): string {
  return `cordon: allowed, but not possible: to ${openText(open, home)} (${plainText(error, 120)})`;
}

/** Taken back, but not yet out of reach for what is running. */
export function busyLine(open: Open, home: string): string {
  return `cordon: taken back: to ${openText(open, home)}; programs that still have it open keep it until they close it`;
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
