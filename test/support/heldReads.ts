// A launcher with closed places whose reads are held, and a broker that answers as the test says.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { planFor, startLauncher } from './launcherPeer.js';
import type { Ended, Frame, Peer } from './launcherPeer.js';

/** `once`: this call; a list: these paths from now on; `wait`: the test answers later, or never. */
export type Reply = 'deny' | 'once' | 'wait' | readonly string[];

export interface ReadAsk extends Frame {
  readonly kind: 'ask';
  readonly id: number;
  readonly action: string;
  readonly object: { readonly path: string; readonly folder: string | null };
  readonly subject: {
    readonly pid: number;
    readonly executable: string;
    readonly arguments: readonly string[];
  };
}

export interface Closed {
  /** Holds all of this; below the home, since /tmp is private inside. */
  readonly folder: string;
  readonly workspace: string;
  /** A closed folder with `key`, `other` and `sub/deep`. */
  readonly secret: string;
  /** A closed file. */
  readonly file: string;
}

/** Removed with the test. */
export function createClosed(t: { after(end: () => void): void }): Closed {
  const folder = mkdtempSync(path.join(os.homedir(), 'held-'));
  t.after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const workspace = path.join(folder, 'ws');
  const secret = path.join(folder, 'secret');
  const file = path.join(folder, 'netrc');
  mkdirSync(workspace);
  mkdirSync(path.join(secret, 'sub'), { recursive: true });
  writeFileSync(path.join(secret, 'key'), 'SECRET\n');
  writeFileSync(path.join(secret, 'other'), 'OTHER\n');
  writeFileSync(path.join(secret, 'sub/deep'), 'DEEP\n');
  writeFileSync(file, 'NETRC\n');
  return { folder, workspace, secret, file };
}

export interface HeldOptions {
  readonly names?: boolean;
  /** Instead of tripwires over `secret` and `file`; the workspace is writable in any case. */
  readonly mounts?: readonly Readonly<Record<string, unknown>>[];
  readonly answer?: (ask: ReadAsk) => Reply;
  readonly plan?: Readonly<Record<string, unknown>>;
  /** On a host whose /dev/fuse is none. */
  readonly withoutFuse?: boolean;
}

const WITHOUT_FUSE = [
  ...['unshare', '--user', '--map-current-user', '--keep-caps', '--mount', '--', 'sh', '-ec'],
  ...['mount --bind /dev/null /dev/fuse; exec "$@"', 'sh'],
];

export interface HeldRun {
  readonly peer: Peer;
  readonly ended: Promise<Ended>;
  /** The questions about reads; any other is answered with a refusal. */
  readonly asks: readonly ReadAsk[];
  /** The nth question, come already or to come; from 1. */
  asked(id: number): Promise<ReadAsk>;
  reply(id: number, reply: Reply): void;
  revoke(path: string): Promise<Frame>;
}

export async function startHeld(
  place: Closed,
  command: readonly string[],
  options: HeldOptions = {},
): Promise<HeldRun> {
  const names = options.names ?? true;
  const mounts = options.mounts ?? [
    { op: 'tripwire', path: place.secret, names },
    { op: 'tripwire', path: place.file, names },
  ];
  const peer = await startLauncher(command, {
    cwd: place.workspace,
    environment: { HOME: place.folder },
    within: options.withoutFuse === true ? WITHOUT_FUSE : [],
    plan: planFor(place.workspace, {
      mounts: [
        { op: 'private', path: '/tmp' },
        ...mounts,
        { op: 'writable', path: place.workspace },
      ],
      ...options.plan,
    }),
  });
  const asks: ReadAsk[] = [];
  const asked = async (id: number): Promise<ReadAsk> =>
    (await peer.frameWhere('ask', (frame) => frame['id'] === id)) as ReadAsk;
  const reply = (id: number, answer: Reply): void => {
    if (answer === 'wait') return;
    peer.send({
      kind: 'answer',
      id,
      effect: answer === 'deny' ? 'deny' : 'allow',
      reason: 'user',
      opens:
        typeof answer === 'string' ? [] : answer.map((open) => ({ access: 'read', path: open })),
      addresses: [],
      message: null,
    });
  };
  const follow = async (): Promise<never> => {
    for (let id = 1; ; id += 1) {
      const ask = await asked(id);
      const isRead = ask.action === 'read';
      if (isRead) asks.push(ask);
      reply(id, isRead ? (options.answer?.(ask) ?? 'wait') : 'deny');
    }
  };
  void follow();
  return {
    peer,
    ended: peer.ended,
    asks,
    asked,
    reply,
    revoke(open) {
      peer.send({
        kind: 'revoke',
        connections: [],
        opens: [{ access: 'read', path: open }],
        ports: [],
      });
      return peer.frame('revoked');
    },
  };
}

/** To its end. */
export async function runHeld(
  place: Closed,
  command: readonly string[],
  options: HeldOptions = {},
): Promise<Ended & { readonly asked: readonly string[] }> {
  const run = await startHeld(place, command, options);
  const ended = await run.ended;
  return {
    ...ended,
    asked: run.asks.map(({ object }) => path.relative(place.folder, object.path)),
  };
}
