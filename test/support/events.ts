// What `--events FILE` said so far, for tests that wait for something to happen and not for time to pass.

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLine } from '../../src/audit/schema.js';

/** The whole lines so far; none when there is no file yet. */
export async function readEvents(file: string): Promise<readonly AuditLine[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditLine);
}

/** Resolves with the first event of a kind; rejects after ten seconds. */
export async function waitForEvent<K extends AuditLine['kind']>(
  file: string,
  kind: K,
): Promise<AuditLine & { readonly kind: K }> {
  for (let tries = 0; tries < 500; tries += 1) {
    const found = (await readEvents(file)).find(
      (line): line is AuditLine & { readonly kind: K } => line.kind === kind,
    );
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error(`no ${kind} in ${file}`);
}
