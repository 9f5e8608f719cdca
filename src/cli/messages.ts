// Lines for the person at the terminal: standard error, one line each. Standard output belongs to the command alone.

import { writeSync } from 'node:fs';
import { plainText } from '../base/plainText.js';

/** The boundary could not be set up, or Cordon was used wrongly. The command's own codes are never changed. */
export const EXIT_CORDON_FAILED = 125;

/** A path may be 4096 bytes long; beyond two of them nobody reads on. */
const LONGEST_LINE = 10_000;
const LONGEST_NAME = 5000;

/** Writes `cordon: …` at once, so that the line stands before anything the command prints later. */
export function say(message: string): void {
  try {
    writeSync(2, `cordon: ${plainText(message, LONGEST_LINE)}\n`);
  } catch (error) {
    if (!isErrno(error, 'EPIPE', 'EAGAIN', 'EBADF', 'EIO')) throw error;
    // nobody is listening; the command goes on
  }
}

/** A path or an argument for a message: in quotes where a shell would need them. */
export function quoted(text: string): string {
  const plain = plainText(text, LONGEST_NAME);
  if (plain !== text) return `"${plain}"`;
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  );
}
