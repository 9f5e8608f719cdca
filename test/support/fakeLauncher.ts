// Plays the launcher's part over a socket: says what a test tells it to say.

import net from 'node:net';

import type { Channel, ChannelEnd } from '../../src/launch/control/channel.js';
import { createChannel } from '../../src/launch/control/channel.js';
import type { BrokerFrame, HelloFrame, LauncherFrame } from '../../src/launch/control/schema.js';
import { MAX_PLAN_BYTES } from '../../src/launch/control/limits.js';
import { createBrokerParser } from '../../src/launch/control/schema.js';
import type { AbsolutePath } from '../../src/policy/paths.js';
import type { Wanted } from '../../src/policy/request.js';
import { curl } from './brokerBench.js';

export interface FakeLauncher {
  /** Everything that the broker sent, in order. */
  readonly frames: readonly BrokerFrame[];
  /** The next frame that has not been taken yet; rejects when the connection ends before. */
  next(): Promise<BrokerFrame>;
  /** The next frame of this kind; others before it are passed over. */
  nextOf<K extends BrokerFrame['kind']>(kind: K): Promise<Extract<BrokerFrame, { kind: K }>>;
  send(frame: LauncherFrame): void;
  /** Bytes that need not be a frame. */
  write(bytes: Uint8Array): void;
  hello(about?: Partial<HelloFrame>): void;
  ask(id: number, host: string): void;
  /** Asks for anything, by curl. */
  want(id: number, wanted: Wanted, because?: string): void;
  close(): void;
  readonly closed: Promise<ChannelEnd>;
}

/** Connects to a session's socket, or takes over one that is connected. */
export function createFakeLauncher(to: string | net.Socket): FakeLauncher {
  const socket = typeof to === 'string' ? net.connect(to) : to;
  const frames: BrokerFrame[] = [];
  const waiting: { resolve: (frame: BrokerFrame) => void; reject: (error: Error) => void }[] = [];
  let taken = 0;
  const channel: Channel<LauncherFrame> = createChannel<BrokerFrame, LauncherFrame>(socket, {
    parse: createBrokerParser(),
    maxBytes: MAX_PLAN_BYTES,
    complain: (message) => ({ kind: 'error', code: 'protocol', stage: '', message, errno: 0 }),
    receive(frame) {
      frames.push(frame);
      const waiter = waiting.shift();
      if (waiter === undefined) return;
      taken += 1;
      waiter.resolve(frame);
    },
  });
  let isOver = false;
  void channel.closed.then(({ kind }) => {
    isOver = true;
    for (const { reject } of waiting.splice(0))
      reject(new Error(`the connection is over: ${kind}`));
  });

  const next = (): Promise<BrokerFrame> => {
    const frame = frames[taken];
    if (frame !== undefined) {
      taken += 1;
      return Promise.resolve(frame);
    }
    if (isOver) return Promise.reject(new Error('the connection is over'));
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
  const want: FakeLauncher['want'] = (id, wanted, because) => {
    channel.send({
      kind: 'ask',
      id,
      subject: curl,
      because: because ?? null,
      ...wanted,
      rule: null,
      want: 'decision',
    });
  };
  return {
    frames,
    next,
    async nextOf<K extends BrokerFrame['kind']>(kind: K) {
      for (;;) {
        const frame = await next();
        if (isOfKind(frame, kind)) return frame;
      }
    },
    send(frame) {
      channel.send(frame);
    },
    write(bytes) {
      socket.write(bytes);
    },
    hello(about = {}) {
      channel.send({
        kind: 'hello',
        protocol: 1,
        pid: process.pid,
        directory: '/' as AbsolutePath,
        arguments: ['sh'],
        terminal: false,
        run: null,
        ...about,
      });
    },
    ask(id, host) {
      want(id, { action: 'connect', object: { host, port: 443 } });
    },
    want,
    close() {
      channel.dispose();
    },
    closed: channel.closed,
  };
}

function isOfKind<K extends BrokerFrame['kind']>(
  frame: BrokerFrame,
  kind: K,
): frame is Extract<BrokerFrame, { kind: K }> {
  return frame.kind === kind;
}
