// The shapes of all frames (native/PROTOCOL.md), strict: an unknown key is a refusal. Types are written out, schemas are
// checked against them by the compiler. Schemas are built on demand: a launch has milliseconds, not tens of them.

import net from 'node:net';
import * as z from 'zod/mini';

import type { Gap, LinuxPlan, Mount, Open, PlannedFiles, PlannedRule } from '../../plan/plan.js';
import type { AbsolutePath } from '../../policy/paths.js';
import { absolutePath } from '../../policy/paths.js';
import type { Revocation } from '../../policy/grant.js';
import type { ReasonCode, Subject, Wanted } from '../../policy/request.js';
import { FILE_CALLS, REASONS } from '../../policy/request.js';
import { parseStrictJson } from './json.js';
import type { ParseFrame } from './json.js';
import { PROTOCOL_VERSION } from './limits.js';

const MAX_CHAIN = 16;

export type RunStatus = { readonly exited: number } | { readonly signalled: number };

export interface HelloFrame {
  readonly kind: 'hello';
  readonly protocol: typeof PROTOCOL_VERSION;
  readonly pid: number;
  readonly directory: AbsolutePath;
  readonly arguments: readonly string[];
  /** Whether the command's standard input is a terminal. */
  readonly terminal: boolean;
  /** Set by a supervisor whose broker went away. */
  readonly run: string | null;
}

export interface ReadyFrame {
  readonly kind: 'ready';
  readonly run: string;
  readonly init: number;
  readonly gaps: readonly Gap[];
}

export type AskFrame = {
  readonly kind: 'ask';
  readonly id: number;
  readonly subject: Subject;
  /** Why, in the program's own words; null when a call is held. */
  readonly because: string | null;
  /** Index in the plan's network rules; null when the mode decided, and for everything but the network. */
  readonly rule: number | null;
  readonly want: 'decision' | 'addresses';
} & Wanted;

export type DenialFrame = {
  readonly kind: 'denial';
  readonly subject: Subject;
  readonly reason: ReasonCode;
  readonly rule: number | null;
} & Wanted;

/** Opens have taken effect, each unless it has an error. */
export interface OpenedFrame {
  readonly kind: 'opened';
  readonly opens: readonly (Open & { readonly error: string | null })[];
}

/** Opens are closed again; `busy`: programs still have files of it open, or their working directory there. */
export interface RevokedFrame {
  readonly kind: 'revoked';
  readonly opens: readonly (Open & { readonly busy: boolean })[];
}

/** A listener inside can be reached on this machine. */
export interface PublishedFrame {
  readonly kind: 'published';
  readonly port: number;
  /** Another one when the port was taken. */
  readonly hostPort: number;
  readonly address: string;
}

export interface UnpublishedFrame {
  readonly kind: 'unpublished';
  readonly port: number;
  readonly reason: 'closed' | 'revoked' | 'failed';
}

export interface LauncherErrorFrame {
  readonly kind: 'error';
  readonly code: string;
  readonly stage: string;
  readonly message: string;
  readonly errno: number;
}

export type LauncherFrame =
  | HelloFrame
  | ReadyFrame
  | AskFrame
  | DenialFrame
  | LauncherErrorFrame
  | OpenedFrame
  | RevokedFrame
  | PublishedFrame
  | UnpublishedFrame
  | { readonly kind: 'withdraw'; readonly id: number }
  | { readonly kind: 'held' }
  | { readonly kind: 'exit'; readonly status: RunStatus };

export type PlanFrame = { readonly kind: 'plan' } & LinuxPlan;

export interface AnswerFrame {
  readonly kind: 'answer';
  readonly id: number;
  readonly effect: 'allow' | 'deny';
  readonly reason: ReasonCode;
  /** Numeric, dialled in this order. */
  readonly addresses: readonly string[];
  /** Open from now on; nothing for just this call. */
  readonly opens: readonly Open[];
  readonly message: string | null;
}

