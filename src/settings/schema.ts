// The only definition of Cordon's settings: what may be written, and nothing that is not enforced. `contributes.configuration`
// is generated from it (manifest.ts). A layer is parsed alone; what is missing stays missing, defaults come last.

import * as z from 'zod/mini';

import { once } from '../base/once.js';

export type TempMode = 'private' | 'shared';
export type CachesMode = 'off' | 'private' | 'shared';
export type NetworkMode = 'off' | 'ask' | 'on';
export type ReadMode = 'roots' | 'anywhere';
/** Changes to git directories. */
export type GitMode = 'protect' | 'ask' | 'allow';
/** Programs that sign with the user's keys. */
export type AgentsMode = 'off' | 'ask';
/** Listeners inside, seen from this machine. */
export type ListenMode = 'private' | 'ask';

export interface SettingDefaults {
  readonly git: GitMode;
  readonly read: ReadMode;
  readonly hideNames: boolean;
  readonly temp: TempMode;
  readonly caches: CachesMode;
  readonly agents: AgentsMode;
  readonly mode: NetworkMode;
  readonly listen: ListenMode;
  /** Seconds. */
  readonly timeout: number;
}

/** What a key without a value means. Lists start empty and add to what is built in. */
export const settingDefaults: SettingDefaults = {
  git: 'ask',
  read: 'anywhere',
  hideNames: false,
  temp: 'private',
  caches: 'private',
  agents: 'ask',
  mode: 'ask',
  listen: 'ask',
  timeout: 300,
};

/** Generous, and below what the launcher takes in a plan (native/common/limits.h). */
const LONGEST_LIST = 10_000;
const LONGEST_ENVIRONMENT_LIST = 400;
const LONGEST_PORT_LIST = 1000;
const LONGEST_TEXT = 4096;

interface Words {
  readonly description: string;
  readonly default: unknown;
  readonly examples?: readonly unknown[];
  readonly enumDescriptions?: readonly string[];
}

/** What a person reads about each key, in the settings page. Markdown. */
export const settingWords = z.registry<Words>();

function list(longest: number, pattern?: RegExp) {
  const text = z.string().check(z.minLength(1), z.maxLength(LONGEST_TEXT));
  return z
    .array(pattern === undefined ? text : text.check(z.regex(pattern)))
    .check(z.maxLength(longest));
}

