// The only definition of Cordon's settings: what may be written, and nothing that is not enforced. `contributes.configuration`
// is generated from it (manifest.ts). A layer is parsed alone; what is missing stays missing, defaults come last.

import * as z from 'zod/mini';

import { once } from '../base/once.js';

export type TempMode = 'private' | 'shared';
export type CachesMode = 'off' | 'private' | 'shared';
export type NetworkMode = 'off' | 'ask' | 'on';
/** Changes to git directories. */
export type GitMode = 'protect' | 'ask' | 'allow';
/** Listeners inside, seen from this machine. */
export type ListenMode = 'private' | 'ask';

export interface SettingDefaults {
  readonly temp: TempMode;
  readonly caches: CachesMode;
  readonly mode: NetworkMode;
  /** Seconds. */
  readonly timeout: number;
}

/** What a key without a value means. Lists start empty and add to what is built in. */
export const settingDefaults: SettingDefaults = {
  temp: 'private',
  caches: 'private',
  mode: 'ask',
  timeout: 300,
};

/** Generous, and below what the launcher takes in a plan (native/common/limits.h). */
const LONGEST_LIST = 10_000;
const LONGEST_ENVIRONMENT_LIST = 400;
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
    denyRead: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Files and folders that sandboxed commands cannot read, besides the usual secrets (`~/.ssh`, `~/.aws`, `~/.gnupg`, browser profiles, …). Absolute, starting with `~/`, or relative to each writable root. In user settings, `!` before a built-in one opens it again: `!~/.kube`.',
        default: [],
        examples: [['.env', '~/notes', '!~/.kube']],
      }),
    ),
    protectedPaths: z.optional(
      list(LONGEST_LIST).register(settingWords, {
        description:
          'Files and folders that stay read-only inside writable roots, besides the built-in ones (`.git`, `.vscode`, `.github/workflows`, …). Relative to each writable root, absolute, or starting with `~/`. In user settings, `!` before a built-in one opens it for writing: `!.idea`; `.git`, `.codex`, `.agents` and Cordon’s own files stay protected.',
        default: [],
        examples: [['deploy', '!.idea']],
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
  });
}

function environmentSchema() {
  return z.strictObject({
    drop: z.optional(
      list(LONGEST_ENVIRONMENT_LIST, /^[A-Za-z_*?][A-Za-z0-9_*?]*$/u).register(settingWords, {
        description:
          'Environment variables that sandboxed commands do not get, besides those whose names look like secrets (`*_TOKEN`, `*PASSWORD*`, `AWS_*`, …) or lead out of the sandbox (`SSH_AUTH_SOCK`, `DOCKER_HOST`, …). `*` and `?` stand for any characters and any one character.',
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
        description: 'Seconds that a held connection waits for your answer. No answer means no.',
        default: settingDefaults.timeout,
      }),
    ),
  });
}

function sections() {
  return {
    filesystem: filesystemSchema(),
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
  const { filesystem, network, environment, approvals } = sections();
  return z.strictObject({
    filesystem: z.optional(filesystem),
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