export interface BrokerErrorFrame {
  readonly kind: 'error';
  readonly code: string;
  readonly message: string;
}

export type BrokerFrame =
  | PlanFrame
  | AnswerFrame
  | BrokerErrorFrame
  /** Of what is open besides the plan's own, only these stay. */
  | { readonly kind: 'welcome'; readonly opens: readonly Open[] }
  /** What was allowed in another run of the session. */
  | { readonly kind: 'grant'; readonly opens: readonly Open[] }
  | { readonly kind: 'hold' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'notice'; readonly text: string }
  | { readonly kind: 'stop'; readonly reason: ReasonCode }
  | ({ readonly kind: 'revoke' } & Revocation);

const positive = () => z.int().check(z.gte(1));
const port = () => z.int().check(z.gte(1), z.lte(65535));

const path = () =>
  z.custom<AbsolutePath>((value) => typeof value === 'string' && absolutePath(value) === value, {
    error: 'not an absolute, normalised path',
  });

const host = () =>
  z.string().check(z.maxLength(253), z.regex(/^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/));

const address = () =>
  z
    .string()
    .check(z.refine((text) => net.isIP(text) !== 0 && !text.includes('%'), 'not an IP address'));

const reason = () => z.enum(REASONS);

const subject = () =>
  z.strictObject({
    pid: positive(),
    executable: z.string(),
    arguments: z.array(z.string()),
    directory: z.string(),
    chain: z
      .array(z.strictObject({ pid: positive(), name: z.string() }))
      .check(z.maxLength(MAX_CHAIN)),
  });

const destination = () =>
  z.union([
    z.strictObject({ host: host(), port: port() }),
    z.strictObject({ address: address(), port: port() }),
  ]);

const ruleIndex = () => z.nullable(z.int().check(z.gte(0)));

const openShape = () => ({ access: z.enum(['write', 'read', 'git', 'socket']), path: path() });

const open = (): z.ZodMiniType<Open> => z.strictObject(openShape());

/** The shapes of what can be wanted, each with `shared` keys beside action and object. */
function wanted<Shared extends z.core.$ZodLooseShape>(shared: Shared) {
  const call = z.enum(FILE_CALLS);
  return z.discriminatedUnion('action', [
    z.strictObject({ ...shared, action: z.literal('connect'), object: destination() }),
    z.strictObject({
      ...shared,
      action: z.literal('lookup'),
      object: z.strictObject({ host: host() }),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('write'),
      object: z.strictObject({
        path: path(),
        call,
        to: z.nullable(path()),
        folder: z.nullable(path()),
        protected: z.boolean(),
        change: z.nullable(z.string()),
      }),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('git'),
      object: z.strictObject({ repository: path(), path: path(), call }),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('read'),
      object: z.strictObject({ path: path(), folder: z.nullable(path()) }),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('socket'),
      object: z.strictObject({ path: path(), call: z.enum(['connect', 'bind']) }),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('sign'),
      object: z.strictObject({
        agent: z.enum(['ssh', 'gpg']),
        key: z.string(),
        purpose: z.string(),
      }),
    }),
    z.strictObject({
      ...shared,
      action: z.literal('publish'),
      object: z.strictObject({ port: port() }),
    }),
  ]);
}

type Schemas<Frame extends { readonly kind: string }> = {
  readonly [K in Frame['kind']]: () => z.ZodMiniType<Extract<Frame, { readonly kind: K }>>;
};

