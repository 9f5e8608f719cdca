// Finds a run again that outlived its broker, and the grants that held for it. It takes only what the record says, from a
// record that is whole: what it does not know was never granted.

import path from 'node:path';

import { listAudit, readAudit } from '../audit/reader.js';
import type { AuditLine } from '../audit/schema.js';
import type { Grant } from '../policy/grant.js';

/** Parts that are looked through, newest first, before a run counts as unknown. */
const MAX_PARTS = 500;

export interface KnownRun {
  /** The session whose grants hold for the run: the one that it began in. */
  readonly session: string;
  /** The launcher, which is the same for the run's whole life. */
  readonly pid: number;
  readonly grants: readonly Grant[];
  /** What is wrong with the record; there are no grants then. */
  readonly problems: readonly string[];
}

/** Undefined when no record knows the run, or it has ended. */
export function findRun(folder: string, run: string): KnownRun | undefined {
  const parts = listAudit(folder);
  /** A session that took a grant over began later, so its revocations are met before the grant itself. */
  const revoked = new Set<string>();
  for (const part of [...parts].reverse().slice(0, MAX_PARTS)) {
    const { lines } = readAudit(part);
    if (lines.some((line) => line.kind === 'run' && line.run === run)) {
      // All parts of the session that knew it last: that session took over what held before it.
      const same = parts.filter((other) => nameOf(other) === nameOf(part));
      return fromSession(same, run, revoked);
    }
    for (const line of lines) if (line.kind === 'revoke') revoked.add(line.grant);
  }
  return undefined;
}

function fromSession(
  parts: readonly string[],
  run: string,
  revoked: ReadonlySet<string>,
): KnownRun | undefined {
  const read = parts.map((part) => readAudit(part));
  const lines = read.flatMap((part) => part.lines);
  const begun = lines.filter((line) => line.kind === 'run').findLast((line) => line.run === run);
  if (begun === undefined || lines.some((line) => isEnd(line, run))) return undefined;
  const { session, pid } = begun;
  const problems = read.flatMap((part) => part.problems);
  const grants =
    problems.length > 0 ? [] : grantsFor(lines, run, session).filter(({ id }) => !revoked.has(id));
  return { session, pid, grants, problems };
}

function grantsFor(lines: readonly AuditLine[], run: string, session: string): readonly Grant[] {
  const live = new Map<string, Grant>();
  for (const line of lines) {
    if (line.kind === 'grant') live.set(line.grant.id, line.grant);
    else if (line.kind === 'revoke') live.delete(line.grant);
  }
  return [...live.values()].filter((grant) =>
    grant.run === undefined ? grant.session === session : grant.run === run,
  );
}

/** A run that was lost sight of has not ended. */
function isEnd(line: AuditLine, run: string): boolean {
  return line.kind === 'exit' && line.run === run && line.outcome !== 'lost';
}

/** `2026-11-29T21-50-00-000Z-SESSION-0.jsonl` → SESSION. */
function nameOf(part: string): string {
  return path
    .basename(part, '.jsonl')
    .replace(/^.*?Z-/u, '')
    .replace(/-\d+$/u, '');
}
