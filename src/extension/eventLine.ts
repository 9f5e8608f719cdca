// An audit line as one line of the output channel.

import os from 'node:os';

import { assertNever } from '../base/assertNever.js';
import { plainText } from '../base/plainText.js';
import type { AuditLine } from '../audit/schema.js';
import { deedOf, openText, programOf, targetText, wishOf } from '../session/words.js';
import { commandText } from './text.js';

export interface EventLine {
  readonly level: 'debug' | 'info' | 'warn';
  readonly text: string;
}

export function eventLine(line: AuditLine): EventLine {
  const home = os.homedir();
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
        text: `run ${line.run} asks: ${programOf(line.subject)} wants to ${wishOf(line, home)}`,
      };
    case 'answer':
      return {
        level: line.effect === 'allow' ? 'info' : 'warn',
        text: `run ${line.run} request ${line.request}: ${line.effect} by ${line.by} (${line.reason})`,
      };
    case 'denial':
      return {
        level: 'warn',
        text: `run ${line.run} refused: ${programOf(line.subject)} to ${deedOf(line, home)} (${plainText(line.rule, 200)})`,
      };
    case 'grant':
      return {
        level: 'info',
        text: `grant ${line.grant.id}: to ${targetText(line.grant.target, home)}, ${line.grant.scope}`,
      };
    case 'revoke':
      return { level: 'info', text: `grant ${line.grant} revoked` };
    case 'opened':
      return {
        level: line.opens.some(({ error }) => error !== null) ? 'warn' : 'info',
        text: `run ${line.run} can now: ${line.opens
          .map(
            (open) =>
              `${openText(open, home)}${open.error === null ? '' : ` (failed: ${plainText(open.error, 200)})`}`,
          )
          .join('; ')}`,
      };
    case 'revoked':
      return {
        level: 'info',
        text: `run ${line.run} can no longer: ${line.opens
          .map((open) => `${openText(open, home)}${open.busy ? ' (still in use)' : ''}`)
          .join('; ')}`,
      };
    case 'published':
      return {
        level: 'info',
        text: `run ${line.run} port ${line.port} is open on this machine as ${line.address} port ${line.hostPort}`,
      };
    case 'unpublished':
      return { level: 'info', text: `run ${line.run} port ${line.port} is closed: ${line.reason}` };
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
