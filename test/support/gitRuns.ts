// A launcher that judges changes of repositories, and a broker that answers as the test says.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { planFor, startLauncher } from './launcherPeer.js';
import type { Ended, Frame } from './launcherPeer.js';

/** `once`: this call; `open`: what was asked, from now on. */
export type Answer = 'deny' | 'once' | 'open';

interface FileAsk extends Frame {
  readonly kind: 'ask';
  readonly id: number;
  readonly action: 'git' | 'write';
  readonly object: {
    readonly path: string;
    readonly call: string;
    readonly repository?: string;
    readonly to?: string | null;
    readonly folder?: string | null;
    readonly protected?: boolean;
    readonly change?: string | null;
  };
}

/** A question in words, paths relative to the place: `git ws/.git`, `protected ws/.git/hooks`, `write other`. */
export interface Asked {
  readonly what: string;
  readonly path: string;
  readonly call: string;
  readonly change: string | null;
}

export interface GitPlace {
  /** Holds all of this, and is the home of what runs; below the user's own, since /tmp is private inside. */
  readonly folder: string;
  readonly workspace: string;
  /** Runs on the host, in the workspace; throws when it fails. Gives standard output. */
  host(script: string): string;
  at(name: string): string;
}

const environment = {
  PATH: '/usr/bin:/bin',
  LANG: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
};

/** Removed with the test. */
export function createGitPlace(t: { after(end: () => void): void }): GitPlace {
  const folder = mkdtempSync(path.join(os.homedir(), 'git-'));
  t.after(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const workspace = path.join(folder, 'ws');
  mkdirSync(workspace);
  const place: GitPlace = {
    folder,
    workspace,
    at: (name) => path.join(workspace, name),
    host(script) {
      const result = spawnSync('/bin/bash', ['--norc', '-ec', script], {
        cwd: workspace,
        env: { ...environment, HOME: folder },
        encoding: 'utf8',
      });
      if (result.status !== 0) throw new Error(`${script}: ${result.stderr}`);
      return result.stdout;
    },
  };
  place.host(
    'git config --global user.name A; git config --global user.email a@example.com; ' +
      'git config --global init.defaultBranch main; git config --global protocol.file.allow always',
  );
  return place;
}

export interface GitRunOptions {
  /** Default: every git question is opened, everything else refused. */
  readonly answer?: (asked: Asked) => Answer;
  /** Replace keys of the plan's `files`. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** The plan's; default: none. */
  readonly network?: Readonly<Record<string, unknown>>;
}

export interface GitRun extends Ended {
  readonly asked: readonly Asked[];
  /** What was asked, each once, in order. */
  readonly questions: readonly string[];
}

const NAMES = [
  '.vscode',
  '.envrc',
  '.husky',
  '.github/workflows',
  '.github/hooks',
  '.agents',
  '.codex',
];
const PACKAGES = ['node_modules', 'vendor', 'site-packages'];

export const openGit = (asked: Asked): Answer => (asked.what.startsWith('git ') ? 'open' : 'deny');

/** `bash -e` of the script inside, to its end. */
export async function runInside(
  place: GitPlace,
  script: string,
  options: GitRunOptions = {},
): Promise<GitRun> {
  const asked: Asked[] = [];
  const peer = await startLauncher(['/bin/bash', '--norc', '-ec', script], {
    cwd: place.workspace,
    environment: { ...environment, HOME: place.folder },
    plan: planFor(place.workspace, {
      mounts: [
        { op: 'private', path: '/tmp' },
        { op: 'writable', path: place.workspace },
      ],
      files: {
        roots: [place.workspace],
        names: NAMES,
        protected: [],
        packages: PACKAGES,
        quiet: [],
        git: 'ask',
        repositories: [],
        ...options.files,
      },
      ...(options.network && { network: options.network }),
    }),
    reply(frame) {
      if (frame.kind !== 'ask') return undefined;
      const ask = frame as FileAsk;
      const one = inWords(place, ask);
      asked.push(one);
      return reply(ask, (options.answer ?? openGit)(one));
    },
  });
  const ended = await peer.ended;
  return { ...ended, asked, questions: [...new Set(asked.map(({ what }) => what))] };
}

function inWords(place: GitPlace, { action, object }: FileAsk): Asked {
  const relative = (absolute: string): string => path.relative(place.folder, absolute) || '.';
  const kind = action === 'write' && object.protected === true ? 'protected' : action;
  return {
    what: `${kind} ${relative(object.repository ?? object.folder ?? object.path)}`,
    path: relative(object.path),
    call: object.call,
    change: object.change ?? null,
  };
}

function reply({ id, action, object }: FileAsk, answer: Answer): Frame {
  const open = { access: action, path: object.repository ?? object.folder ?? object.path };
  return {
    kind: 'answer',
    id,
    effect: answer === 'deny' ? 'deny' : 'allow',
    reason: 'user',
    opens: answer === 'open' ? [open] : [],
    addresses: [],
    message: null,
  };
}
