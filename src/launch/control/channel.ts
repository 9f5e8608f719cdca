// Frames over a stream socket: a u32 length, little endian, and that many bytes of JSON. A peer that breaks the protocol
// gets an error frame and loses the connection; when the connection ends, whoever listens is told once, with the reason.

import type { Socket } from 'node:net';

import type { Disposable } from '../../base/disposable.js';
import { CordonError } from '../../base/errors.js';
import type { ParseFrame } from './json.js';
import { MAX_FRAME_BYTES, MAX_PLAN_BYTES } from './limits.js';

const HEADER_BYTES = 4;
/** What may wait for a peer that does not read, above one plan; it is broken then. */
const MAX_UNSENT_BYTES = 16 << 20;

/** `ended`: by the peer, between two frames. `closed`: by us. `broken`: anything else. */
export type ChannelEnd =
  | { readonly kind: 'ended' }
  | { readonly kind: 'closed' }
  | { readonly kind: 'broken'; readonly message: string };

export interface Channel<Out> extends Disposable {
  /** Settles once, never rejects. */
  readonly closed: Promise<ChannelEnd>;
  /** False when the channel is closed; the frame is dropped then. */
  send(frame: Out): boolean;
  /** Sends what is queued, then closes. */
  dispose(): void;
}

export interface ChannelOptions<In, Out> {
  readonly parse: ParseFrame<In>;
  /** Called for each frame, in order, never after `closed` has settled. A throw breaks the channel. */
  readonly receive: (frame: In) => void;
  /** The frame that tells the peer how it broke the protocol. */
  readonly complain: (message: string) => Out;
  /** The largest frame taken from the peer. */
  readonly maxBytes?: number;
}

/** The bytes of a frame. Throws when it is longer than its kind may be. */
export function encodeFrame(frame: { readonly kind: string }): Buffer {
  const maxBytes = frame.kind === 'plan' ? MAX_PLAN_BYTES : MAX_FRAME_BYTES;
  const body = Buffer.from(JSON.stringify(frame), 'utf8');
  if (body.length > maxBytes) {
    throw new CordonError(
      'planTooLarge',
      `${frame.kind} of ${body.length} bytes, the limit is ${maxBytes}`,
    );
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  return Buffer.concat([header, body]);
}

/** Cuts a byte stream into frames. `push` throws on a length that no frame has. */
export class FrameSplitter {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether bytes of an unfinished frame are kept. */
  get isInside(): boolean {
    return this.#size > 0;
  }

  *push(chunk: Buffer): Generator<Buffer> {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (;;) {
      if (this.#size < HEADER_BYTES) return;
      const length = this.#peek(HEADER_BYTES).readUInt32LE();
      if (length === 0 || length > this.#maxBytes) {
        throw new Error(`a frame of ${length} bytes; the limit is ${this.#maxBytes}`);
      }
      if (this.#size < HEADER_BYTES + length) return;
      const all = this.#peek(this.#size);
      this.#chunks = [all.subarray(HEADER_BYTES + length)];
      this.#size -= HEADER_BYTES + length;
      yield all.subarray(HEADER_BYTES, HEADER_BYTES + length);
    }
  }

  /** The first `count` bytes; joins chunks only when they do not lie in the first one. */
  #peek(count: number): Buffer {
    const first = this.#chunks[0];
    if (first !== undefined && first.length >= count) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

/** Takes over the socket: nobody else reads, writes or closes it afterwards. */
export function createChannel<In, Out extends { readonly kind: string }>(
  socket: Socket,
  options: ChannelOptions<In, Out>,
): Channel<Out> {
  const splitter = new FrameSplitter(options.maxBytes ?? MAX_FRAME_BYTES);
  let end: ChannelEnd | undefined; // the first reason wins

  const send = (frame: Out): boolean => {
    if (end !== undefined || !socket.writable) return false;
    const flowing = socket.write(encodeFrame(frame));
    // A peer that does not read its answers is not read either, until it does.
    if (!flowing) socket.pause();
    if (socket.writableLength > MAX_UNSENT_BYTES)
      finish({ kind: 'broken', message: 'the peer does not read' });
    return true;
  };

  const finish = (reason: ChannelEnd): void => {
    if (end !== undefined) return;
    end = reason;
    if (reason.kind === 'broken' && socket.writable && socket.writableLength === 0) {
      socket.write(encodeFrame(options.complain(reason.message)));
    }
    if (socket.writableLength > MAX_UNSENT_BYTES) socket.destroy();
    else socket.destroySoon(); // sends what is queued first
  };

  const receive = (chunk: Buffer): void => {
    try {
      for (const bytes of splitter.push(chunk)) {
        if (end !== undefined) return;
        options.receive(options.parse(bytes));
      }
    } catch (error) {
      finish({ kind: 'broken', message: error instanceof Error ? error.message : String(error) });
    }
  };

  const closed = new Promise<ChannelEnd>((resolve) => {
    socket.on('close', () => {
      finish(
        splitter.isInside
          ? { kind: 'broken', message: 'the peer left inside a frame' }
          : { kind: 'ended' },
      );
      resolve(end ?? { kind: 'ended' });
    });
  });
  socket.on('data', receive);
  socket.on('drain', () => socket.resume());
  socket.on('error', (error) => {
    finish({ kind: 'broken', message: error.message });
  });

  return {
    closed,
    send,
    dispose: () => {
      finish({ kind: 'closed' });
    },
  };
}
