// What `cordon-launch --probe` prints, and what is kept of it.

import * as z from 'zod/mini';

import type { Gap } from '../plan/plan.js';

export interface HostSupport {
  readonly protocol: number;
  readonly version: string;
  /** Why no boundary can be set up here, and the way out; null when one can. */
  readonly problem: string | null;
  /** Whether overlayfs can be mounted without privilege. */
  readonly overlay: boolean;
  readonly gaps: readonly Gap[];
  /** The ABI of Landlock, 0 without. */
  readonly landlock: number;
  /** Each thing that was tried: null when it works, else the name of its errno. */
  readonly features: Readonly<Record<string, string | null>>;
}

/** Undefined when it is something else. */
export function parseSupport(text: string): HostSupport | undefined {
  const schema: z.ZodMiniType<HostSupport> = z.strictObject({
    protocol: z.int(),
    version: z.string(),
    problem: z.nullable(z.string()),
    overlay: z.boolean(),
    gaps: z.array(z.strictObject({ promise: z.string(), reason: z.string() })),
    landlock: z.int(),
    features: z.record(z.string(), z.nullable(z.string())),
  });
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined; // neither JSON nor of this shape: the caller says so
  }
}
