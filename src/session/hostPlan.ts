// Policy and this host → the plan of one run, exactly as it is sent.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { CordonError } from '../base/errors.js';
import { gatherFacts } from '../launch/facts.js';
import { claimLayer } from '../launch/layers.js';
import type { HostSupport } from '../launch/probe.js';
import { foldersToCreate, pathsToProbe, planLinux } from '../plan/linux.js';
import type { Gap, LinuxPlan } from '../plan/plan.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { Policy } from '../policy/policy.js';

export { findLauncher, launcherVersion } from '../launch/artifacts.js';
export { defaultFolders } from '../launch/folders.js';
export { probeHost } from '../launch/probe.js';
export { renderPlan } from '../plan/render.js';

export interface HostPlanOptions {
  readonly run: string;
  readonly directory: AbsolutePath;
  readonly state: AbsolutePath;
  readonly support: HostSupport;
  readonly brokerLoss: 'end' | 'wait';
  readonly terminal: 'inherit' | 'relay';
}

export interface HostPlan {
  readonly plan: LinuxPlan;
  /** Of this plan and of this host. */
  readonly gaps: readonly Gap[];
}

/** The plan to look at: claims nothing, creates nothing. Throws CordonError when such a run must not start. */
export function planFor(policy: Policy, options: HostPlanOptions): HostPlan {
  return planWith(policy, options, path.join(options.state, 'caches/preview/0') as AbsolutePath);
}

/** The plan to send: its folders exist, and its caches are this launcher's alone. */
export function planForLauncher(
  policy: Policy,
  options: HostPlanOptions,
  launcher: number,
): HostPlan {
  if (policy.filesystem.caches.value !== 'private') return planFor(policy, options);
  const workspace = policy.filesystem.writableRoots.map((root) => root.path).join('\0');
  const result = planWith(policy, options, claimLayer(options.state, workspace, launcher));
  for (const folder of foldersToCreate(result.plan, options.state)) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  return result;
}

function planWith(policy: Policy, options: HostPlanOptions, cacheFolder: AbsolutePath): HostPlan {
  const { support } = options;
  if (support.problem !== null) throw new CordonError('hostUnsupported', support.problem);
  const run = {
    id: options.run,
    directory: options.directory,
    home: os.homedir() as AbsolutePath,
    cacheFolder,
    brokerLoss: options.brokerLoss,
    terminal: options.terminal,
  };
  const facts = gatherFacts(pathsToProbe(policy, run), support.overlay);
  const { plan, gaps } = planLinux(policy, facts, run);
  return { plan, gaps: [...support.gaps, ...gaps] };
}
