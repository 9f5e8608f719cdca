// What the broker asks of the policy of one run, with every rule put into words: rule, and where it was written.

import { decide, judgeAddresses } from '../policy/decide.js';
import { writePattern } from '../policy/hosts.js';
import type { Origin } from '../policy/origin.js';
import { describeOrigin } from '../policy/origin.js';
import { contains } from '../policy/paths.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { Policy } from '../policy/policy.js';
import type { NetworkObject, Wanted, Worded } from '../policy/request.js';
import { opensOf, targetOf, whyOf } from './actions.js';
import { placeOf } from './places.js';

export type AddressDecision = {
  /** As it is compared and dialled: IPv4-mapped IPv6 addresses are IPv4. */
  readonly address: string;
} & (
  | { readonly effect: 'allow' }
  | { readonly effect: 'deny'; readonly rule: string }
  /** Not a public address, and no rule covers it; `place` says in words where it leads. */
  | { readonly effect: 'ask'; readonly place: string }
);

export interface RunPolicy {
  /**
   * What the rules say; `rule` names what decided with its origin, for people. What the supervisor has judged by its plan
   * and could not answer is a question, unless the administrator rules it out.
   */
  decide(wanted: Wanted): {
    readonly effect: 'allow' | 'deny' | 'ask';
    readonly rule: string;
  };
  /** Whether an answer may open more than the call, as far as the administrator limits it. */
  mayWiden(wanted: Wanted): boolean;
  /** What they say of an address that a name resolved to. */
  decideAddress(address: string, port: number): AddressDecision;
  /** Why the plan refused it; `rule` is the number of a network rule in the plan, null the mode. */
  describe(worded: Worded, rule: number | null): string;
}

export function runPolicyOf({ network, filesystem }: Policy): RunPolicy {
  const describeRule = (index: number | null): string => {
    const rule = index === null ? undefined : network.rules[index];
    if (rule !== undefined)
      return `${rule.effect} ${writePattern(rule.pattern)}: ${describeOrigin(rule.origin)}`;
    return `network mode ${network.mode.value}: ${describeOrigin(network.mode.origin)}`;
  };
  const decideNetwork = (object: NetworkObject): ReturnType<RunPolicy['decide']> => {
    const { effect, rule } = decide(network, object);
    return { effect, rule: describeRule(rule) };
  };
  const isWithinLimit = (path: AbsolutePath): boolean =>
    filesystem.rootLimit?.some((root) => contains(root, path)) ?? true;
  /** Cordon's program and the files that settings come from, wherever they are: whoever changes them changes the boundary. */
  const ours = filesystem.protectedPaths.filter(
    ({ origin, root }) => origin.kind === 'fixed' && root === undefined,
  );
  const touchesOurs = (path: AbsolutePath): boolean =>
    ours.some((own) => contains(own.path, path) || contains(path, own.path));

  /** What is Cordon's own, and what the administrator has closed or protected, is no question. */
  const forbidden = (wanted: Wanted): string | undefined => {
    switch (wanted.action) {
      case 'write':
        if (touchesOurs(wanted.object.path)) return 'it is a part of Cordon, or leads to one';
        if (!isWithinLimit(wanted.object.path)) return 'the administrator keeps it read-only';
        return wanted.object.protected
          ? firmWords('protected', filesystem.protectedPaths.filter(isManaged), wanted.object.path)
          : undefined;
      case 'git':
        return isWithinLimit(wanted.object.repository)
          ? undefined
          : 'the administrator keeps it read-only';
      case 'read':
        return firmWords('closed', filesystem.denyRead.filter(isFirm), wanted.object.path);
      case 'connect':
      case 'lookup':
      case 'socket':
      case 'sign':
      case 'publish':
        return undefined;
    }
  };

  return {
    decide(wanted) {
      if (wanted.action === 'connect' || wanted.action === 'lookup')
        return decideNetwork(wanted.object);
      const rule = forbidden(wanted);
      if (rule !== undefined) return { effect: 'deny', rule };
      return { effect: 'ask', rule: whyOf(wanted) ?? '' };
    },
    mayWiden: (wanted) =>
      opensOf(targetOf(wanted)).every(
        ({ access, path }) =>
          (access !== 'write' && access !== 'git') || (isWithinLimit(path) && !touchesOurs(path)),
      ),
    decideAddress(text, port) {
      const [judged] = judgeAddresses(network, port, [text]);
      if (judged === undefined) return { address: text, effect: 'deny', rule: 'not an address' };
      const { address, effect, rule } = judged;
      switch (effect) {
        case 'allow':
          return { address, effect };
        case 'deny':
          return { address, effect, rule: describeRule(rule) };
        case 'ask':
          return { address, effect, place: placeOf(address) };
      }
    },
    describe: (worded, rule) => whyOf(worded) ?? describeRule(rule),
  };
}

interface Placed {
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

function isManaged({ origin }: Placed): boolean {
  return origin.kind === 'setting' && origin.source.kind === 'managed';
}

function isFirm(place: Placed): boolean {
  return place.origin.kind === 'fixed' || isManaged(place);
}

function firmWords(how: string, places: readonly Placed[], path: AbsolutePath): string | undefined {
  const place = places.find((each) => contains(each.path, path));
  return place === undefined ? undefined : `${how}: ${describeOrigin(place.origin)}`;
}
