// Tries to break the boundary on this machine, through a real run: the only ground on which a face may say "enforcing".

import os from 'node:os';
import { userMessageOf } from '../base/errors.js';
import { createCanary } from '../launch/canary.js';
import type { CanaryOutcome } from '../launch/canary.js';
import type { Gap } from '../plan/plan.js';
import type { AbsolutePath } from '../policy/paths.js';
import { parseLayerValue, readManagedLayer, resolveLayers } from './layers.js';
import { createSession } from './session.js';
import { postureOf } from './snapshot.js';
import type { Posture } from './snapshot.js';

export interface SelfTestOptions {
  readonly home: AbsolutePath;
  readonly state: AbsolutePath;
  readonly dist: AbsolutePath;
}

export interface SelfTestReport {
  readonly posture: Posture;
  /** Why nothing can be enforced, and the way out; set when the posture is `not enforcing`. */
  readonly problem?: string;
  readonly gaps: readonly Gap[];
  /** Empty when nothing could be started. */
  readonly attempts: readonly CanaryOutcome[];
}

export async function runSelfTest(options: SelfTestOptions): Promise<SelfTestReport> {
  const canary = await createCanary(options.home);
  try {
    const free = await canary.runFree();
    const lame = free.find(({ outcome }) => outcome !== 'succeeded');
    if (lame !== undefined)
      return failed(
        `the self-test cannot ${lame.aim} even without a boundary, so it would prove nothing`,
      );
    const managed = readManagedLayer();
    const own = parseLayerValue(
      { kind: 'run', typed: true },
      { filesystem: { denyRead: [canary.secret] }, network: { mode: 'ask' } },
    );
    const policy = resolveLayers(managed === undefined ? [own] : [managed, own], {
      home: options.home,
      uid: os.userInfo().uid,
      roots: [canary.root],
      state: options.state,
      own: [],
    });
    const session = await createSession({
      policyFor: () => policy,
      roots: [],
      prompter: { ask: () => Promise.reject(new Error('a self-test asks nobody')) },
      wording: { howToAllow: () => '' },
      state: options.state,
      dist: options.dist,
      brokerLoss: 'end',
    });
    try {
      const run = session.start(canary.command, {
        directory: canary.root,
        environment: { ...process.env, ...canary.environment },
        stdio: 'ignore',
      });
      const exit = await run.exited;
      if (exit.kind !== 'exited')
        return failed(exit.kind === 'failed' ? exit.message : `the canary was ${exit.kind}`);
      return judge(canary.inspect(), session.snapshot().gaps);
    } finally {
      await session.close();
    }
  } catch (error) {
    return failed(userMessageOf(error));
  } finally {
    canary.close();
  }
}

function judge(attempts: readonly CanaryOutcome[], gaps: readonly Gap[]): SelfTestReport {
  const bad = attempts.find(({ outcome }) => outcome !== 'refused');
  if (bad === undefined) return { posture: postureOf(undefined, gaps), gaps, attempts };
  const problem =
    bad.outcome === 'succeeded'
      ? `a program inside the boundary could ${bad.aim}. Do not rely on it, and report this`
      : `the canary never tried to ${bad.aim}, so nothing is proven`;
  return { posture: 'not enforcing', problem, gaps, attempts };
}

function failed(problem: string): SelfTestReport {
  return { posture: 'not enforcing', problem, gaps: [], attempts: [] };
}
