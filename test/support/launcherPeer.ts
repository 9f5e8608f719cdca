// Plays the broker for one cordon-launch: frames as plain objects, and as bytes where they are meant to be wrong.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { createDeferred } from '../../src/base/deferred.js';

export const launcher = path.resolve(
  import.meta.dirname,
  `../../dist/native/linux-${process.arch}/cordon-launch`,
);

export type Frame = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A plan that makes `directory` writable and nothing else; `parts` replace its keys. */
export function planFor(directory: string, parts: Readonly<Record<string, unknown>> = {}): Frame {
  return {
    kind: 'plan',
    run: 'test',
    engine: 'namespaces',
    directory,
    mounts: [
      { op: 'private', path: '/tmp' },
      { op: 'writable', path: directory },
    ],
    network: { mode: 'off', rules: [], hostPorts: [] },
    files: {
      roots: [],
      names: [],
      protected: [],
      packages: [],
      quiet: [],
      git: 'protect',
      repositories: [],
    },
    sockets: { rules: [], agents: [] },
    publish: { mode: 'private', ports: [] },
    opens: [],
    environment: { drop: [], keep: [], set: [] },
    limits: { answerMs: 5000, brokerMs: 1000 },
    brokerLoss: 'end',
    terminal: 'inherit',
    ...parts,
  };
}

/** For `reply`: every question is answered no. */
export function deny(frame: Frame): Frame | undefined {
  if (frame.kind !== 'ask') return undefined;
  return {
    kind: 'answer',
    id: frame['id'],
    effect: 'deny',
    reason: 'user',
    addresses: [],
    opens: [],
    message: 'no',
  };
}

/** The bytes of a frame. */
export function encode(frame: Frame | string): Buffer {
  const text = Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame), 'utf8');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text]);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly frames: readonly Frame[];
}

export interface Peer {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  /** The first frame of that kind, or the one after so many others; at once when it has come already. */
  frame(kind: string, others?: number): Promise<Frame>;
  /** The first frame of that kind which is so, come already or to come. */
  frameWhere(kind: string, isWanted: (frame: Frame) => boolean): Promise<Frame>;
  send(frame: Frame): void;
  sendBytes(bytes: Buffer): void;
  hangUp(): void;
}

export interface PeerOptions {
  readonly cwd: string;
  /** The answer to hello; nothing is sent without. */
  readonly plan?: Frame | Buffer;
  /** What is said at once to a frame; for questions, mostly. */
  readonly reply?: (frame: Frame) => Frame | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** The words of a command that runs the launcher; default: none. */
  readonly within?: readonly string[];
  readonly stdio?: StdioOptions;
}

/** Starts a launcher whose CORDON_BROKER is a socket that this listens on. */
export function startLauncher(command: readonly string[], options: PeerOptions): Promise<Peer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'peer-'));
  const address = path.join(folder, 'broker.sock');
  const frames: Frame[] = [];
  const waiting = new Set<(frame: Frame) => void>();
  const connection = createDeferred<net.Socket>();
  const server = net.createServer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined); // the launcher may go at any time
    socket.on('data', (data: Buffer) => {
      bytes = Buffer.concat([bytes, data]);
      for (;;) {
        if (bytes.length < 4 || bytes.length < 4 + bytes.readUInt32LE(0)) return;
        const end = 4 + bytes.readUInt32LE(0);
        const frame = JSON.parse(bytes.subarray(4, end).toString('utf8')) as Frame;
        bytes = bytes.subarray(end);
        frames.push(frame);
        for (const look of waiting) look(frame);
        const reply = options.reply?.(frame);
        if (reply !== undefined) socket.write(encode(reply));
        if (frame.kind === 'hello' && options.plan !== undefined) {
          socket.write(Buffer.isBuffer(options.plan) ? options.plan : encode(options.plan));
        }
      }
    });
    connection.resolve(socket);
  });
  const started = createDeferred<Peer>();
  server.listen(address, () => {
    const [program = launcher, ...words] = [...(options.within ?? []), launcher, '--', ...command];
    const child = spawn(program, words, {
      cwd: options.cwd,
      env: { PATH: '/usr/bin:/bin', ...options.environment, CORDON_BROKER: address },
      stdio: options.stdio ?? ['ignore', 'pipe', 'pipe'],
    });
    const output = { stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    const ended = createDeferred<Ended>();
    child.on('error', started.reject);
    child.on('close', (code, signal) => {
      server.close(() => {
        // Its connections have ended, so its last frame is here too.
        rmSync(folder, { recursive: true });
        ended.resolve({ code, signal, ...output, frames });
      });
    });
    const frameWhere: Peer['frameWhere'] = (kind, isWanted) => {
      const isIt = (frame: Frame): boolean => frame.kind === kind && isWanted(frame);
      const known = frames.find(isIt);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => {
        const look = (frame: Frame): void => {
          if (!isIt(frame)) return;
          waiting.delete(look);
          resolve(frame);
        };
        waiting.add(look);
      });
    };
    started.resolve({
      process: child,
      ended: ended.promise,
      frame: (kind, others = 0) => {
        let left = others;
        return frameWhere(kind, () => left-- === 0);
      },
      frameWhere,
      send: (frame) => void connection.promise.then((socket) => socket.write(encode(frame))),
      sendBytes: (bytes) => void connection.promise.then((socket) => socket.write(bytes)),
      hangUp: () => void connection.promise.then((socket) => socket.destroy()),
    });
  });
  return started.promise;
}

/** To its end. */
export async function launch(command: readonly string[], options: PeerOptions): Promise<Ended> {
  return (await startLauncher(command, options)).ended;
}
