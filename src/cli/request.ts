// `cordon request`, for programs inside a run: asks for what they will need, with a reason, before they need it. It decides
// nothing, and says what came of each wish.

import path from 'node:path';
import { quoted, say } from './messages.js';
import { UsageError } from './usage.js';
import { requestAccess } from '../session/requestAccess.js';
import { reasonInWords } from '../session/words.js';
import type { Access } from '../policy/grant.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { AccessWish, WishResult } from '../session/requestAccess.js';

export interface RequestFlags {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly git?: readonly string[];
  readonly socket?: readonly string[];
  readonly host?: readonly string[];
  readonly publish?: readonly string[];
  readonly because: string;
}

const EXIT_REFUSED = 1;
/** What a person reads through before answering. */
const LONGEST_REASON = 1000;
const MOST_WISHES = 32;

export async function request(flags: RequestFlags): Promise<number> {
  const wishes = wishesOf(flags);
  if (wishes.length === 0) {
    throw new UsageError('nothing is asked for: name a --read, --write, --host or the like');
  }
  if (wishes.length > MOST_WISHES) {
    throw new UsageError(
      `${wishes.length} things at once; a person can be asked about ${MOST_WISHES}`,
    );
  }
  const because = flags.because.trim();
  if (because === '') throw new UsageError('--because needs a reason that a person can judge by');
  if (because.length > LONGEST_REASON) {
    throw new UsageError(`--because is longer than ${LONGEST_REASON} characters`);
  }
  const results = await requestAccess(wishes, because);
  const refused = results.flatMap((result, index) => {
    const wish = wishes[index];
    return result.effect === 'allow' || wish === undefined ? [] : [refusalOf(wish, result)];
  });
  for (const line of refused) say(line);
  return refused.length === 0 ? 0 : EXIT_REFUSED;
}

export function wishesOf(flags: RequestFlags): readonly AccessWish[] {
  const places = (access: Access, paths: readonly string[] = []): readonly AccessWish[] =>
    paths.map((each) => ({ access, path: path.resolve(each) as AbsolutePath }));
  return [
    ...places('read', flags.read),
    ...places('write', flags.write),
    ...places('git', flags.git),
    ...places('socket', flags.socket),
    ...(flags.host ?? []).map(parseHost),
    ...(flags.publish ?? []).map((port) => ({ publish: parsePort('--publish', port) })),
  ];
}

/** `HOST:PORT`, `192.0.2.1:22` or `[2001:db8::1]:443`. */
function parseHost(text: string): AccessWish {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || port === undefined) {
    throw new UsageError(`--host ${quoted(text)} must be HOST:PORT`);
  }
  return { host: host.toLowerCase().replace(/\.$/, ''), port: parsePort('--host', port) };
}

function parsePort(flag: string, text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`${flag} ${quoted(text)}: a port is a number from 1 to 65535`);
}

function refusalOf(wish: AccessWish, { reason, message }: WishResult): string {
  const why = message?.replace(/^cordon: /, '') ?? `not allowed (${reasonInWords(reason)})`;
  return `${wishText(wish)}: ${why}`;
}

function wishText(wish: AccessWish): string {
  if ('access' in wish) return `--${wish.access} ${quoted(wish.path)}`;
  return 'publish' in wish
    ? `--publish ${wish.publish}`
    : `--host ${quoted(wish.host)}:${wish.port}`;
}
