// `cordon log`: the record of all sessions of this account, as lines to read or, with --json, as they were written.

import { assertNever } from '../base/assertNever.js';
import { plainText } from '../base/plainText.js';
import { auditFolder, followAudit, listAudit, readAudit } from '../session/auditLog.js';
import { deedOf, openText, programOf, targetText, wishOf } from '../session/words.js';
import { findFolders } from './boundary.js';
import { say } from './messages.js';
import type { AuditLine } from '../audit/schema.js';
import type { GrantScope } from '../policy/grant.js';

interface LogFlags {
  readonly run?: string;
  readonly follow?: true;
  readonly json?: true;
}

export async function log(flags: LogFlags): Promise<number> {
  const { state, home } = findFolders(process.env);
  const files = listAudit(auditFolder(state));
  const show = (line: AuditLine): void => {
    if (flags.run !== undefined && !('run' in line && line.run.startsWith(flags.run))) return;
    const text = flags.json === true ? JSON.stringify(line) : lineInWords(line, home);
    if (text !== undefined) process.stdout.write(`${text}\n`);
  };
  const last = flags.follow === true ? files.at(-1) : undefined;
  let sound = true;
  for (const file of files.filter((each) => each !== last)) {
    const { lines, problems } = readAudit(file);
    lines.forEach(show);
    for (const problem of problems) say(`${file}: ${problem}`);
    sound &&= problems.length === 0;
  }
  if (last !== undefined) {
    const signal = new AbortController();
    process.once('SIGINT', () => {
      signal.abort();
    });
    for await (const line of followAudit(last, signal.signal)) show(line);
  }
  if (files.length === 0) say('nothing has been recorded yet');
  return sound ? 0 : 1;
}

/** `22:10:01  4f1c  denied     curl to example.com:443 (nobody to ask)`; nothing for what only a program needs. */
export function lineInWords(line: AuditLine, home: string): string | undefined {
  const words = describe(line, home);
  if (words === undefined || !('run' in line)) return undefined;
  const time = line.t.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
  return `${time}  ${line.run.slice(0, 8)}  ${words[0].padEnd(8)} ${words[1]}`;
}

function describe(
  line: AuditLine,
  home: string,
): readonly [what: string, text: string] | undefined {
  switch (line.kind) {
    case 'session':
      return undefined;
    case 'run':
      return [
        line.again ? 'found' : 'run',
        `${plainText(line.command.join(' '), LONGEST)}  in ${plainText(line.directory, LONGEST)}`,
      ];
    case 'request':
      return [
        'asked',
        `${programOf(line.subject)} wants to ${wishOf(line, home)} (request ${line.request}; ${plainText(line.because ?? line.rule, LONGEST)})`,
      ];
    case 'answer':
      return [
        line.effect === 'allow' ? 'allowed' : 'denied',
        `request ${line.request}, by ${line.by} (${line.grant === null ? line.reason : `grant ${short(line.grant)}`})`,
      ];
    case 'denial':
      return [
        'refused',
        `${programOf(line.subject)} to ${deedOf(line, home)} (${plainText(line.rule, LONGEST)})`,
      ];
    case 'grant':
      return [
        'grant',
        `${short(line.grant.id)}: to ${targetText(line.grant.target, home)}, ${scopeWords[line.grant.scope]}`,
      ];
    case 'revoke':
      return ['revoked', `grant ${short(line.grant)}`];
    case 'opened':
      return [
        'opened',
        line.opens
          .map(
            (open) =>
              `to ${openText(open, home)}${open.error === null ? '' : `: failed (${plainText(open.error, LONGEST)})`}`,
          )
          .join(', '),
      ];
    case 'revoked':
      return [
        'closed',
        line.opens
          .map((open) => `to ${openText(open, home)}${open.busy ? ', still in use' : ''}`)
          .join(', '),
      ];
    case 'published':
      return ['shared', `port ${line.port} at ${line.address}:${line.hostPort}`];
    case 'unpublished':
      return ['unshared', `port ${line.port} (${line.reason})`];
    case 'gap':
      return ['gap', `${line.promise}: ${line.reason}`];
    case 'exit':
      return [
        'end',
        `${line.outcome}${line.exitCode === null ? '' : ` with ${line.exitCode}`}${line.reason === null ? '' : `: ${plainText(line.reason, LONGEST)}`}`,
      ];
    default:
      return assertNever(line);
  }
}

const LONGEST = 200;

const scopeWords: Readonly<Record<GrantScope, string>> = {
  once: 'once',
  run: 'for this run',
  session: 'for the session',
  always: 'always',
};

/** Enough of an id to tell grants apart, here and in the other lines. */
function short(id: string): string {
  return id.slice(0, 8);
}
