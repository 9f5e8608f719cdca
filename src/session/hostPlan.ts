// Policy and this host → the plan of one run, exactly as it is sent.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { CordonError } from '../base/errors.js';
import { gatherFacts } from '../launch/facts.js';
import { claimLayer } from '../launch/layers.js';
import type { HostSupport } from '../launch/probe.js';
import { explainPath, pathsToExplain } from '../plan/explain.js';
import type { PathExplanation } from '../plan/explain.js';
import { foldersToList, pathsToProbe, planLinux } from '../plan/linux.js';
import type { PlanResult } from '../plan/linux.js';
import type { Facts, HostAbilities, PlannedRun } from '../plan/host.js';
import type { Gap, LinuxPlan } from '../plan/plan.js';
import type { AbsolutePath } from '../policy/paths.js';
import { absolutePath } from '../policy/paths.js';
import type { Policy } from '../policy/policy.js';

export { findLauncher } from '../launch/artifacts.js';
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
  return planWith(policy, options, previewLayer(options));
}

/** What may be done with a real path, and why. Looks at the machine as for a run, but needs no launcher. */
export function explainFile(
  policy: Policy,
  options: Omit<HostPlanOptions, 'support'>,
  file: AbsolutePath,
): PathExplanation {
  const run = plannedRun(options, previewLayer(options));
  const host = { overlay: true, hold: true, holdReads: true };
  const facts = factsFor(policy, run, host, pathsToExplain(file));
  return explainPath(policy, planLinux(policy, facts, run).plan, facts, file);
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
  for (const folder of result.folders) {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  return result;
}

function planWith(
  policy: Policy,
  options: HostPlanOptions,
  cacheFolder: AbsolutePath,
): HostPlan & PlanResult {
  const { support } = options;
  if (support.problem !== null) throw new CordonError('hostUnsupported', support.problem);
  const run = plannedRun(options, cacheFolder);
  const facts = factsFor(policy, run, {
    overlay: support.overlay,
    hold: support.features['notifications'] === null,
    holdReads: support.features['fuse'] === null,
  });
  const result = planLinux(policy, facts, run);
  return { ...result, gaps: [...support.gaps, ...result.gaps] };
}

function factsFor(
  policy: Policy,
  run: PlannedRun,
  host: HostAbilities,
  others: readonly AbsolutePath[] = [],
): Facts {
  const paths = [...pathsToProbe(policy, run), ...others];
  return gatherFacts({ paths, folders: foldersToList(policy) }, host);
}

function plannedRun(
  options: Omit<HostPlanOptions, 'support'>,
  cacheFolder: AbsolutePath,
): PlannedRun {
  return {
    id: options.run,
    directory: options.directory,
    home: os.homedir() as AbsolutePath,
    searchPath: (process.env['PATH'] ?? '').split(':').flatMap((each) => absolutePath(each) ?? []),
    cacheFolder,
    brokerLoss: options.brokerLoss,
    terminal: options.terminal,
  };
}

function previewLayer({ state }: Pick<HostPlanOptions, 'state'>): AbsolutePath {
  return path.join(state, 'caches/preview/0') as AbsolutePath;
}
