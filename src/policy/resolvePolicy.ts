// Settings layers → policy. Nothing is looked up here: where the home folder and the roots are arrives as an argument.
// Fails closed: one layer with an error refuses every run, since half a policy is another policy.

import type { Layer, LayerSource } from '../settings/layers.js';
import type { Policy, PolicyContext, PolicyResult } from './policy.js';
import { resolveEnvironment } from './resolveEnvironment.js';
import { resolveFilesystem } from './resolveFilesystem.js';
import { resolveNetwork } from './resolveNetwork.js';
import { resolvePublish } from './resolvePublish.js';
import { resolveScalars } from './resolveScalars.js';
import { resolveSockets } from './resolveSockets.js';

/** The layers in order of strength; each is judged by what its author may do. */
export function resolvePolicy(layers: readonly Layer[], context: PolicyContext): PolicyResult {
  const ordered = STRENGTH.flatMap((kind) => layers.filter(({ source }) => source.kind === kind));
  const broken = ordered.flatMap(({ problems }) => problems);
  if (broken.some(({ severity }) => severity === 'error'))
    return { kind: 'refused', problems: broken };

  const scalars = resolveScalars(ordered, context.defaults);
  const filesystem = resolveFilesystem(ordered, context);
  const sockets = resolveSockets(ordered, context, scalars.agents);
  const network = resolveNetwork(ordered, scalars.mode);
  const publish = resolvePublish(ordered);
  const environment = resolveEnvironment(ordered, scalars.agents);
  const problems = [
    ...broken,
    ...scalars.problems,
    ...filesystem.problems,
    ...sockets.problems,
    ...network.problems,
    ...publish.problems,
    ...environment.problems,
  ];
  if (problems.some(({ severity }) => severity === 'error')) return { kind: 'refused', problems };
  const policy: Policy = {
    filesystem: {
      ...filesystem.value,
      git: scalars.git,
      read: scalars.read,
      hideNames: scalars.hideNames,
      temp: scalars.temp,
      caches: scalars.caches,
    },
    sockets: sockets.value,
    network: { ...network.value, listen: scalars.listen, publish: publish.value },
    environment: environment.value,
    approvals: { timeoutMs: scalars.timeoutMs },
  };
  return { kind: 'resolved', policy, problems };
}

const STRENGTH: readonly LayerSource['kind'][] = ['managed', 'user', 'workspace', 'run'];
