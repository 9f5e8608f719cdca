// What a program wants beyond the boundary, and what was decided. Types, shared by broker, audit, faces.

import type { AbsolutePath } from './paths.js';

/** Who asks: as the supervisor saw it on the host. Text from programs: never trust it as ours when showing it. */
export interface Subject {
  readonly pid: number;
  readonly executable: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  /** From the asking process outwards. */
  readonly chain: readonly { readonly pid: number; readonly name: string }[];
}

export type Destination =
  | { readonly host: string; readonly port: number }
  | { readonly address: string; readonly port: number };

export interface LookupObject {
  readonly host: string;
}

/** What the network rules decide about. */
export type NetworkObject = Destination | LookupObject;

/** What is done to a file, in words that travel in frames. */
export const FILE_CALLS = [
  'create',
  'open',
  'mkdir',
  'remove',
  'rename',
  'link',
  'symlink',
  'mknod',
  'truncate',
  'mode',
  'owner',
  'times',
  'attribute',
  'bind',
] as const;

export type FileCall = (typeof FILE_CALLS)[number];

export interface WriteObject {
  readonly path: AbsolutePath;
  readonly call: FileCall;
  /** For `rename` and `link`: the other path. */
  readonly to: AbsolutePath | null;
  /** What an answer for more than this call opens; null when it is the path itself. */
  readonly folder: AbsolutePath | null;
  /** Inside a place that stays read-only although the folder around it is writable. */
  readonly protected: boolean;
  /** What would be written, as far as it can be shown. */
  readonly change: string | null;
}

export interface GitObject {
  /** The git directory, for a linked worktree the common one; where it will be when it does not exist yet. */
  readonly repository: AbsolutePath;
  readonly path: AbsolutePath;
  readonly call: FileCall;
}

export interface ReadObject {
  readonly path: AbsolutePath;
  /** The closed folder that the file lies in; null when the file itself is closed. */
  readonly folder: AbsolutePath | null;
}

export interface SocketObject {
  readonly path: AbsolutePath;
  readonly call: 'connect' | 'bind';
}

export interface SignObject {
  readonly agent: 'ssh' | 'gpg';
  /** As the agent names it: a fingerprint with its comment, or a keygrip. */
  readonly key: string;
  /** What the signature is for; empty when the agent's protocol does not tell. */
  readonly purpose: string;
}

export interface PublishObject {
  readonly port: number;
}

/** The object of each action. */
export interface RequestObjects {
  readonly connect: Destination;
  readonly lookup: LookupObject;
  readonly write: WriteObject;
  readonly git: GitObject;
  readonly read: ReadObject;
  readonly socket: SocketObject;
  readonly sign: SignObject;
  readonly publish: PublishObject;
}

export type Action = keyof RequestObjects;

/** An action with its object, by a table of objects like `RequestObjects`. */
export type Acting<Objects extends Readonly<Record<Action, unknown>>, A extends Action = Action> = {
  [Each in A]: { readonly action: Each; readonly object: Objects[Each] };
}[A];

export type Wanted<A extends Action = Action> = Acting<RequestObjects, A>;

/** What is put into words of a request: what would be written is shown apart, the words only know whether it is known. */
export interface WordedObjects extends Omit<RequestObjects, 'write'> {
  readonly write: Omit<WriteObject, 'change'> & { readonly change: object | string | null };
}

export type Worded<A extends Action = Action> = Acting<WordedObjects, A>;

export type AccessRequest = {
  readonly run: string;
  readonly subject: Subject;
  /** Why, in the program's own words (`cordon request`): nothing is held then. Null for a call that is held. */
  readonly because: string | null;
} & Wanted;

/** What a run may do with a place, and with all below it. */
export type Access = 'write' | 'read' | 'git' | 'socket';

export interface Open {
  readonly access: Access;
  readonly path: AbsolutePath;
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
  /** For `connect` and `lookup`: what may be dialled. */
  readonly addresses: readonly string[];
  /** What is open to the run from now on; nothing for just this call. */
  readonly opens: readonly Open[];
  readonly message?: string;
}