function filesystemSchema() {
  return z.strictObject({
    writableRoots: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Folders that sandboxed commands may write to, besides the workspace folders. Absolute, or starting with `~/`. In the administrator’s file: the only folders that anyone may open for writing.',
        default: [],
        examples: [['~/scratch', '/srv/build']],
      }),
    ),
    git: z.optional(
      z.enum(['protect', 'ask', 'allow']).register(settingWords, {
        description:
          'What happens when a sandboxed command changes a git repository: objects, branches, index. Hooks, and settings that run programs, are asked about by themselves whatever is set here.',
        default: settingDefaults.git,
        enumDescriptions: [
          'Refused: repositories are read-only.',
          'The first change to each repository is held and you are asked.',
          'Allowed.',
        ],
      }),
    ),
    read: z.optional(
      z.enum(['roots', 'anywhere']).register(settingWords, {
        description: 'What sandboxed commands read without a question.',
        default: settingDefaults.read,
        enumDescriptions: [
          'Writable roots, `#cordon.filesystem.readRoots#`, the system’s own folders (`/usr`, `/etc`, `/opt` …), and tool chains in the home folder. Opening anything else is held and you are asked.',
          'Everything but the usual secrets and `#cordon.filesystem.denyRead#`.',
        ],
      }),
    ),
    readRoots: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Files and folders that sandboxed commands read without a question when `#cordon.filesystem.read#` is `roots`. Absolute, or starting with `~/`. In the administrator’s file: the only ones that anyone may add.',
        default: [],
        examples: [['~/libraries', '/srv/data']],
      }),
    ),
    denyRead: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Files and folders that sandboxed commands neither read nor change without asking you, whether or not they exist, besides the usual secrets (`~/.ssh`, `~/.aws`, `~/.gnupg`, browser profiles, …). Absolute, starting with `~/`, or relative to each writable root; whole names, no patterns. In user settings, `!` opens again what is closed by default or by you, or something inside it: `!~/.kube`, `!~/.ssh/config`.',
        default: [],
        examples: [['.env', '~/notes', '!~/.kube', '!~/.ssh/config']],
      }),
    ),
    hideNames: z.optional(
      z.boolean().register(settingWords, {
        description:
          'Hides also the names in places that are closed for reading. Otherwise they are listed, and only opening a file asks.',
        default: settingDefaults.hideNames,
      }),
    ),
    protectedPaths: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Files and folders inside writable roots whose changes ask you, besides the built-in ones (`.vscode`, `.idea`, `.github/workflows`, …), whether or not they exist. Relative to each writable root and each repository in one, absolute, or starting with `~/`. In user settings, `!` gives up a built-in one everywhere (`!.idea`), or one place (`!/home/me/project/.vscode/settings.json`); git repositories, `.codex`, `.agents` and Cordon’s own files stay protected.',
        default: [],
        examples: [['deploy', '!.idea', '!~/project/.vscode/settings.json']],
      }),
    ),
    temp: z.optional(
      z.enum(['private', 'shared']).register(settingWords, {
        description: 'Temporary files of sandboxed commands.',
        default: settingDefaults.temp,
        enumDescriptions: [
          '`/tmp` and `/var/tmp` are empty and private to each run, and gone when it ends.',
          'Sandboxed commands read and write the `/tmp` and `/var/tmp` of this machine.',
        ],
      }),
    ),
    caches: z.optional(
      z.enum(['off', 'private', 'shared']).register(settingWords, {
        description:
          'Download and build caches of npm, pnpm, yarn, pip, cargo, go, gradle, maven and others in the home folder.',
        default: settingDefaults.caches,
        enumDescriptions: [
          'Caches are read-only, like everything else outside writable roots.',
          'Sandboxed commands see your caches and write to a layer of their own, kept for each workspace. Yours do not change.',
          'Sandboxed commands write to your caches. What they leave there, programs outside the sandbox will use.',
        ],
      }),
    ),
  });
}

function socketsSchema() {
  return z.strictObject({
    allow: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Unix sockets of this machine that sandboxed commands connect to without a question; a folder stands for all sockets below it. Absolute, or starting with `~/`. Whatever listens there is reached as if by you: a container engine’s socket, for one, gives everything away. In the administrator’s file: the only ones that anyone may allow.',
        default: [],
        examples: [['/run/postgresql', '~/.local/share/app/control.sock']],
      }),
    ),
    deny: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Unix sockets that sandboxed commands never connect to, besides those of the desktop and the system (D-Bus, X11, Wayland, PulseAudio, systemd …); written like `#cordon.sockets.allow#`, and stronger.',
        default: [],
        examples: [['/run/docker.sock']],
      }),
    ),
    agents: z.optional(
      z.enum(['off', 'ask']).register(settingWords, {
        description: 'The agents that hold your keys: ssh-agent and gpg-agent.',
        default: settingDefaults.agents,
        enumDescriptions: [
          'Out of reach.',
          'Sandboxed commands reach them; every signature is held and you are asked, with the key.',
        ],
      }),
    ),
  });
}

