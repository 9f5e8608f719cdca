// What each action means on its way to a person: when requests are equal, what an answer for more than one call opens,
// what an answer for good writes, and the words. One row for each action; nowhere else is there a case of its own.

import type { AlwaysRule, GrantTarget, Revocation } from '../policy/grant.js';
import { fixedProtectedNames } from '../policy/defaults.js';
import type { AbsolutePath } from '../policy/paths.js';
import type {
  Action,
  Open,
  RequestObjects,
  Wanted,
  Worded,
  WordedObjects,
  WriteObject,
} from '../policy/request.js';
import { hasComponents } from '../policy/usualPlaces.js';
import { keyText, networkText, pathText, quoted, repositoryText } from './words.js';

interface ActionRow<A extends Action> {
  /** Requests of one run with the same key are one question; undefined: each is a question of its own. */
  readonly key: (object: RequestObjects[A]) => string | undefined;
  /** What belongs together when a program asks again and again; default: the key. */
  readonly place?: (object: RequestObjects[A]) => string;
  /** What an answer for more than this call is about; throws for what is never a question. */
  readonly target: (object: RequestObjects[A]) => GrantTarget;
  /** What *always* and *deny always* write; nothing: the first is not offered, the second holds for the session. */
  readonly always: (
    object: RequestObjects[A],
    addresses: readonly string[],
  ) => readonly AlwaysRule[];
  readonly never: (object: RequestObjects[A]) => readonly AlwaysRule[];
  /** Completes "NAME wants to". */
  readonly wish: (object: WordedObjects[A], home: string) => string;
  /** Completes "denied: NAME to", when it is not the wish. */
  readonly deed?: (object: WordedObjects[A]) => string;
  /** Nothing is refused to the program itself, so that nobody could be asked is only recorded. */
  readonly isExtra?: true;
  /** Why it is a question, in words; undefined where the policy's rules say. */
  readonly why?: (object: WordedObjects[A]) => string;
}

const nothing = (): readonly AlwaysRule[] => [];

const actions: { readonly [A in Action]: ActionRow<A> } = {
  connect: {
    key: networkText,
    target: (object) => object,
    always: (object, addresses) =>
      [object, ...addresses.map((address) => ({ address, port: object.port }))].map((each) => ({
        effect: 'allow',
        setting: 'network.allow',
        entry: networkText(each),
      })),
    never: (object) => [{ effect: 'deny', setting: 'network.deny', entry: networkText(object) }],
    wish: (object) => `reach ${networkText(object)}`,
    deed: networkText,
  },
  lookup: {
    key: networkText,
    target: () => {
      throw new Error('a look-up is never a question');
    },
    always: nothing,
    never: nothing,
    wish: (object) => `look up ${networkText(object)}`,
    deed: networkText,
  },
  write: {
    key: writeKey,
    place: placeOf,
    target: (object) => ({ access: 'write', path: placeOf(object), protected: object.protected }),
    always: alwaysWrite,
    never: nothing,
    wish: writeWish,
    why: (object) =>
      object.protected
        ? 'it is protected: programs outside of the boundary run or trust what is in it'
        : 'it lies outside of the writable folders',
  },
  git: {
    key: ({ repository }) => repository,
    target: ({ repository }) => ({ access: 'git', path: repository, protected: false }),
    always: () => [{ effect: 'allow', setting: 'filesystem.git', entry: 'allow' }],
    never: nothing,
    wish: ({ repository }, home) => `update the repository ${repositoryText(repository, home)}`,
    why: () => 'git directories are asked about (cordon.filesystem.git)',
  },
  read: {
    key: ({ path }) => path,
    place: placeOf,
    target: (object) => ({ access: 'read', path: placeOf(object), protected: false }),
    always: (object) => [
      { effect: 'allow', setting: 'filesystem.denyRead', entry: `!${placeOf(object)}` },
    ],
    never: nothing,
    wish: ({ path }, home) => `read ${pathText(path, home)}`,
    why: () => 'it is closed for reading',
  },
  socket: {
    key: ({ call, path }) => `${call} ${path}`,
    target: ({ path }) => ({ access: 'socket', path, protected: false }),
    always: ({ path }) => [{ effect: 'allow', setting: 'sockets.allow', entry: path }],
    never: ({ path }) => [{ effect: 'deny', setting: 'sockets.deny', entry: path }],
    wish: socketWish,
    why: () => 'a program outside of the boundary is behind it',
  },
  sign: {
    key: () => undefined,
    place: ({ agent, key }) => `${agent} ${key}`,
    target: ({ agent, key }) => ({ agent, key }),
    always: nothing,
    never: nothing,
    wish: ({ purpose, ...key }) =>
      `use the ${keyText(key)}${purpose === '' ? '' : ` to ${quoted(purpose, PURPOSE_LIMIT)}`}`,
    why: () => 'every use of a key is asked about (cordon.sockets.agents)',
  },
  publish: {
    key: ({ port }) => String(port),
    target: ({ port }) => ({ publish: port }),
    always: ({ port }) => [{ effect: 'allow', setting: 'network.publish', entry: port }],
    never: nothing,
    wish: ({ port }) => `open port ${port} on this machine`,
    isExtra: true,
    why: () => 'listeners are private to a run (cordon.network.listen)',
  },
};

const PURPOSE_LIMIT = 80;

/** Equal keys of one run are one question; undefined: it is never joined. */
export function keyOf<A extends Action>({ action, object }: Wanted<A>): string | undefined {
  const key = actions[action].key(object);
  return key === undefined ? undefined : `${action} ${key}`;
}

