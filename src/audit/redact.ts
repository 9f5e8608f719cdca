// Takes secrets out of command lines before they are recorded. It may take too much; it must never let a value through
// that it recognises. What a program reads from its environment or from files is not recorded at all.

import type { Subject } from '../policy/request.js';

const HIDDEN = '***';

/** Names whose value is nobody's business: of options, variables, headers and query parameters. */
const SECRET_NAME =
  '[\\w.-]*(?:token|passw(?:or)?d|passwd|passphrase|secret|api[-_]?key|apikey|access[-_]?key|private[-_]?key|credential|authorization|auth|bearer|cookie|session[-_]?id|signature|otp)[\\w.-]*';

/** Tokens that are known by their form, wherever they stand. */
const SECRET_FORMS: readonly RegExp[] = [
  /\b(?:gh[pousr]_|github_pat_|glpat-|npm_|pypi-|xox[abeoprs]-|sk-|rk_live_|sk_live_|hf_|dop_v1_|AIza|ya29\.)[\w.-]{8,}/gu,
  /\b(?:AKIA|ASIA)[0-9A-Z]{12,}/gu,
  /\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/gu,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu,
];

const URL_USER = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#@'"]+@/giu;
const URL_QUERY = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s?#'"]*)\?([^\s#'"]*)/giu;
const HEADER =
  /\b((?:proxy-)?authorization|cookie|set-cookie|x-[\w-]*(?:key|token|auth)[\w-]*)\s*:\s*[^'"\r\n]+/giu;
const SCHEME = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/giu;
const ASSIGNMENT = new RegExp(
  `((?:^|[\\s'"&;(])-{0,2}${SECRET_NAME}\\s?[=:]\\s?)("[^"]*"|'[^']*'|[^\\s'"&;)]+)`,
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

/** One text, such as a shell command or a URL, without the secrets in it. */
export function redactText(text: string): string {
  let result = text
    .replace(URL_USER, `$1${HIDDEN}@`)
    .replace(URL_QUERY, (_, before: string, query: string) => `${before}?${redactQuery(query)}`)
    .replace(HEADER, `$1: ${HIDDEN}`)
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(ASSIGNMENT, `$1${HIDDEN}`)
    .replace(OPTION_THEN_VALUE, `$1${HIDDEN}`);
  for (const form of SECRET_FORMS) result = result.replace(form, HIDDEN);
  return result;
}

/** A command line without the secrets in it; the number of arguments stays. */
export function redactArguments(command: readonly string[]): readonly string[] {
  const program = command[0]?.split('/').at(-1) ?? '';
  const hidden = SHORT_SECRET_OPTIONS.get(program);
  return command.map((argument, index) => {
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

/** `-uname:password`, `-ppassword`: a short option with its value in one argument. */
function isAttached(argument: string, option: string): boolean {
  return option.length === 2 && argument.length > 2 && argument.startsWith(option);
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
