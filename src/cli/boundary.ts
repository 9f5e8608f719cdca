// From flags and files to the boundary of one call: its roots, and the policy that the layers of settings make together.
// It must not decide anything: it reads, and hands over.

import os from 'node:os';
import path from 'node:path';
import { realpathSync } from 'node:fs';
import { bytesToText, textToBytes } from '../base/bytes.js';
import { defaultFolders, findLauncher, planFor, probeHost } from '../session/hostPlan.js';
import {
  describeProblem,
  parseLayerValue,
  readLayerFile,
  readManagedLayer,
  readWorkspaceLayer,
  resolveLayers,
} from '../session/layers.js';
import { realFolder, workingDirectory } from './paths.js';
import { UsageError } from './usage.js';
import { quoted, say } from './messages.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { BoundaryFlags } from './options.js';
import type { Layer } from '../settings/layers.js';
import type { Policy, PolicyResult } from '../policy/policy.js';

export interface Boundary {
  readonly directory: AbsolutePath;
  readonly policy: PolicyResult;
  readonly folders: Folders;
}

/** Where this account keeps what is Cordon's. */
export interface Folders {
  readonly home: AbsolutePath;
  /** Record and caches. */
  readonly state: AbsolutePath;
  readonly settingsFile: AbsolutePath;
}

export function findFolders(environment: NodeJS.ProcessEnv): Folders {
  const home = absoluteOr(environment['HOME'], os.userInfo().homedir);
  const settings = absoluteOr(environment['XDG_CONFIG_HOME'], path.join(home, '.config'));
  return {
    home,
    state: defaultFolders(environment).state,
    settingsFile: path.join(settings, 'cordon', 'settings.json') as AbsolutePath,
  };
}

/** A variable counts only when it is absolute (XDG Base Directory Specification). */
function absoluteOr(value: string | undefined, otherwise: string): AbsolutePath {
  return path.normalize(value?.startsWith('/') === true ? value : otherwise) as AbsolutePath;
}

export function resolveBoundary(flags: BoundaryFlags, folders: Folders): Boundary {
  const directory = workingDirectory();
  const root = flags.root === undefined ? directory : realFolder('--root', flags.root);
  const layers = [
    readManagedLayer(),
    readLayerFile({ kind: 'user', file: folders.settingsFile }),
    readWorkspaceLayer(root),
    policyFileLayer(flags.policy),
    flagsLayer(flags),
  ].filter((layer): layer is Layer => layer !== undefined);
  const policy = resolveLayers(layers, {
    home: folders.home,
    uid: os.userInfo().uid,
    roots: [root],
    state: folders.state,
    own: [path.dirname(folders.settingsFile) as AbsolutePath, installation()],
  });
  return { directory, policy, folders };
}

/** The policy, after its warnings were said; throws what is wrong with the settings. */
export function usablePolicy(result: PolicyResult): Policy {
  const lines = result.problems
    .filter(({ severity }) => result.kind === 'resolved' || severity === 'error')
    .map(describeProblem);
  if (result.kind === 'refused') {
    const more = lines.length > 1 ? ` (and ${lines.length - 1} more: cordon explain .)` : '';
    throw new UsageError(
      `nothing was started, because the settings are wrong: ${lines[0] ?? ''}${more}`,
    );
  }
  for (const line of lines) say(line);
  return result.policy;
}

function policyFileLayer(file: string | undefined): Layer | undefined {
  if (file === undefined) return undefined;
  const layer = readLayerFile({ kind: 'run', typed: true, file });
  if (layer === undefined) throw new UsageError(`--policy ${quoted(file)} does not exist`);
  return layer;
}

/** What the flags say; nothing for none of them, so that a plain run need not read their schema. */
function flagsLayer(flags: BoundaryFlags): Layer | undefined {
  const { write = [], read, git, network, allow = [], deny = [] } = flags;
  const said = [read, git, network, ...write, ...allow, ...deny];
  if (said.every((each) => each === undefined)) return undefined;
  return parseLayerValue(
    { kind: 'run', typed: true },
    {
      filesystem: {
        writableRoots: write.map((folder) => realFolder('--write', folder)),
        ...(read === undefined ? {} : { read }),
        ...(git === undefined ? {} : { git }),
      },
      network: { ...(network === undefined ? {} : { mode: network }), allow, deny },
    },
  );
}

/** The folder of this program with all its links resolved: read-only inside, even when it lies in a writable root. */
export function installation(): AbsolutePath {
  const program = process.argv[1] ?? process.execPath;
  return path.dirname(
    bytesToText(realpathSync.native(textToBytes(program), { encoding: 'buffer' })),
  ) as AbsolutePath;
}

/** The plan that a run with this policy would get on this host; nothing is started. */
export function previewPlan(
  policy: Policy,
  directory: AbsolutePath,
  { state }: Folders,
): ReturnType<typeof planFor> {
  return planFor(policy, {
    run: 'preview',
    directory,
    state,
    support: probeHost(findLauncher(installation()), state),
    brokerLoss: 'end',
    terminal: 'inherit',
  });
}
