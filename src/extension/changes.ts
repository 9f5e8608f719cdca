// What a program would write, beside what is there: pages of plain text.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

import type { Question } from '../broker/prompter.js';
import { changeOf } from './details.js';
import type { Documents } from './documents.js';
import { programName } from './question.js';
import { pageText, pathText } from './text.js';

/** As much as the launcher sends of a change. */
const SHOWN_BYTES = 16 * 1024;

export async function showChange(documents: Documents, question: Question): Promise<void> {
  const { request } = question;
  const change = changeOf(question);
  if (change === null || request.action !== 'write') return;
  const { path } = request.object;
  const what = `what ${programName(request)} would write`;
  const before = isExtract(path, change) ? undefined : await beginningOf(path);
  if (before === undefined) {
    await documents.show('Change', `${pathText(path)}: ${what}\n\n${pageText(change)}`);
  } else {
    const title = `${pathText(path)} ↔ ${what}`;
    await documents.compare(title, pageText(before), pageText(change));
  }
}

/** In a git directory the launcher sends just the lines that matter; for a link, where it leads. */
function isExtract(path: string, change: string): boolean {
  return /\.git(\/|$)/i.test(path) || /^([+-]|->) /.test(change);
}

/** Undefined for what is not there, is no ordinary file, or may not be read. Never waits: a pipe is opened, too. */
async function beginningOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(SHOWN_BYTES), 0, SHOWN_BYTES, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
