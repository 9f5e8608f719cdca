// An audit line as one line of the output channel.

import { assertNever } from '../base/assertNever.js';
import { plainText } from '../base/plainText.js';
import type { AuditLine } from '../audit/schema.js';
import type { DenialObject } from '../policy/request.js';
import { commandText, programName, targetText } from './question.js';

export interface EventLine {
  readonly level: 'debug' | 'info' | 'warn';
  readonly text: string;
}

export function eventLine(line: AuditLine): EventLine {
  switch (line.kind) {
    case 'session':
      return { level: 'debug', text: `session ${line.session}` };
    case 'run':
      return {
        level: 'info',
        text: `run ${line.run} ${line.again ? 'found this window again' : 'begins'}: ${commandText(line.command)}`,
      };
    case 'request':
      return {
        level: 'info',
        text: `run ${line.run} asks: ${programName(line)} wants to ${line.action} ${targetText(line.object)}`,
      };
    case 'answer':
      return {
        level: line.effect === 'allow' ? 'info' : 'warn',
        text: `run ${line.run} request ${line.request}: ${line.effect} by ${line.by} (${line.reason})`,
      };
    case 'denial':
      return {
        level: 'warn',
        text: `run ${line.run} refused: ${programName(line)} to ${objectText(line.object)} (${plainText(line.rule, 200)})`,
      };
    case 'grant':
      return {
        level: 'info',
        text: `grant ${line.grant.id}: ${targetText(line.grant.target)}, ${line.grant.scope}`,
      };
    case 'revoke':
      return { level: 'info', text: `grant ${line.grant} revoked` };
    case 'gap':
      return { level: 'warn', text: `run ${line.run} has a gap: ${line.promise}: ${line.reason}` };
    case 'exit':
      return { level: 'info', text: `run ${line.run} ${line.outcome}${exitText(line)}` };
    default:
      return assertNever(line);
  }
}

function exitText({
  exitCode,
  reason,
}: {
  readonly exitCode: number | null;
  readonly reason: string | null;
}): string {
  return `${exitCode === null ? '' : ` with ${exitCode}`}${reason === null ? '' : `: ${plainText(reason, 200)}`}`;
}

function objectText(object: DenialObject): string {
  return 'path' in object ? plainText(object.path, 200) : targetText(object);
}
