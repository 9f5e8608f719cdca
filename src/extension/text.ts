// Text from programs, made fit for VS Code's labels, messages and plain pages: it is shown, never interpreted.

import os from 'node:os';

import { plainText } from '../base/plainText.js';
import * as words from '../session/words.js';

const PATH_LENGTH = 120;
const LABEL_LENGTH = 120;
const SENTENCE_WIDTH = 60;

/**
 * Text from programs inside VS Code's own labels and messages, which would otherwise turn `[x](command:y)` into a link and
 * `$(name)` into an icon.
 */
export function editorText(text: string, limit: number): string {
  return plainText(text, limit).replaceAll('](', '] (').replaceAll('$(', '$ (');
}

/** A path for a label, with `~` for the home folder. */
export function pathText(file: string): string {
  return editorText(words.pathText(file, os.homedir()), PATH_LENGTH);
}

/** A command line for one line of a list. */
export function commandText(command: readonly string[]): string {
  return editorText(commandLine(command), LABEL_LENGTH);
}

/** A command line as one would type it. */
export function commandLine(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** Lines of two columns. */
export function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`);
}

/** The same for sentences, which go on below each other: an editor does not wrap lines by itself. */
export function sentenceTable(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  const fill = new RegExp(`(?=\\S)(.{1,${SENTENCE_WIDTH}}|\\S+)(\\s+|$)`, 'gu');
  return rows.flatMap(([label, text]) =>
    Array.from(
      text.matchAll(fill),
      ([, line = ''], index) => `  ${(index === 0 ? label : '').padEnd(width)}  ${line}`,
    ),
  );
}

/** A text of several lines for a plain page: each line stays one, and what cannot be seen is spelled out. */
export function pageText(text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line
        .split('\t')
        .map((part) => plainText(part, Infinity))
        .join('\t'),
    )
    .join('\n');
}
