// The file of `--events`: one JSON object a line, appended as things happen.

import { closeSync, openSync, writeSync } from 'node:fs';
import { textToBytes } from '../base/bytes.js';
import { quoted } from './messages.js';
import { UsageError } from './usage.js';
import type { AuditLine } from '../audit/schema.js';
import type { Disposable } from '../base/disposable.js';

export interface Events extends Disposable {
  readonly write: (line: AuditLine) => void;
}

export function openEvents(file: string): Events {
  let fd: number;
  try {
    fd = openSync(textToBytes(file), 'a', 0o600);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(
      `--events ${quoted(file)} cannot be written (${error.message}); nothing was started`,
    );
  }
  return {
    write: (line) => {
      writeSync(fd, `${JSON.stringify(line)}\n`);
    },
    dispose: () => {
      closeSync(fd);
    },
  };
}
