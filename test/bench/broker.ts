// The smallest broker: answers every hello with the same plan and refuses every question. With it in the benchmark's own
// process, a launch is measured without the start of the program that would ask for it.

import { createServer, type Server, type Socket } from 'node:net';

export interface BenchBroker {
  readonly socket: string;
  close(): void;
}

export async function listen(socket: string, plan: object): Promise<BenchBroker> {
  const open = new Set<Socket>();
  let runs = 0;
  const server: Server = createServer((peer) => {
    open.add(peer);
    peer.on('close', () => open.delete(peer));
    peer.on('error', () => peer.destroy());
    onFrames(peer, (frame) => {
      if (frame.kind === 'hello') {
        runs += 1;
        send(peer, { ...plan, run: `bench${runs}` });
      } else if (frame.kind === 'ask') {
        send(peer, { kind: 'answer', id: frame.id, ...DENIED });
      }
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socket, resolve);
  });
  return {
    socket,
    close() {
      server.close();
      for (const peer of open) peer.destroy();
    },
  };
}

const DENIED = { effect: 'deny', reason: 'noInterface', addresses: [], opens: [], message: null };

interface Frame {
  readonly kind: string;
  readonly id?: number;
}

function onFrames(peer: Socket, take: (frame: Frame) => void): void {
  let bytes = Buffer.alloc(0);
  peer.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32LE(0)) {
      const end = 4 + bytes.readUInt32LE(0);
      take(JSON.parse(bytes.toString('utf8', 4, end)) as Frame);
      bytes = bytes.subarray(end);
    }
  });
}

function send(peer: Socket, frame: object): void {
  const body = Buffer.from(JSON.stringify(frame));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  peer.write(Buffer.concat([length, body]));
}
