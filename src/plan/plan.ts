// What the launcher will do, as data: exactly what is sent to it (native/PROTOCOL.md, "The plan"). Pure types.

import type { PortRange } from '../policy/hosts.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { NetworkMode } from '../policy/policy.js';
import type { Effect } from '../policy/rules.js';

/** A promise of SECURITY.md that this host cannot keep, and why. Shown to the user, never silent. */
export interface Gap {
  readonly promise: string;
  readonly reason: string;
}

export type Mount =
  | {
      readonly op: 'private' | 'writable' | 'pin' | 'protect' | 'mask';
      readonly path: AbsolutePath;
    }
  | {
      readonly op: 'copyOnWrite';
      readonly path: AbsolutePath;
      readonly upper: AbsolutePath;
      readonly work: AbsolutePath;
    };

export type { Effect, NetworkMode, PortRange };

export type PlannedRule =
  | { readonly effect: Effect; readonly host: string; readonly ports: PortRange }
  | { readonly effect: Effect; readonly network: string; readonly ports: PortRange };

export interface PlannedEnvironment {
  readonly drop: readonly string[];
  readonly keep: readonly string[];
  readonly set: readonly {
    readonly name: string;
    readonly value: string;
    readonly overwrite: boolean;
  }[];
}

export interface LinuxPlan {
  readonly run: string;
  readonly engine: 'namespaces';
  readonly directory: AbsolutePath;
  readonly mounts: readonly Mount[];
  readonly network: {
    readonly mode: NetworkMode;
    readonly rules: readonly PlannedRule[];
    readonly hostPorts: readonly number[];
  };
  readonly environment: PlannedEnvironment;
  readonly limits: { readonly answerMs: number; readonly brokerMs: number };
  readonly brokerLoss: 'end' | 'wait';
  readonly terminal: 'inherit' | 'relay';
}
