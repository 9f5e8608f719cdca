// What the system gave this process as bytes: its arguments and its working directory. Node decodes both as UTF-8 and
// loses what is not; here such bytes become lone surrogates (base/bytes.ts).

import { readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { bytesToText, textToBytes } from '../base/bytes.js';
import { isErrno, quoted } from './messages.js';
import { UsageError } from './usage.js';
import type { AbsolutePath } from '../policy/paths.js';

/** `given` (the end of process.argv) again, with every byte kept. */
export function exactArguments(given: readonly string[]): readonly string[] {
  if (!given.some((argument) => argument.includes('\ufffd'))) return given;
  const line = readFileSync('/proc/self/cmdline');
  const all: string[] = [];
  for (let from = 0, end = line.indexOf(0); end >= 0; from = end + 1, end = line.indexOf(0, from)) {
    all.push(bytesToText(line.subarray(from, end)));
  }
  return given.length === 0 ? [] : all.slice(-given.length);
}

/** Whether the text stands for bytes that are not UTF-8. */
export function hasRawBytes(text: string): boolean {
  return /[\udc80-\udcff]/u.test(text);
}

/** The real path of the working directory, as the kernel knows it. */
export function workingDirectory(): AbsolutePath {
  const target = readlinkSync('/proc/self/cwd', { encoding: 'buffer' });
  try {
    statSync(target);
  } catch {
    throw new UsageError(
      `the working directory ${quoted(bytesToText(target))} is gone or cannot be reached; change to another one`,
    );
  }
  return bytesToText(target) as AbsolutePath;
}

/** The real path of an existing folder that `flag` names. */
export function realFolder(flag: string, path: string): AbsolutePath {
  if (path === '') throw new UsageError(`${flag} needs a folder`);
  const real = realPath(flag, path);
  if (!statSync(textToBytes(real)).isDirectory()) {
    throw new UsageError(`${flag} ${quoted(path)} is not a folder`);
  }
  return real;
}

function realPath(flag: string, path: string): AbsolutePath {
  try {
    return bytesToText(
      realpathSync.native(textToBytes(path), { encoding: 'buffer' }),
    ) as AbsolutePath;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      throw new UsageError(`${flag} ${quoted(path)} does not exist; create it first`);
    }
    if (isErrno(error, 'EACCES', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) {
      throw new UsageError(`${flag} ${quoted(path)} cannot be used (${reasonOf(error)})`);
    }
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (isErrno(error, 'EACCES')) return 'you may not look into it';
  if (isErrno(error, 'ENOTDIR')) return 'a part of it is not a folder';
  if (isErrno(error, 'ELOOP')) return 'its symbolic links go in circles';
  return 'its name is too long';
}
