// The lines of the audit log, the same that `--events` writes: one JSON object a line, in the order in which things
// happened. A line never holds a secret's value (redact.ts).

import * as z from 'zod/mini';

import type { Grant } from '../policy/grant.js';
import { ALWAYS_SETTINGS } from '../policy/grant.js';
import type { AbsolutePath } from '../policy/paths.js';
import type {
  Acting,
  Open,
  ReasonCode,
  RequestObjects,
  Subject,
  WriteObject,
} from '../policy/request.js';
import { FILE_CALLS, REASONS } from '../policy/request.js';

/** What would be written is not kept: it can hold anything. */
export interface ChangeDigest {
  /** Of the text that could be shown, in UTF-8. */
  readonly sha256: string;
  readonly bytes: number;
}

interface RecordedObjects extends Omit<RequestObjects, 'write'> {
  readonly write: Omit<WriteObject, 'change'> & { readonly change: ChangeDigest | null };
}

/** What was wanted, as it is recorded. */
export type Recorded = Acting<RecordedObjects>;

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
  | ({
      readonly kind: 'request';
      readonly run: string;
      readonly request: number;
      readonly subject: Subject;
      /** The reason that a program gave for asking beforehand. */
      readonly because: string | null;
      /** The rule that made it a question, in words. */
      readonly rule: string;
    } & Recorded)
  | {
      readonly kind: 'answer';
      readonly run: string;
      readonly request: number;
      readonly effect: 'allow' | 'deny';
      readonly by: 'rule' | 'grant' | 'user' | 'default';
      readonly reason: ReasonCode;
      readonly grant: string | null;
      readonly addresses: readonly string[];
      readonly opens: readonly Open[];
    }
  /** Refused by the plan, without a request. */
  | ({
      readonly kind: 'denial';
      readonly run: string;
      readonly subject: Subject;
      readonly reason: ReasonCode;
      readonly rule: string;
    } & Recorded)
  | { readonly kind: 'grant'; readonly run: string; readonly grant: Grant }
  | { readonly kind: 'revoke'; readonly run: string; readonly grant: string }
  /** What became of opens in a running run: in effect, unless there is an error. */
  | {
      readonly kind: 'opened';
      readonly run: string;
      readonly opens: readonly (Open & { readonly error: string | null })[];
    }
  /** What became of a revocation; `busy`: programs still hold files of it, or are in it. */
  | {
      readonly kind: 'revoked';
      readonly run: string;
      readonly opens: readonly (Open & { readonly busy: boolean })[];
    }
  | {
      readonly kind: 'published';
      readonly run: string;
      readonly port: number;
      readonly hostPort: number;
      readonly address: string;
    }
  | {
      readonly kind: 'unpublished';
      readonly run: string;
      readonly port: number;
      readonly reason: 'closed' | 'revoked' | 'failed';
    }
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
  const path = z.custom<AbsolutePath>((value) => typeof value === 'string');
  const access = z.enum(['write', 'read', 'git', 'socket']);
  const open = z.strictObject({ access, path });
  const destination = z.union([
    z.strictObject({ host: z.string(), port: z.int() }),
    z.strictObject({ address: z.string(), port: z.int() }),
  ]);
  const agent = z.enum(['ssh', 'gpg']);
  /** A line about what was wanted: one shape for each action. */
  const recorded = <Shared extends z.core.$ZodLooseShape>(shared: Shared) => {
    const about = {
      ...shared,
      subject: z.strictObject({
        pid: z.int(),
        executable: z.string(),
        arguments: z.array(z.string()),
        directory: z.string(),
        chain: z.array(z.strictObject({ pid: z.int(), name: z.string() })),
      }),
      rule: z.string(),
    };
    const call = z.enum(FILE_CALLS);
    const change = z.strictObject({ sha256: z.string(), bytes: z.int() });
    return z.discriminatedUnion('action', [
      z.strictObject({ ...about, action: z.literal('connect'), object: destination }),
      z.strictObject({
        ...about,
        action: z.literal('lookup'),
        object: z.strictObject({ host: z.string() }),
      }),
      z.strictObject({
        ...about,
        action: z.literal('write'),
        object: z.strictObject({
          path,
          call,
          to: z.nullable(path),
          folder: z.nullable(path),
          protected: z.boolean(),
          change: z.nullable(change),
        }),
      }),
      z.strictObject({
        ...about,
        action: z.literal('git'),
        object: z.strictObject({ repository: path, path, call }),
      }),
      z.strictObject({
        ...about,
        action: z.literal('read'),
        object: z.strictObject({ path, folder: z.nullable(path) }),
      }),
      z.strictObject({
        ...about,
        action: z.literal('socket'),
        object: z.strictObject({ path, call: z.enum(['connect', 'bind']) }),
      }),
      z.strictObject({
        ...about,
        action: z.literal('sign'),
        object: z.strictObject({ agent, key: z.string(), purpose: z.string() }),
      }),
      z.strictObject({
        ...about,
        action: z.literal('publish'),
        object: z.strictObject({ port: z.int() }),
      }),
    ]);
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
    recorded({
      ...line,
      kind: z.literal('request'),
      request: z.int(),
      because: z.nullable(z.string()),
    }),
    z.strictObject({
      ...line,
      kind: z.literal('answer'),
      request: z.int(),
      effect: z.enum(['allow', 'deny']),
      by: z.enum(['rule', 'grant', 'user', 'default']),
      reason,
      grant: z.nullable(z.string()),
      addresses: z.array(z.string()),
      opens: z.array(open),
    }),
    recorded({ ...line, kind: z.literal('denial'), reason }),
    z.strictObject({
      ...line,
      kind: z.literal('grant'),
      grant: z.strictObject({
        id: z.string(),
        scope: z.enum(['once', 'run', 'session', 'always']),
        run: z.exactOptional(z.string()),
        session: z.string(),
        target: z.union([
          destination,
          z.strictObject({ access, path, protected: z.boolean() }),
          z.strictObject({ agent, key: z.string() }),
          z.strictObject({ publish: z.int() }),
        ]),
        origin: z.strictObject({
          run: z.string(),
          program: z.string(),
          command: z.array(z.string()),
        }),
        privateAddresses: z.array(z.string()),
        written: z.array(
          z.strictObject({
            effect: z.enum(['allow', 'deny']),
            setting: z.enum(ALWAYS_SETTINGS),
            entry: z.union([z.string(), z.int()]),
          }),
        ),
        at: z.number(),
      }),
    }),
    z.strictObject({ ...line, kind: z.literal('revoke'), grant: z.string() }),
    z.strictObject({
      ...line,
      kind: z.literal('opened'),
      opens: z.array(z.strictObject({ access, path, error: z.nullable(z.string()) })),
    }),
    z.strictObject({
      ...line,
      kind: z.literal('revoked'),
      opens: z.array(z.strictObject({ access, path, busy: z.boolean() })),
    }),
    z.strictObject({
      ...line,
      kind: z.literal('published'),
      port: z.int(),
      hostPort: z.int(),
      address: z.string(),
    }),
    z.strictObject({
      ...line,
      kind: z.literal('unpublished'),
      port: z.int(),
      reason: z.enum(['closed', 'revoked', 'failed']),
    }),
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
