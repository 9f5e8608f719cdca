// Why a path or host is open or closed, in words with the rule that decides: `cordon explain`. Must say what decide and the
// plan do, nothing of its own; what lies behind links is for the caller to resolve first.

import { assertNever } from '../base/assertNever.js';
import { decide, judgeAddresses } from './decide.js';
import { normalHost, parseHostPattern, writePattern } from './hosts.js';
import { describeOrigin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import { contains } from './paths.js';
import type { Policy } from './policy.js';
import type { RequestObject } from './request.js';
import type { Effect } from './rules.js';

export interface Explanation {
  /** One sentence. */
  readonly decision: string;
  /** The rule that decides, and where it is written. */
  readonly because: string;
  readonly effect: Effect;
}

export interface PathExplanation {
  readonly read: Explanation;
  readonly write: Explanation;
}

/** Reading and writing a path. A closed place wins over a protected one, that over a writable root. */
export function explainPath(policy: Policy, path: AbsolutePath): PathExplanation {
  const { filesystem } = policy;
  const closed = filesystem.denyRead.find((place) => contains(place.path, path));
  if (closed !== undefined) {
    const because = `${closed.path} is closed (${describeOrigin(closed.origin)})`;
    return {
      read: { effect: 'deny', decision: `${path} cannot be read`, because },
      write: { effect: 'deny', decision: `${path} cannot be written to`, because },
    };
  }
  const read: Explanation = {
    effect: 'allow',
    decision: `${path} can be read`,
    because: 'everything can be read that is not closed',
  };
  return { read, write: explainWrite(policy, path) };
}

function explainWrite({ filesystem }: Policy, path: AbsolutePath): Explanation {
  const denied = (because: string): Explanation => ({
    effect: 'deny',
    decision: `${path} cannot be written to`,
    because,
  });
  const allowed = (because: string): Explanation => ({
    effect: 'allow',
    decision: `${path} can be written to`,
    because,
  });
  const root = filesystem.writableRoots.find((candidate) => contains(candidate.path, path));
  if (root !== undefined) {
    const item = filesystem.protectedPaths.find((candidate) => contains(candidate.path, path));
    if (item !== undefined)
      return denied(`${item.path} is protected (${describeOrigin(item.origin)})`);
    return allowed(`${root.path} is a writable root (${describeOrigin(root.origin)})`);
  }
  if (
    path === '/tmp' ||
    path.startsWith('/tmp/') ||
    path === '/var/tmp' ||
    path.startsWith('/var/tmp/')
  ) {
    const { value, origin } = filesystem.temp;
    return allowed(`temporary folders are ${value} (${describeOrigin(origin)})`);
  }
  return denied('it lies in no writable root');
}

/** `HOST`, `HOST:PORT`, an address, `localhost:PORT`; without a port, 443. `undefined` when the text is none of these. */
export function explainHost(policy: Policy, text: string): Explanation | undefined {
  const parsed = parseHostPattern(text);
  if (parsed.kind === 'bad') return undefined;
  const { pattern } = parsed;
  const port = pattern.ports[0] === 1 && pattern.ports[1] === 65535 ? 443 : pattern.ports[0];
  switch (pattern.kind) {
    case 'hostPort':
      return explainHostPort(policy, port);
    case 'host':
      return normalHost(pattern.host) === undefined
        ? undefined
        : explainObject(policy, { host: pattern.host, port });
    case 'network': {
      const { prefix, bits, text: network } = pattern.network;
      if (prefix !== bits) return undefined;
      return explainObject(policy, { address: network.slice(0, network.lastIndexOf('/')), port });
    }
    default:
      return assertNever(pattern);
  }
}

/** Why a request was decided as it was, also for questions and denials. */
export function explainObject(policy: Policy, object: RequestObject): Explanation {
  const { effect, rule } = decide(policy.network, object);
  const decision = `${objectText(object)} ${effectWords[effect]}`;
  const matched = rule === null ? undefined : policy.network.rules[rule];
  if (matched !== undefined) {
    return {
      effect,
      decision,
      because: `${writePattern(matched.pattern)} (${describeOrigin(matched.origin)})`,
    };
  }
  const { value, origin } = policy.network.mode;
  return {
    effect,
    decision,
    because: `no rule names it, and network.mode is ${value} (${describeOrigin(origin)})`,
  };
}

/** What becomes of the addresses of an allowed name, one line each; only those that are not simply dialled. */
export function explainAddresses(
  policy: Policy,
  port: number,
  addresses: readonly string[],
): readonly string[] {
  return judgeAddresses(policy.network, port, addresses).flatMap(({ address, effect, rule }) => {
    const matched = rule === null ? undefined : policy.network.rules[rule];
    if (matched !== undefined) {
      return [
        `${address} ${effectWords[effect]}: ${writePattern(matched.pattern)} (${describeOrigin(matched.origin)})`,
      ];
    }
    if (effect === 'allow') return [];
    return [
      `${address} ${effectWords[effect]}: it is private, loopback, link-local or otherwise special`,
    ];
  });
}

function explainHostPort(policy: Policy, port: number): Explanation {
  const open = policy.network.hostPorts.find(({ value }) => value === port);
  return open === undefined
    ? {
        effect: 'deny',
        decision: `port ${port} of this machine is not reached`,
        because: `no rule lets localhost:${port} in`,
      }
    : {
        effect: 'allow',
        decision: `port ${port} of this machine is reached`,
        because: describeOrigin(open.origin),
      };
}

const effectWords = { allow: 'is allowed', deny: 'is denied', ask: 'is asked about' } as const;

function objectText(object: RequestObject): string {
  if ('address' in object)
    return object.address.includes(':')
      ? `[${object.address}]:${object.port}`
      : `${object.address}:${object.port}`;
  return 'port' in object ? `${object.host}:${object.port}` : object.host;
}