/** What is counted together when a program asks again and again. */
export function placeKeyOf<A extends Action>({ action, object }: Wanted<A>): string {
  const row = actions[action];
  return `${action} ${row.place?.(object) ?? row.key(object) ?? ''}`;
}

/** What an answer for more than this call is about. Throws for a lookup, which is never a question. */
export function targetOf<A extends Action>({ action, object }: Wanted<A>): GrantTarget {
  return actions[action].target(object);
}

/** What *always* writes; empty: it is not offered. */
export function alwaysOf<A extends Action>(
  { action, object }: Wanted<A>,
  addresses: readonly string[],
): readonly AlwaysRule[] {
  return actions[action].always(object, addresses);
}

/** What *deny always* writes; empty: it is remembered for the session. */
export function neverOf<A extends Action>({ action, object }: Wanted<A>): readonly AlwaysRule[] {
  return actions[action].never(object);
}

/** The folder or place that an answer for more than this call opens, when that is more than the path itself. */
export function widerOf(wanted: Wanted): string | null {
  return wanted.action === 'write' || wanted.action === 'read' ? wanted.object.folder : null;
}

/** What a run can do from now on once a grant for this target takes effect in it. */
export function opensOf(target: GrantTarget): readonly Open[] {
  return 'access' in target ? [{ access: target.access, path: target.path }] : [];
}

/** What it loses when that grant is taken back. */
export function revocationOf(target: GrantTarget): Revocation {
  const opens = opensOf(target);
  if ('publish' in target) return { connections: [], opens, ports: [target.publish] };
  return { connections: 'port' in target ? [target] : [], opens, ports: [] };
}

/** Completes "NAME wants to". */
export function wishOf<A extends Action>({ action, object }: Worded<A>, home: string): string {
  return actions[action].wish(object, home);
}

/** Completes "denied: NAME to". */
export function deedOf<A extends Action>({ action, object }: Worded<A>, home: string): string {
  const row = actions[action];
  return row.deed?.(object) ?? row.wish(object, home);
}

/** Whether the program works without it: its listener serves inside all the same. */
export function isExtra({ action }: Pick<Wanted, 'action'>): boolean {
  return actions[action].isExtra === true;
}

/** Why it is a question or a refusal; undefined for what the network rules decide. */
export function whyOf<A extends Action>({ action, object }: Worded<A>): string | undefined {
  return actions[action].why?.(object);
}

function placeOf({
  path,
  folder,
}: {
  path: AbsolutePath;
  folder: AbsolutePath | null;
}): AbsolutePath {
  return folder ?? path;
}

/** Of what would be written only the first part is known when it is long. */
const CUT = /\n…$/u;

/** Nobody answers for text that was not shown: other text is another question. */
function writeKey({ call, path, to, change }: WriteObject): string | undefined {
  return change !== null && CUT.test(change) ? undefined : JSON.stringify([call, path, to, change]);
}

function alwaysWrite(object: WriteObject): readonly AlwaysRule[] {
  const { folder } = object;
  if (!object.protected) {
    return folder === null
      ? []
      : [{ effect: 'allow', setting: 'filesystem.writableRoots', entry: folder }];
  }
  const place = placeOf(object);
  if (fixedProtectedNames.some((name) => hasComponents(place, name))) return [];
  return [{ effect: 'allow', setting: 'filesystem.protectedPaths', entry: `!${place}` }];
}

function writeWish({ call, path, to, change }: WordedObjects['write'], home: string): string {
  const place = pathText(path, home);
  const other = to === null ? 'another place' : pathText(to, home);
  switch (call) {
    case 'create':
      return `create ${place}`;
    case 'open':
      return `write to ${place}`;
    case 'mkdir':
      return `create the folder ${place}`;
    case 'remove':
      return `remove ${place}`;
    case 'rename':
      // With a change something comes to the place; without one it may go either way.
      return change === null
        ? `move a file between ${place} and ${other}`
        : `move ${other} to ${place}`;
    case 'link':
      return `give one file two names, ${place} and ${other}`;
    case 'symlink':
      return `create the link ${place}`;
    case 'mknod':
      return `create the special file ${place}`;
    case 'truncate':
      return `change the length of ${place}`;
    case 'mode':
      return `change the permissions of ${place}`;
    case 'owner':
      return `change the owner of ${place}`;
    case 'times':
      return `change the times of ${place}`;
    case 'attribute':
      return `change an attribute of ${place}`;
    case 'bind':
      return `create the socket ${place}`;
  }
}

/** Programs whose socket gives whoever reaches it the rights of the machine's administrator, or close to it. */
const ENGINES: readonly (readonly [socket: RegExp, name: string])[] = [
  [/docker[\w.-]*\.sock$/u, 'Docker'],
  [/podman[\w.-]*\.sock$/u, 'Podman'],
  [/containerd[\w.-]*\.sock(?:\.ttrpc)?$/u, 'containerd'],
  [/crio\.sock$/u, 'CRI-O'],
  [/buildkitd?[\w.-]*\.sock$/u, 'BuildKit'],
  [/(?:lxd|incus)\/(?:.*\/)?unix\.socket$/u, 'LXD'],
  [/libvirt-sock$/u, 'libvirt'],
];

function socketWish({ path, call }: WordedObjects['socket'], home: string): string {
  const place = pathText(path, home);
  if (call === 'bind') return `create the socket ${place}`;
  const engine = ENGINES.find(([socket]) => socket.test(path))?.[1];
  if (engine === undefined) return `connect to the socket ${place}`;
  return `control ${engine} (${place}), which is full control of this machine`;
}