// One schema a kind, so that a mistake is reported for the kind that was meant.
const launcherFrames: Schemas<LauncherFrame> = {
  hello: () =>
    z.strictObject({
      kind: z.literal('hello'),
      protocol: z.literal(PROTOCOL_VERSION),
      pid: positive(),
      directory: path(),
      arguments: z.array(z.string()),
      terminal: z.boolean(),
      run: z.nullable(z.string().check(z.minLength(1))),
    }),
  ready: () =>
    z.strictObject({
      kind: z.literal('ready'),
      run: z.string(),
      init: positive(),
      gaps: z.array(z.strictObject({ promise: z.string(), reason: z.string() })),
    }),
  ask: () =>
    wanted({
      kind: z.literal('ask'),
      id: positive(),
      subject: subject(),
      because: z.nullable(z.string()),
      rule: ruleIndex(),
      want: z.enum(['decision', 'addresses']),
    }),
  withdraw: () => z.strictObject({ kind: z.literal('withdraw'), id: positive() }),
  denial: () =>
    wanted({ kind: z.literal('denial'), subject: subject(), reason: reason(), rule: ruleIndex() }),
  opened: () =>
    z.strictObject({
      kind: z.literal('opened'),
      opens: z.array(z.strictObject({ ...openShape(), error: z.nullable(z.string()) })),
    }),
  revoked: () =>
    z.strictObject({
      kind: z.literal('revoked'),
      opens: z.array(z.strictObject({ ...openShape(), busy: z.boolean() })),
    }),
  published: () =>
    z.strictObject({
      kind: z.literal('published'),
      port: port(),
      hostPort: port(),
      address: address(),
    }),
  unpublished: () =>
    z.strictObject({
      kind: z.literal('unpublished'),
      port: port(),
      reason: z.enum(['closed', 'revoked', 'failed']),
    }),
  held: () => z.strictObject({ kind: z.literal('held') }),
  exit: () =>
    z.strictObject({
      kind: z.literal('exit'),
      status: z.union([
        z.strictObject({ exited: z.int().check(z.gte(0), z.lte(255)) }),
        z.strictObject({ signalled: positive() }),
      ]),
    }),
  error: () =>
    z.strictObject({
      kind: z.literal('error'),
      code: z.string(),
      stage: z.string(),
      message: z.string(),
      errno: z.int(),
    }),
};

const ports = () =>
  z
    .tuple([port(), port()])
    .check(z.refine(([from, to]) => from <= to, 'the first port is above the last'));

const network = () => z.string().check(z.refine(isNetwork, 'not a network in CIDR notation'));

function isNetwork(text: string): boolean {
  const [base = '', prefix = '', ...rest] = text.split('/');
  const version = base.includes('%') ? 0 : net.isIP(base);
  return (
    rest.length === 0 &&
    version !== 0 &&
    /^(?:0|[1-9]\d{0,2})$/.test(prefix) &&
    Number(prefix) <= (version === 4 ? 32 : 128)
  );
}

const mount = (): z.ZodMiniType<Mount> =>
  z.discriminatedUnion('op', [
    z.strictObject({
      op: z.enum(['private', 'writable', 'readable', 'pin', 'protect', 'guard', 'mask']),
      path: path(),
    }),
    z.strictObject({ op: z.literal('tripwire'), path: path(), names: z.boolean() }),
    z.strictObject({
      op: z.literal('copyOnWrite'),
      path: path(),
      upper: path(),
      work: path(),
    }),
  ]);

const rule = (): z.ZodMiniType<PlannedRule> => {
  const effect = z.enum(['allow', 'deny', 'ask']);
  return z.union([
    z.strictObject({
      effect,
      host: z
        .string()
        .check(z.maxLength(255), z.regex(/^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/)),
      ports: ports(),
    }),
    z.strictObject({ effect, network: network(), ports: ports() }),
  ]);
};

const files = (): z.ZodMiniType<PlannedFiles> =>
  z.strictObject({
    roots: z.array(path()),
    names: z.array(z.string()),
    protected: z.array(path()),
    packages: z.array(z.string()),
    quiet: z.array(z.string()),
    git: z.enum(['ask', 'allow', 'protect']),
    repositories: z.array(z.strictObject({ directory: path(), common: path() })),
  });

