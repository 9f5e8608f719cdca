// Why a host is open or closed, in words with the rule that decides: `cordon explain HOST`. Says what decide does, nothing of
// its own. Paths are explained by the plan (plan/explain.ts), since what they lead to depends on the machine.

import { assertNever } from '../base/assertNever.js';
import { decide, judgeAddresses } from './decide.js';
import { normalHost, parseHostPattern, writePattern } from './hosts.js';
import { describeOrigin } from './origin.js';
import type { Policy } from './policy.js';
import type { NetworkObject } from './request.js';
import type { Effect } from './rules.js';

export interface Explanation {
  /** One sentence. */
  readonly decision: string;
  /** The rule that decides, and where it is written. */
  readonly because: string;
  readonly effect: Effect;
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
export function explainObject(policy: Policy, object: NetworkObject): Explanation {
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

function objectText(object: NetworkObject): string {
  if ('address' in object)
    return object.address.includes(':')
      ? `[${object.address}]:${object.port}`
      : `${object.address}:${object.port}`;
  return 'port' in object ? `${object.host}:${object.port}` : object.host;
}
