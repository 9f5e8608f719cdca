// Policies made by hand, for tests of the policy and the plan.

import type { PlannedRun } from '../../src/plan/host.js';
import type { NetworkMode, PlannedRule } from '../../src/plan/plan.js';
import { parseNetwork } from '../../src/policy/addresses.js';
import type { AbsolutePath } from '../../src/policy/paths.js';
import { absolutePath } from '../../src/policy/paths.js';
import type { NetworkPolicy, Policy, PolicyContext } from '../../src/policy/policy.js';
import { resolvePolicy } from '../../src/policy/resolvePolicy.js';
import type { NetworkRule } from '../../src/policy/rules.js';
import { createRuleTable } from '../../src/policy/rules.js';
import type { Layer, LayerSource } from '../../src/settings/layers.js';
import { describeProblem, parseLayerValue } from '../../src/settings/layers.js';
import { settingDefaults } from '../../src/settings/schema.js';

/** An absolute path, or the test is wrong. */
export function at(text: string): AbsolutePath {
  const path = absolutePath(text);
  if (path === undefined) throw new Error(`not absolute: ${text}`);
  return path;
}

export const managed: LayerSource = { kind: 'managed', file: '/etc/cordon/policy.json' };
export const user: LayerSource = {
  kind: 'user',
  file: '/home/ada/.config/Code/User/settings.json',
};
export const workspace: LayerSource = {
  kind: 'workspace',
  folder: '/ws',
  file: '/ws/.cordon.json',
};
export const typed: LayerSource = { kind: 'run', typed: true };
export const untyped: LayerSource = { kind: 'run', typed: false };

/** A run in the workspace of `context`. */
export const plannedRun: PlannedRun = {
  id: 'r1',
  directory: at('/ws'),
  home: at('/home/ada'),
  searchPath: [at('/usr/bin'), at('/bin')],
  cacheFolder: at('/home/ada/.local/state/cordon/caches/k/0'),
  brokerLoss: 'end',
  terminal: 'inherit',
};

export const context: PolicyContext = {
  home: at('/home/ada'),
  uid: 1000,
  roots: [at('/ws')],
  state: at('/home/ada/.local/state/cordon'),
  runtime: at('/run/user/1000/cordon'),
  own: [at('/opt/cordon')],
  defaults: settingDefaults,
};

export function layer(source: LayerSource, value: unknown): Layer {
  return parseLayerValue(source, value);
}

/** The policy, which must resolve, and its problems as text. */
export function resolved(
  layers: readonly Layer[],
  changes: Partial<PolicyContext> = {},
): { readonly policy: Policy; readonly problems: readonly string[] } {
  const result = resolvePolicy(layers, { ...context, ...changes });
  const problems = result.problems.map(describeProblem);
  if (result.kind === 'refused') throw new Error(`refused:\n${problems.join('\n')}`);
  return { policy: result.policy, problems };
}

/** A network policy straight from planned rules, in their order. */
export function networkOf(mode: NetworkMode, planned: readonly PlannedRule[]): NetworkPolicy {
  const origin = { kind: 'default' } as const;
  const rules = planned.map((rule): NetworkRule => {
    const { effect, ports } = rule;
    if ('host' in rule)
      return { effect, origin, pattern: { kind: 'host', host: rule.host, ports } };
    const parsed = parseNetwork(rule.network);
    if (parsed.kind !== 'network') throw new Error(`not a network: ${rule.network}`);
    return { effect, origin, pattern: { kind: 'network', network: parsed.network, ports } };
  });
  return {
    mode: { value: mode, origin },
    rules,
    table: createRuleTable(rules),
    hostPorts: [],
    listen: { value: 'private', origin },
    publish: [],
  };
}
