// Reads the audit log: checks the chain of hashes, follows a log that is being written, finds a run's session again.
// It reports what is wrong and repairs nothing.

import fs from 'node:fs';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';

import type { AuditLine } from './schema.js';
import { createLineParser } from './schema.js';
import { sealLine } from './writer.js';

export interface AuditPart {
  readonly lines: readonly AuditLine[];
  /** What does not fit, with its line number; empty for a sound file. */
  readonly problems: readonly string[];
}

/** The parts of all sessions below a folder, oldest first; none when there is no such folder. */
export function listAudit(folder: string): readonly string[] {
  try {
    return fs
      .readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => path.join(folder, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** One part. A last line without its end is not a breach: it is being written, or the machine stopped. */
export function readAudit(file: string): AuditPart {
  const reader = createChainReader();
  const rest = reader.push(fs.readFileSync(file, 'utf8'));
  const problems = [...reader.problems];
  if (rest !== '') problems.push(`line ${reader.lines.length + 1} is unfinished`);
  return { lines: reader.lines, problems };
}

interface ChainReader {
  readonly lines: AuditLine[];
  readonly problems: string[];
  /** Takes whole lines; returns what is left after the last one. */
  push(text: string): string;
}

/** Every line is checked against the one before it, whether that one was sound or not: one breach is one problem. */
function createChainReader(): ChainReader {
  const parse = createLineParser();
  const lines: AuditLine[] = [];
  const problems: string[] = [];
  let hash: string | undefined;
  let number = 0;

  const take = (text: string): void => {
    number += 1;
    let line: AuditLine;
    try {
      line = parse(JSON.parse(text));
    } catch (error) {
      problems.push(`line ${number}: ${error instanceof Error ? error.message : String(error)}`);
      hash = undefined;
      return;
    }
    const body = text.replace(/,"hash":"[0-9a-f]{64}"\}$/u, '}');
    // The first line of a part carries the last hash of the part before it.
    hash ??= line.kind === 'session' ? (line.previous ?? '') : undefined;
    if (hash === undefined || sealLine(hash, body).hash !== line.hash) {
      problems.push(
        `line ${number} does not follow the one before it: something was changed or removed`,
      );
    }
    hash = line.hash;
    lines.push(line);
  };

  return {
    lines,
    problems,
    push(text) {
      const whole = text.split('\n');
      const rest = whole.pop() ?? '';
      whole.forEach(take);
      return rest;
    },
  };
}

/** The lines of a part from its beginning, then new ones as they are written, until the signal aborts. */
export async function* followAudit(file: string, signal: AbortSignal): AsyncGenerator<AuditLine> {
  const reader = createChainReader();
  const handle = await fs.promises.open(file, 'r');
  try {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (let given = 0; !signal.aborted;) {
      rest = reader.push(rest + decoder.write(await readOn(handle)));
      for (; given < reader.lines.length; given += 1) {
        const line = reader.lines[given];
        if (line !== undefined) yield line;
      }
      await changed(file, signal);
    }
  } finally {
    await handle.close();
  }
}

async function readOn(handle: fs.promises.FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (;;) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(1 << 16) });
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
  }
}

/** Settles when the file was written to, or the signal aborts, or a second has passed: a watch can miss a change. */
function changed(file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      watcher.close();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, 1000);
    const watcher = fs.watch(file, done).on('error', done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
