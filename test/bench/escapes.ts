// Attempt × tool: what of the escape suite gets out of which sandbox.

import { attemptEscape, inBubblewrap, inCordon } from '../support/escapeWorld.js';
import type { Tool } from '../support/escapeWorld.js';
import { escapes } from '../support/escapes.js';

const RACE_SECONDS = 1;

export interface EscapeRow {
  readonly attempt: string;
  readonly cordon: boolean;
  readonly bwrap: boolean;
}

/** True: the host showed a breach. */
export async function attemptAll(): Promise<readonly EscapeRow[]> {
  const rows: EscapeRow[] = [];
  for (const escape of escapes(RACE_SECONDS)) {
    const getsOut = async (tool: Tool): Promise<boolean> => {
      const ends: (() => void)[] = [];
      try {
        const { breaches } = await attemptEscape({ after: (end) => ends.push(end) }, escape, tool);
        return breaches.length > 0;
      } finally {
        for (const end of ends.reverse()) end();
      }
    };
    rows.push({
      attempt: escape.name,
      cordon: await getsOut(inCordon),
      bwrap: await getsOut(inBubblewrap),
    });
  }
  return rows;
}

export function escapeTable(rows: readonly EscapeRow[]): string {
  const word = (isOut: boolean): string => (isOut ? 'BREACH' : 'held').padEnd(8);
  const out = (tool: 'cordon' | 'bwrap'): number => rows.filter((row) => row[tool]).length;
  return [
    'attempts to get out',
    ...rows.map((row) => `  ${word(row.cordon)}${word(row.bwrap)}${row.attempt}`),
    `  ${out('cordon')} of ${rows.length} get out of cordon, ${out('bwrap')} of bwrap`,
  ].join('\n');
}
