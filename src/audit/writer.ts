// The append-only record of one session: JSON lines, mode 0600, each with a hash over the one before it. `append` has
// written the line when it returns; it throws rather than let something happen unrecorded.

import fs from 'node:fs';
import path from 'node:path';

import type { Clock } from '../base/clock.js';
import { CordonError } from '../base/errors.js';
import type { AuditEntry, AuditLine } from './schema.js';

/** A part that has grown beyond this is followed by another. */
const MAX_PART_BYTES = 8 << 20;

export interface AuditWriter {
  /** The part that is written now. */
  readonly file: string;
  /** Records; throws CordonError `auditFailed` when it could not. */
  append(entry: AuditEntry): AuditLine;
  /** What was appended survives a power failure once this settles; rejects with `auditFailed`. */
  flush(): Promise<void>;
  /** Repeatable; appending afterwards throws. */
  dispose(): void;
}

export interface AuditWriterOptions {
  readonly folder: string;
  readonly session: string;
  readonly clock: Clock;
  readonly onLine?: (line: AuditLine) => void;
  readonly maxPartBytes?: number;
}

/** A writer that is created when it is first used; only then it can fail. */
export function createLazyWriter(create: () => AuditWriter): AuditWriter & { open(): void } {
  let writer: AuditWriter | undefined;
  let disposed = false;
  const open = (): AuditWriter => {
    if (disposed) throw new CordonError('auditFailed', 'it is closed');
    writer ??= create();
    return writer;
  };
  return {
    open: () => {
      open();
    },
    get file() {
      return open().file;
    },
    append: (entry) => open().append(entry),
    flush: () => open().flush(),
    dispose() {
      disposed = true;
      writer?.dispose();
    },
  };
}

/** The text of a line with its hash, and the hash. `body` is a JSON object without one. */
export function sealLine(
  previous: string,
  body: string,
): { readonly text: string; readonly hash: string } {
  // Loaded here, because it takes Node a few milliseconds, and a launcher can start meanwhile.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(previous).update(body).digest('hex');
  return { text: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash };
}

/** Creates the folder (0700) and the first part; throws CordonError `auditFailed`. */
export function createAuditWriter(options: AuditWriterOptions): AuditWriter {
  const limit = options.maxPartBytes ?? MAX_PART_BYTES;
  let part = openPart(options, 0);
  let hash = '';
  let disposed = false;

  const write = (entry: AuditEntry): AuditLine => {
    const t = new Date(options.clock.now()).toISOString();
    const sealed = sealLine(hash, JSON.stringify({ t, ...entry }));
    writeWhole(part, Buffer.from(sealed.text));
    hash = sealed.hash;
    return { t, ...entry, hash };
  };
  const startPart = (previous: string | null): void => {
    options.onLine?.(write({ kind: 'session', session: options.session, previous }));
  };
  const rotate = (): void => {
    const next = openPart(options, part.number + 1);
    fs.closeSync(part.fd);
    part = next;
    startPart(hash);
  };

  const append = (entry: AuditEntry): AuditLine => {
    if (disposed) throw new CordonError('auditFailed', 'it is closed');
    let line: AuditLine;
    try {
      if (part.size > limit) rotate();
      line = write(entry);
    } catch (error) {
      throw failure(part.file, error);
    }
    options.onLine?.(line);
    return line;
  };

  try {
    startPart(null);
  } catch (error) {
    fs.closeSync(part.fd);
    throw failure(part.file, error);
  }
  return {
    get file() {
      return part.file;
    },
    append,
    async flush() {
      const { fd, file } = part;
      await new Promise<void>((resolve, reject) => {
        fs.fdatasync(fd, (error) => {
          // Rotation or the end closes the descriptor: the data was handed to the kernel all the same.
          if (error === null || error.code === 'EBADF' || error.code === 'EINVAL') resolve();
          else reject(failure(file, error));
        });
      });
    },
    dispose() {
      if (disposed) return;
      disposed = true;
      fs.closeSync(part.fd);
    },
  };
}

interface Part {
  readonly file: string;
  readonly number: number;
  readonly fd: number;
  size: number;
}

function openPart(options: AuditWriterOptions, number: number): Part {
  const started = new Date(options.clock.now()).toISOString().replaceAll(/[:.]/gu, '-');
  const file = path.join(
    options.folder,
    `${started}-${options.session}-${String(number).padStart(4, '0')}.jsonl`,
  );
  try {
    fs.mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    // `x`: never another session's file, and never through a link that somebody left there.
    return { file, number, fd: fs.openSync(file, 'ax', 0o600), size: 0 };
  } catch (error) {
    throw failure(file, error);
  }
}

/** Writes all of it or nothing: a torn line would break the chain for everything after it. */
function writeWhole(part: Part, bytes: Buffer): void {
  try {
    for (let at = 0; at < bytes.length;) at += fs.writeSync(part.fd, bytes, at);
  } catch (error) {
    fs.ftruncateSync(part.fd, part.size);
    throw error;
  }
  part.size += bytes.length;
}

function failure(file: string, error: unknown): CordonError {
  if (error instanceof CordonError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new CordonError('auditFailed', `${file}: ${reason}`, { cause: error });
}
