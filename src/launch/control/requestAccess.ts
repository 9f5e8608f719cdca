// Asks from inside a run for what will be needed later: the supervisor answers at a socket that only a run has, and hands
// each wish to whoever is asked for the run (native/PROTOCOL.md). Loads little: a program may call it often.

import net from 'node:net';

import { CordonError } from '../../base/errors.js';
import { createChannel } from './channel.js';
import type { ChannelEnd } from './channel.js';
import { parseStrictJson } from './json.js';
import type { AccessWish, RequestFrame, WishErrorFrame, WishResult } from './wishes.js';
import { parseDecision } from './wishes.js';

/** An abstract name (unix(7)), which the supervisor recognises; on the host nobody listens there. */
const SOCKET = '\0cordon.request';

/**
 * Settles with one result for each wish, in their order, once all are answered, which takes as long as people do. Rejects
 * with CordonError `notInside` outside of a run, and `protocolBroken` when the run ends meanwhile.
 */
export async function requestAccess(
  want: readonly AccessWish[],
  because: string,
): Promise<readonly WishResult[]> {
  return requestOver(await connectInside(), want, because);
}

/** The same over a socket that is connected, which this takes over. */
export function requestOver(
  socket: net.Socket,
  want: readonly AccessWish[],
  because: string,
): Promise<readonly WishResult[]> {
  return new Promise((resolve, reject) => {
    const channel = createChannel<readonly WishResult[], RequestFrame | WishErrorFrame>(socket, {
      parse: (bytes) => parseDecision(parseStrictJson(bytes), want.length),
      receive(results) {
        resolve(results);
        channel.dispose();
      },
      complain: (message) => ({ kind: 'error', message }),
    });
    void channel.closed.then((end) => {
      reject(new CordonError('protocolBroken', endInWords(end)));
    });
    channel.send({ kind: 'request', want, because });
  });
}

function connectInside(): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(SOCKET);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (error) => {
      reject(new CordonError('notInside', '', { cause: error }));
    });
  });
}

function endInWords(end: ChannelEnd): string {
  return end.kind === 'broken' ? end.message : 'the supervisor has closed it';
}
