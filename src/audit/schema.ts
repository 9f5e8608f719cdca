// The lines of the audit log, the same that `--events` writes: one JSON object a line, in the order in which things
// happened. A line never holds a secret's value (redact.ts).

import * as z from 'zod/mini';

import type { Grant } from '../policy/grant.js';
import type { DenialObject, ReasonCode, RequestObject, Subject } from '../policy/request.js';
import { REASONS } from '../policy/request.js';

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
      readonly object: DenialObject;
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

/** Reads a line of ours; throws an Error that says what is wrong with it. */
export function createLineParser(): (value: unknown) => AuditLine {
  const schema = auditLine();
  return (value) => {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new Error(z.prettifyError(result.error).replace(/\s+/gu, ' '));
  };
}

function auditLine(): z.ZodMiniType<AuditLine> {
  const line = {
    t: z.iso.datetime(),
    run: z.string(),
    hash: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  };
  const reason = z.enum(REASONS);
  const connection = z.union([
    z.strictObject({ host: z.string(), port: z.int() }),
    z.strictObject({ address: z.string(), port: z.int() }),
  ]);
  const access = {
    subject: z.strictObject({
      pid: z.int(),
      executable: z.string(),
      arguments: z.array(z.string()),
      directory: z.string(),
      chain: z.array(z.strictObject({ pid: z.int(), name: z.string() })),
    }),
    action: z.enum(['connect', 'lookup']),
    object: z.union([connection, z.strictObject({ host: z.string() })]),
    rule: z.string(),
  };
  const { t, hash } = line;
  return z.discriminatedUnion('kind', [
    z.strictObject({
      t,
      hash,
      kind: z.literal('session'),
      session: z.string(),
      previous: z.nullable(z.string()),
    }),
    z.strictObject({
      ...line,
      kind: z.literal('run'),
      session: z.string(),
      again: z.boolean(),
      pid: z.int(),
      directory: z.string(),
      command: z.array(z.string()),
    }),
    z.strictObject({ ...line, ...access, kind: z.literal('request'), request: z.int() }),
    z.strictObject({
      ...line,
      kind: z.literal('answer'),
      request: z.int(),
      effect: z.enum(['allow', 'deny']),
      by: z.enum(['rule', 'grant', 'user', 'default']),
      reason,
      grant: z.nullable(z.string()),
      addresses: z.array(z.string()),
    }),
    z.strictObject({
      ...line,
      ...access,
      kind: z.literal('denial'),
      object: z.union([access.object, z.strictObject({ path: z.string() })]),
      reason,
    }),
    z.strictObject({
      ...line,
      kind: z.literal('grant'),
      grant: z.strictObject({
        id: z.string(),
        scope: z.enum(['once', 'run', 'session', 'always']),
        run: z.exactOptional(z.string()),
        session: z.string(),
        target: connection,
        privateAddresses: z.array(z.string()),
        patterns: z.array(z.string()),
        at: z.number(),
      }),
    }),
    z.strictObject({ ...line, kind: z.literal('revoke'), grant: z.string() }),
    z.strictObject({ ...line, kind: z.literal('gap'), promise: z.string(), reason: z.string() }),
    z.strictObject({
      ...line,
      kind: z.literal('exit'),
      outcome: z.enum(['exited', 'stopped', 'failed', 'lost']),
      exitCode: z.nullable(z.int()),
      reason: z.nullable(z.string()),
    }),
  ]);
}
