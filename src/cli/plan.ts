// `cordon plan`: what the launcher would be told, in words or, with --json, exactly as it is sent.

import { renderPlan } from '../session/hostPlan.js';
import { findFolders, previewPlan, resolveBoundary, usablePolicy } from './boundary.js';
import { UsageError } from './usage.js';
import type { BoundaryFlags } from './options.js';

interface PlanFlags extends BoundaryFlags {
  readonly platform: string;
  readonly json?: true;
}

export function plan(flags: PlanFlags): number {
  checkPlatform(flags.platform);
  const folders = findFolders(process.env);
  const { policy: result, directory } = resolveBoundary(flags, folders);
  const policy = usablePolicy(result);
  const { plan: planned, gaps } = previewPlan(policy, directory, folders);
  process.stdout.write(
    flags.json === true ? `${JSON.stringify(planned)}\n` : renderPlan(planned, gaps, policy),
  );
  return 0;
}

function checkPlatform(platform: string): void {
  if (platform === 'linux') return;
  if (platform === 'macos' || platform === 'windows') {
    throw new UsageError(
      `--platform ${platform}: this version plans for linux only; nothing can be enforced there yet`,
    );
  }
  throw new UsageError(`--platform ${platform}: must be linux, macos or windows`);
}
