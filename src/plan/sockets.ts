// Unix sockets of this machine, by real path: the supervisor resolves what a program connects to.

import type { AbsolutePath } from '../policy/paths.js';
import { contains, outermost } from '../policy/paths.js';
import type { SocketsPolicy } from '../policy/policy.js';
import type { Facts } from './host.js';
import { endOf, targetOf } from './host.js';
import type { LinuxPlan, Mount } from './plan.js';

/** Paths whose facts `planSockets` wants. */
export function socketPaths({ rules, agentSockets }: SocketsPolicy): readonly AbsolutePath[] {
  return [...rules, ...agentSockets].map(({ path }) => path);
}

export function planSockets(
  { rules, agentSockets }: SocketsPolicy,
  facts: Facts,
): LinuxPlan['sockets'] {
  return {
    rules: rules.map(({ effect, path }) => ({ effect, path: endOf(facts, path) })),
    agents: agentSockets.map(({ kind, path }) => ({ kind, path: endOf(facts, path) })),
  };
}

/** Sockets in a folder that is empty and private inside: they are put back, since a program finds them by their path. */
export function socketMounts(
  { agentSockets, rules }: SocketsPolicy,
  hidden: readonly AbsolutePath[],
  facts: Facts,
): readonly Mount[] {
  const reached = [...agentSockets, ...rules.filter(({ effect }) => effect === 'allow')];
  const wanted = reached.flatMap(({ path }) => targetOf(facts.paths.get(path))?.real ?? []);
  return outermost(wanted)
    .filter((path) => hidden.some((folder) => contains(folder, path) && folder !== path))
    .map((path) => ({ op: 'readable', path }));
}

/** Where no call can be held, nothing keeps a program from a socket that it sees: these are hidden. */
export function hiddenSockets({ rules }: SocketsPolicy, facts: Facts): readonly AbsolutePath[] {
  return rules
    .filter(({ effect, path }) => effect !== 'allow' && !NEEDED.includes(path))
    .flatMap(({ path }) => targetOf(facts.paths.get(path))?.real ?? []);
}

/** Holds the resolver's configuration as well. */
const NEEDED: readonly string[] = ['/run/systemd'];
