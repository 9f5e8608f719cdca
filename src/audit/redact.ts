// Takes secrets out of command lines before they are recorded. It may take too much; it must never let a value through
// that it recognises. What a program reads from its environment or from files is not recorded at all.

import type { Subject, Wanted } from '../policy/request.js';
import type { ChangeDigest, Recorded } from './schema.js';

const HIDDEN = '***';
/** Of each argument, and of all; a program can have megabytes, and only what is looked through may be recorded. */
const MAX_ARGUMENT = 4096;
const MAX_ARGUMENTS = 256;
const MAX_COMMAND = 16_384;

/** Names whose value is nobody's business: of options, variables, headers and query parameters. */
const SECRET_NAME =
  '[\\w.-]{0,64}(?:token|passw(?:or)?d|passwd|passphrase|secret|api[-_]?key|apikey|access[-_]?key|private[-_]?key|credential|authorization|auth|bearer|cookie|session[-_]?id|signature|otp)[\\w.-]{0,64}';

/** Tokens that are known by their form, wherever they stand. */
const SECRET_FORMS: readonly RegExp[] = [
  /\b(?:gh[pousr]_|github_pat_|glpat-|npm_|pypi-|xox[abeoprs]-|sk-|rk_live_|sk_live_|hf_|dop_v1_|AIza|ya29\.)[\w.-]{8,}/gu,
  /\b(?:AKIA|ASIA)[0-9A-Z]{12,}/gu,
  /\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/gu,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
];

/** A whole URL at once: what looks at parts of one again and again takes a hostile command line's time. */
const URL_TEXT = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s'"]*)/giu;
const HEADER =
  /\b((?:proxy-)?authorization|cookie|set-cookie|x-[\w-]{0,40}(?:key|token|auth)[\w-]{0,40})\s*:\s*[^'"\r\n]+/giu;
const SCHEME = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/giu;
const ASSIGNMENT = new RegExp(
  `((?:^|[\\s'"&;(])-{0,2}${SECRET_NAME}["']?\\s?[=:]\\s?)("[^"]*"|'[^']*'|[^\\s'"&;)]+)`,
  'giu',
);
const OPTION_THEN_VALUE = new RegExp(
  `((?:^|[\\s'"])-{1,2}${SECRET_NAME}\\s+)("[^"]*"|'[^']*'|[^\\s'"-][^\\s'"]*)`,
  'giu',
);
const SECRET_OPTION = new RegExp(`^-{1,2}${SECRET_NAME}$`, 'iu');
/** Options of well-known programs whose value is a secret although their name does not say so. */
const SHORT_SECRET_OPTIONS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['curl', new Set(['-u', '--user', '-U', '--proxy-user', '-b', '--oauth2-bearer', '--pass'])],
  ['wget', new Set(['--user'])],
  ['mysql', new Set(['-p'])],
  ['sshpass', new Set(['-p'])],
]);
const VARIABLE = /^([A-Za-z_]\w*)=.+$/su;

/** Nothing shorter, without a name or scheme before it, is matched below; spares most commands the compiling of it all. */
const SHORTEST_SECRET = 11;

/** One text, such as a shell command or a URL, without the secrets in it. */
export function redactText(text: string): string {
  if (text.length < SHORTEST_SECRET && !/[\s=:]/u.test(text)) return text;
  // Looked through beyond the cut, so that no secret is cut in two and then not known.
  let result = text
    .slice(0, 2 * MAX_ARGUMENT)
    .replace(URL_TEXT, (_, scheme: string, rest: string) => scheme + redactUrl(rest))
    .replace(HEADER, `$1: ${HIDDEN}`)
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(ASSIGNMENT, `$1${HIDDEN}`)
    .replace(OPTION_THEN_VALUE, `$1${HIDDEN}`);
  for (const form of SECRET_FORMS) result = result.replace(form, HIDDEN);
  return result.length > MAX_ARGUMENT ? `${result.slice(0, MAX_ARGUMENT)}…` : result;
}

/** A command line without the secrets in it, and without what is beyond reading. */
export function redactArguments(command: readonly string[]): readonly string[] {
  const program = command[0]?.split('/').at(-1) ?? '';
  const hidden = SHORT_SECRET_OPTIONS.get(program);
  let left = MAX_COMMAND;
  return command.slice(0, MAX_ARGUMENTS).map((argument, index) => {
    if (left <= 0) return '…';
    left -= Math.min(argument.length, MAX_ARGUMENT);
    const before = index > 0 ? (command[index - 1] ?? '') : '';
    if (index > 1 && (SECRET_OPTION.test(before) || hidden?.has(before) === true)) return HIDDEN;
    const attached = [...(hidden ?? [])].find((option) => isAttached(argument, option));
    if (attached !== undefined) return `${attached}${HIDDEN}`;
    const variable = index > 0 ? VARIABLE.exec(argument)?.[1] : undefined;
    return variable === undefined ? redactText(argument) : `${variable}=${HIDDEN}`;
  });
}

export function redactSubject(subject: Subject): Subject {
  return { ...subject, arguments: redactArguments(subject.arguments) };
}

/** What was wanted, without what would be written: of that only how much it is, and what it can be recognised by. */
export function redactWanted(wanted: Wanted): Recorded {
  // Just these two: what is handed in may have more, such as a command line that is not redacted.
  if (wanted.action !== 'write')
    return { action: wanted.action, object: wanted.object } as Recorded;
  const { change, ...object } = wanted.object;
  return {
    action: wanted.action,
    object: { ...object, change: change === null ? null : digestOf(change) },
  };
}

function digestOf(text: string): ChangeDigest {
  // Loaded here, because it takes Node a few milliseconds, and is seldom needed.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const bytes = Buffer.from(text, 'utf8');
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

/** `-uname:password`, `-ppassword`: a short option with its value in one argument. */
function isAttached(argument: string, option: string): boolean {
  return option.length === 2 && argument.length > 2 && argument.startsWith(option);
}

/** What follows `scheme://`, without the user before the host, and without the values of the query. */
function redactUrl(rest: string): string {
  const host = rest.search(/[/?#]/u);
  const authority = host < 0 ? rest : rest.slice(0, host);
  const user = authority.lastIndexOf('@');
  const safe = user < 0 ? rest : `${HIDDEN}${rest.slice(user)}`;
  const query = safe.indexOf('?');
  if (query < 0) return safe;
  const fragment = safe.indexOf('#', query);
  const end = fragment < 0 ? safe.length : fragment;
  return `${safe.slice(0, query + 1)}${redactQuery(safe.slice(query + 1, end))}${safe.slice(end)}`;
}

/** Keeps the names of a query and hides its values; what has no name may be a token itself. */
function redactQuery(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? (part === '' ? '' : HIDDEN) : `${part.slice(0, at)}=${HIDDEN}`;
    })
    .join('&');
}
