// Which unix sockets of this machine are reached, refused or asked about. The list that comes out decides from top to bottom:
//   1. Cordon's own, and what anybody denies
//   2. what the user allows
//   3. container engines: asked about
//   4. the desktop, the system and the user's other programs: denied
// and everything else is asked about. Agents come before all of it, but for what is denied in 1.

import type { Layer, Problem } from '../settings/layers.js';
import type { AgentsMode } from '../settings/schema.js';
import { entriesOf } from './authority.js';
import { agentSockets, deniedSockets, engineSockets } from './defaults.js';
import { hasNoEffect } from './exceptions.js';
import { readAbsolutePaths, resolveLimitedPaths } from './limitedPaths.js';
import type { WrittenPlace } from './limitedPaths.js';
import type { Origin } from './origin.js';
import { describeOrigin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import { contains } from './paths.js';
import type { Placed, PolicyContext, SocketRule, SocketsPolicy } from './policy.js';
import type { Effect } from './rules.js';
import { usualPlaces } from './usualPlaces.js';

export function resolveSockets(
  layers: readonly Layer[],
  context: PolicyContext,
  agents: Placed<AgentsMode>,
): { readonly value: SocketsPolicy; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const denied = [
    ...builtIn('deny', [context.runtime, context.state], { kind: 'fixed' }),
    ...readAbsolutePaths(
      entriesOf(layers, 'sockets.deny', ({ sockets }) => sockets?.deny),
      context.home,
      problems,
    ).map((place) => written('deny', place)),
  ];
  const { accepted } = resolveLimitedPaths(
    layers,
    {
      key: 'sockets.allow',
      pick: ({ sockets }) => sockets?.allow,
      widening: (path) => `let ${path} be connected to`,
      limited: 'be connected to without a question',
    },
    context.home,
    problems,
  );
  const allowed = accepted.filter(({ entry, path }) => {
    const denial = denialOf(denied, path);
    if (denial === undefined) return true;
    const why = `${denial.path} is denied by ${describeOrigin(denial.origin)}`;
    problems.push(hasNoEffect(entry, why));
    return false;
  });
  const usual = { kind: 'default' } as const;
  const rules: readonly SocketRule[] = [
    ...denied,
    ...allowed.map((place) => written('allow', place)),
    ...builtIn('ask', usualPlaces(engineSockets, context), usual),
    ...(agents.value === 'off'
      ? builtIn(
          'deny',
          agentsOf(context).map(({ path }) => path),
          agents.origin,
        )
      : []),
    ...builtIn('deny', usualPlaces(deniedSockets, context), usual),
  ];
  const reached =
    agents.value === 'off'
      ? []
      : agentsOf(context).filter(({ path }) => denialOf(denied, path) === undefined);
  return { value: { rules, agents, agentSockets: reached }, problems };
}

function denialOf(denied: readonly SocketRule[], path: AbsolutePath): SocketRule | undefined {
  return denied.find((rule) => contains(rule.path, path));
}

function agentsOf(context: PolicyContext): SocketsPolicy['agentSockets'] {
  const { sshAgent } = context;
  const usual = (['ssh', 'gpg'] as const).flatMap((kind) =>
    usualPlaces(agentSockets[kind], context).map((path) => ({ kind, path })),
  );
  const isKnown = usual.some(({ path }) => path === sshAgent);
  return sshAgent === undefined || isKnown ? usual : [{ kind: 'ssh', path: sshAgent }, ...usual];
}

function written(effect: Effect, { entry, path }: WrittenPlace): SocketRule {
  return { effect, path, origin: entry.origin };
}

function builtIn(
  effect: Effect,
  paths: readonly AbsolutePath[],
  origin: Origin,
): readonly SocketRule[] {
  return paths.map((path) => ({ effect, path, origin }));
}