function networkSchema() {
  return z.strictObject({
    mode: z.optional(
      z.enum(['off', 'ask', 'on']).register(settingWords, {
        description: 'What happens when a sandboxed command connects to a host that no rule names.',
        default: settingDefaults.mode,
        enumDescriptions: [
          'Refused. Only what is in `#cordon.network.allow#` is reached.',
          'The connection is held and you are asked.',
          'Allowed, except for private, loopback and link-local addresses, which are asked about.',
        ],
      }),
    ),
    allow: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Hosts that sandboxed commands reach without a question: `HOST`, `HOST:PORT`, `HOST:FROM-TO`, `*.HOST` (every name below it), `10.0.0.0/8`, `[2001:db8::1]:443`. `localhost:PORT` lets that port of this machine in. In the administrator’s file: the only hosts that anyone may allow.',
        default: [],
        examples: [['registry.npmjs.org:443', '*.github.com:443', 'localhost:5432']],
      }),
    ),
    deny: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Hosts that sandboxed commands never reach; written like `#cordon.network.allow#`, and stronger. An address or network here also refuses every name that leads to it.',
        default: [],
        examples: [['*.example.com', '192.168.0.0/16']],
      }),
    ),
    listen: z.optional(
      z.enum(['private', 'ask']).register(settingWords, {
        description:
          'Servers that sandboxed commands start, a dev server for one. Inside they are always reached.',
        default: settingDefaults.listen,
        enumDescriptions: [
          'They stay inside. Only ports in `#cordon.network.publish#` are reached from this machine.',
          'You are asked whether this machine may reach the port, on its loopback address only.',
        ],
      }),
    ),
    publish: z.optional(
      z
        .array(z.int().check(z.minimum(1), z.maximum(65535)))
        .check(z.maxLength(LONGEST_PORT_LIST))
        .register(settingWords, {
          description:
            'Ports on which this machine reaches servers inside without a question. In the administrator’s file: the only ones that anyone may add.',
          default: [],
          examples: [[3000, 5173]],
        }),
    ),
  });
}

function environmentSchema() {
  return z.strictObject({
    drop: z.optional(
      list(LONGEST_ENVIRONMENT_LIST, /^[A-Za-z_*?][A-Za-z0-9_*?]*$/u).register(settingWords, {
        description:
          'Environment variables that sandboxed commands do not get, besides those whose names look like secrets (`*_TOKEN`, `*PASSWORD*`, `AWS_*`, …) or lead out of the sandbox (`DBUS_*`, `DOCKER_HOST`, …). `*` and `?` stand for any characters and any one character.',
        default: [],
        examples: [['INTERNAL_*']],
      }),
    ),
    keep: z.optional(
      list(LONGEST_ENVIRONMENT_LIST, /^[A-Za-z_][A-Za-z0-9_]*$/u).register(settingWords, {
        description:
          'Environment variables that sandboxed commands get although they would be dropped: whole names, no patterns. In the administrator’s file: the only variables that anyone may keep.',
        default: [],
        examples: [['NPM_TOKEN']],
      }),
    ),
  });
}

function approvalsSchema() {
  return z.strictObject({
    timeout: z.optional(
      z.int().check(z.minimum(5), z.maximum(3600)).register(settingWords, {
        description: 'Seconds that a held call waits for your answer. No answer means no.',
        default: settingDefaults.timeout,
      }),
    ),
  });
}

function sections() {
  return {
    filesystem: filesystemSchema(),
    sockets: socketsSchema(),
    network: networkSchema(),
    environment: environmentSchema(),
    approvals: approvalsSchema(),
  };
}

/**
 * Nested as in `.cordon.json` and the administrator's file; VS Code's keys are the dotted paths after `cordon.` Made on first
 * use: a start without any settings needs none of it.
 */
export const settingsSchema = once(() => {
  const { filesystem, sockets, network, environment, approvals } = sections();
  return z.strictObject({
    filesystem: z.optional(filesystem),
    sockets: z.optional(sockets),
    network: z.optional(network),
    environment: z.optional(environment),
    approvals: z.optional(approvals),
  });
});

export type LayerValues = z.infer<ReturnType<typeof settingsSchema>>;

/** Every key there is, as a dotted path. */
export const settingKeys = once((): readonly string[] =>
  Object.entries(sections()).flatMap(([name, section]) =>
    Object.keys(section.shape).map((key) => `${name}.${key}`),
  ),
);
