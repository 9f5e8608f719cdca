// Lines for the person at the terminal: standard error, one line each. Standard output belongs to the command alone.

import { writeSync } from 'node:fs';

/** The boundary could not be set up, or Cordon was used wrongly. The command's own codes are never changed. */
export const EXIT_CORDON_FAILED = 125;

/** Writes `cordon: …` at once, so that the line stands before anything the command prints later. */
export function say(message: string): void {
  try {
    writeSync(2, `cordon: ${oneLine(message)}\n`);
  } catch (error) {
    if (!isErrno(error, 'EPIPE', 'EAGAIN', 'EBADF', 'EIO')) throw error;
    // nobody is listening; the command goes on
  }
}

/** Text from programs or files, safe to show: control and formatting characters become visible escapes. */
export function oneLine(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

/** A path or an argument as a shell would take it back, on one line. */
export function quoted(text: string): string {
  const line = oneLine(text);
  if (line !== text) return `$'${line.replace(/'/g, "\\'")}'`;
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

/** Controls (C0, DEL, C1), formatting and bidirectional marks, separators, private use, and lone surrogates. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;
