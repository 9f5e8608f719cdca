// The lines of the audit log, the same that `--events` writes: one JSON object a line, in the order in which things
// happened. A line never holds a secret's value (redact.ts).

import * as z from 'zod/mini';

import type { Grant } from '../policy/grant.js';
import type { ReasonCode, RequestObject, Subject } from '../policy/request.js';

export type AuditEntry =
  /** First line of a file. `previous` is the last hash of the part before it. */
  | { readonly kind: 'session'; readonly session: string; readonly previous: string | null }
  /** A run begins, or (`again`) found this session after its own broker had gone. */
  | {
      readonly kind: 'run';
      readonly run: string;
      /** The session whose grants hold for the run. */
      readonly session: string;
      readonly again: boolean;
      readonly pid: number;
      readonly directory: string;
      readonly command: readonly string[];
    }
  | {
      readonly kind: 'request';
      readonly run: string;
      readonly request: number;
      readonly subject: Subject;
      readonly action: 'connect' | 'lookup';
      readonly object: RequestObject;
      /** The rule that made it a question, in words. */
      readonly rule: string;
    }
  | {
      readonly kind: 'answer';
      readonly run: string;
      readonly request: number;
      readonly effect: 'allow' | 'deny';
      readonly by: 'rule' | 'grant' | 'user' | 'default';
      readonly reason: ReasonCode;
      readonly grant: string | null;
      readonly addresses: readonly string[];
    }
  /** Refused by the plan, without a request. */
  | {
      readonly kind: 'denial';
      readonly run: string;
      readonly subject: Subject;
      readonly action: 'connect' | 'lookup';
      readonly object: RequestObject;
      readonly reason: ReasonCode;
      readonly rule: string;
    }
  | { readonly kind: 'grant'; readonly run: string; readonly grant: Grant }
  | { readonly kind: 'revoke'; readonly run: string; readonly grant: string }
  | {
      readonly kind: 'gap';
      readonly run: string;
      readonly promise: string;
      readonly reason: string;
    }
  | {
      readonly kind: 'exit';
      readonly run: string;
      readonly outcome: 'exited' | 'stopped' | 'failed' | 'lost';
      readonly exitCode: number | null;
      /** For `stopped`, `failed` and `lost`: why. */
      readonly reason: string | null;
    };

/** `t` is ISO 8601 in UTC; `hash` is SHA-256 over the hash before it and the line without its own. */
export type AuditLine = { readonly t: string } & AuditEntry & { readonly hash: string };
