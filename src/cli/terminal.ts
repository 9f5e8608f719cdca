// The person's terminal, /dev/tty, for one question: raw while it is read, a small line editor, restored afterwards.
// Reading starts with an empty queue, so nothing typed earlier counts as an answer.

import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { isErrno } from './messages.js';
import type { Disposable } from '../base/disposable.js';

export interface Terminal extends Disposable {
  write(text: string): void;
  /** What was typed before Enter. `undefined` when `signal` aborts first; rejects when the terminal is gone. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
}

/** Whether this process has a terminal that a person could answer at. */
export function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY));
    return true;
  } catch (error) {
    if (isErrno(error, 'ENXIO', 'ENOENT', 'EACCES', 'EIO', 'ENOTTY')) return false;
    throw error;
  }
}

export function openTerminal(): Terminal {
  const fd = openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY);
  const input = new ReadStream(fd);
  input.pause();
  input.setRawMode(true);
  discardTyped();
  return {
    write(text) {
      writeSync(fd, text);
    },
    readLine: (signal) => readLine(input, fd, signal),
    dispose() {
      discardTyped();
      input.setRawMode(false);
      input.destroy();
    },
  };
}

/** Empties the input queue: in raw mode every byte of it can be read at once. */
function discardTyped(): void {
  const fd = openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(4096);
  try {
    while (readSync(fd, buffer) > 0);
  } catch (error) {
    if (!isErrno(error, 'EAGAIN', 'EIO')) throw error; // empty, or hung up
  } finally {
    closeSync(fd);
  }
}

function readLine(input: ReadStream, fd: number, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const editor = createLineEditor((echo) => writeSync(fd, echo));
    const finish = (settle: () => void): void => {
      input.pause();
      input.off('data', data).off('end', gone).off('error', gone);
      signal.removeEventListener('abort', abort);
      settle();
    };
    const abort = (): void => {
      finish(() => {
        resolve(undefined);
      });
    };
    const gone = (): void => {
      finish(() => {
        reject(new Error('the terminal is gone'));
      });
    };
    const data = (chunk: Buffer): void => {
      const line = editor(chunk);
      if (line !== undefined) {
        finish(() => {
          resolve(line);
        });
      }
    };
    if (signal.aborted) {
      resolve(undefined);
      return;
    }
    signal.addEventListener('abort', abort);
    input.on('data', data).on('end', gone).on('error', gone).resume();
  });
}

/** Feeds typed bytes; returns the line at Enter, `deny` at Ctrl-C and Ctrl-D. What follows in the chunk is dropped. */
export function createLineEditor(
  echo: (text: string) => void,
): (chunk: Buffer) => string | undefined {
  let line = '';
  return (chunk) => {
    for (const character of chunk.toString('latin1')) {
      switch (character) {
        case '\r':
        case '\n':
          echo('\r\n');
          return line;
        case '\x03':
        case '\x04':
          echo('deny\r\n');
          return 'deny';
        case '\x7f':
        case '\b':
          if (line !== '') echo('\b \b');
          line = line.slice(0, -1);
          break;
        case '\x15':
          echo('\b \b'.repeat(line.length));
          line = '';
          break;
        default:
          if (character < ' ' || character > '~' || line.length >= LONGEST_ANSWER) break;
          line += character;
          echo(character);
      }
    }
    return undefined;
  };
}

const LONGEST_ANSWER = 20;
