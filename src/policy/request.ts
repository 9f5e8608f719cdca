// What a program wants beyond the boundary, and what was decided. Types, shared by broker, audit, faces.

/** Who asks: as the supervisor saw it on the host. Text from programs: never trust it as ours when showing it. */
export interface Subject {
  readonly pid: number;
  readonly executable: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  /** From the asking process outwards. */
  readonly chain: readonly { readonly pid: number; readonly name: string }[];
}

export type RequestObject =
  | { readonly host: string; readonly port: number }
  | { readonly address: string; readonly port: number }
  | { readonly host: string };

/** What a refusal learnt afterwards can be about, besides: the path of a unix socket. */
export type DenialObject = RequestObject | { readonly path: string };

export interface AccessRequest {
  readonly run: string;
  readonly subject: Subject;
  readonly action: 'connect' | 'lookup';
  readonly object: RequestObject;
}

/** Why a request ended as it did; travels in frames and stands in the audit. */
export const REASONS = [
  'rule',
  'grant',
  'user',
  'noAnswer',
  'noInterface',
  'withdrawn',
  'sessionClosed',
  'auditFailed',
  'unresolved',
  'brokerLost',
  'limit',
  'internal',
] as const;

export type ReasonCode = (typeof REASONS)[number];

/** The outcome of a request. `by` says who decided; a `message` is one line for the program's user. */
export interface Decision {
  readonly effect: 'allow' | 'deny';
  readonly by: 'rule' | 'grant' | 'user' | 'default';
  readonly reason: ReasonCode;
  readonly addresses: readonly string[];
  readonly message?: string;
}