const brokerFrames: Schemas<BrokerFrame> = {
  plan: () =>
    z.strictObject({
      kind: z.literal('plan'),
      run: z.string().check(z.minLength(1)),
      engine: z.literal('namespaces'),
      directory: path(),
      mounts: z.array(mount()),
      network: z.strictObject({
        mode: z.enum(['off', 'ask', 'on']),
        rules: z.array(rule()),
        hostPorts: z.array(port()),
      }),
      files: files(),
      sockets: z.strictObject({
        rules: z.array(z.strictObject({ effect: z.enum(['allow', 'deny', 'ask']), path: path() })),
        agents: z.array(z.strictObject({ kind: z.enum(['ssh', 'gpg']), path: path() })),
      }),
      publish: z.strictObject({ mode: z.enum(['private', 'ask']), ports: z.array(port()) }),
      opens: z.array(open()),
      environment: z.strictObject({
        drop: z.array(z.string()),
        keep: z.array(z.string()),
        set: z.array(
          z.strictObject({
            name: z.string().check(z.regex(/^[^=]+$/)),
            value: z.string(),
            overwrite: z.boolean(),
          }),
        ),
      }),
      limits: z.strictObject({
        answerMs: z.int().check(z.gte(0)),
        brokerMs: z.int().check(z.gte(0)),
      }),
      brokerLoss: z.enum(['end', 'wait']),
      terminal: z.enum(['inherit', 'relay']),
    }),
  answer: () =>
    z.strictObject({
      kind: z.literal('answer'),
      id: positive(),
      effect: z.enum(['allow', 'deny']),
      reason: reason(),
      addresses: z.array(address()),
      opens: z.array(open()),
      message: z.nullable(z.string()),
    }),
  error: () => z.strictObject({ kind: z.literal('error'), code: z.string(), message: z.string() }),
  welcome: () => z.strictObject({ kind: z.literal('welcome'), opens: z.array(open()) }),
  grant: () => z.strictObject({ kind: z.literal('grant'), opens: z.array(open()) }),
  hold: () => z.strictObject({ kind: z.literal('hold') }),
  resume: () => z.strictObject({ kind: z.literal('resume') }),
  notice: () => z.strictObject({ kind: z.literal('notice'), text: z.string() }),
  stop: () => z.strictObject({ kind: z.literal('stop'), reason: reason() }),
  revoke: () =>
    z.strictObject({
      kind: z.literal('revoke'),
      connections: z.array(destination()),
      opens: z.array(open()),
      ports: z.array(port()),
    }),
};

/** Reads what launchers send. The parser throws an Error that says what is wrong. */
export function createLauncherParser(): ParseFrame<LauncherFrame> {
  return createParser(launcherFrames);
}

/** Reads what brokers send: for tests, and for whoever plays the launcher's part. */
export function createBrokerParser(): ParseFrame<BrokerFrame> {
  return createParser(brokerFrames);
}

/** Each schema is built when its kind is first met, and kept by the parser. */
function createParser<Frame extends { readonly kind: string }>(
  schemas: Schemas<Frame>,
): ParseFrame<Frame> {
  const byKind = new Map<string, () => z.ZodMiniType<Frame>>(Object.entries(schemas));
  const built = new Map<string, z.ZodMiniType<Frame>>();
  return (bytes) => {
    const value = parseStrictJson(bytes);
    const kind = kindOf(value);
    const schema = built.get(kind) ?? byKind.get(kind)?.();
    if (schema === undefined) throw new Error(`unknown kind ${JSON.stringify(kind.slice(0, 40))}`);
    built.set(kind, schema);
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    throw new Error(`${kind}: ${z.prettifyError(result.error).replace(/\s+/gu, ' ')}`);
  };
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('not an object');
  }
  const kind: unknown = 'kind' in value ? value.kind : undefined;
  if (typeof kind !== 'string') throw new Error('no kind');
  return kind;
}
