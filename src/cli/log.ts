// `cordon log`: the record of all sessions of this account, as lines to read or, with --json, as they were written.

import { assertNever } from '../base/assertNever.js';
import { plainText } from '../base/plainText.js';
import { auditFolder, followAudit, listAudit, readAudit } from '../session/auditLog.js';
import { findFolders } from './boundary.js';
import { say } from './messages.js';
import { patternOf } from './wording.js';
import type { AuditLine } from '../audit/schema.js';

interface LogFlags {
  readonly run?: string;
  readonly follow?: true;
  readonly json?: true;
}

export async function log(flags: LogFlags): Promise<number> {
  const files = listAudit(auditFolder(findFolders(process.env).state));
  const show = (line: AuditLine): void => {
    if (flags.run !== undefined && !('run' in line && line.run.startsWith(flags.run))) return;
    const text = flags.json === true ? JSON.stringify(line) : lineInWords(line);
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
export function lineInWords(line: AuditLine): string | undefined {
  const words = describe(line);
  if (words === undefined || !('run' in line)) return undefined;
  const time = line.t.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
  return `${time}  ${line.run.slice(0, 8)}  ${words[0].padEnd(8)} ${words[1]}`;
}

function describe(line: AuditLine): readonly [what: string, text: string] | undefined {
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
        `${programOf(line)} wants to ${line.action} ${patternOf(line)} (${plainText(line.rule, LONGEST)})`,
      ];
    case 'answer':
      return [
        line.effect === 'allow' ? 'allowed' : 'denied',
        `request ${line.request}, by ${line.by} (${line.reason})`,
      ];
    case 'denial':
      return [
        'refused',
        `${programOf(line)} to ${objectOf(line)} (${plainText(line.rule, LONGEST)})`,
      ];
    case 'grant':
      return ['grant', `${patternOf({ object: line.grant.target })}, ${line.grant.scope}`];
    case 'revoke':
      return ['revoked', `grant ${line.grant}`];
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

function programOf({ subject }: Extract<AuditLine, { kind: 'request' | 'denial' }>): string {
  return plainText(subject.executable.split('/').at(-1) ?? '', 40);
}

function objectOf({ object }: Extract<AuditLine, { kind: 'denial' }>): string {
  return 'path' in object ? plainText(object.path, LONGEST) : patternOf({ object });
}
