// Policy and facts → what the launcher does on Linux, as one value. Opens no file: the same policy and facts give the same
// plan anywhere. The order of mounts is the order of strength, weakest first:
//   / read-only (the launcher, always) · what is not to be read with `read: roots`, and what of it is · private temporary
//   folders · sockets in them · cache layers · writable roots · pinned folders · protected paths · closed places · the state
//   folder, with this run's own cache folder in it
// A root inside a private or covered place is mounted over it; protection wins over roots; what is closed wins over all.

import { CordonError } from '../base/errors.js';
import type { AbsolutePath } from '../policy/paths.js';
import { contains, innermost, outermost } from '../policy/paths.js';
import type { FilesystemPolicy, Policy } from '../policy/policy.js';
import type { NetworkRule } from '../policy/rules.js';
import { below } from '../policy/writtenPaths.js';
import { cachePaths, planCaches } from './caches.js';
import { planEnvironment } from './environment.js';
import { planFiles } from './files.js';
import {
  absentClosedGap,
  absentProtectedGap,
  hiddenClosedGap,
  homeRootGap,
  nestedRepositoriesGap,
  replaceableLinkGap,
} from './gaps.js';
import type { Facts, PlannedRun } from './host.js';
import { endOf, targetOf } from './host.js';
import type { Gap, LinuxPlan, Mount, Open, PlannedFiles, PlannedRule } from './plan.js';
import { componentsOf, planProtection } from './protect.js';
import type { ReadsPlan } from './reads.js';
import { planReads, readPaths } from './reads.js';
import { repositoryPaths } from './repositories.js';
import type { PlannedRoot } from './roots.js';
import { planRoots } from './roots.js';
import { hiddenSockets, planSockets, socketMounts, socketPaths } from './sockets.js';

export { foldersToList } from './reads.js';

/** What the launcher takes (native/common/limits.h). */
const limits = {
  mounts: 20_000,
  rules: 20_000,
  places: 20_000,
  ports: 1024,
  patterns: 1024,
} as const;

/** How long a run whose broker went away keeps its questions waiting. */
const BROKER_MS = 60_000;

const temporaryFolders = ['/tmp', '/var/tmp'] as readonly string[] as readonly AbsolutePath[];

/** Every path whose facts the plan for this run depends on. */
export function pathsToProbe(policy: Policy, run: PlannedRun): ReadonlySet<AbsolutePath> {
  const { filesystem } = policy;
  const roots = new Set(filesystem.writableRoots.map(({ path }) => path));
  return new Set([
    ...roots,
    ...(filesystem.rootLimit ?? []),
    ...readPaths(policy, run),
    ...repositoryPaths(filesystem),
    ...socketPaths(policy.sockets),
    ...filesystem.protectedPaths.flatMap((item) => componentsOf(item, roots)),
    ...temporaryFolders,
    ...(filesystem.caches.value === 'off' ? [] : cachePaths(run.home)),
    filesystem.state,
    run.home,
    run.directory,
  ]);
}

export interface PlanResult {
  readonly plan: LinuxPlan;
  readonly gaps: readonly Gap[];
  /** Folders of Cordon's own that must exist, mode 0700, before the launcher is given the plan. */
  readonly folders: readonly AbsolutePath[];
}

/** Throws a CordonError when this run must not start as asked. */
export function planLinux(policy: Policy, facts: Facts, run: PlannedRun): PlanResult {
  const { filesystem } = policy;
  const state = targetOf(facts.paths.get(filesystem.state))?.real ?? filesystem.state;
  const roots = planRoots(filesystem, facts);
  const open = outermost(roots.map(({ real }) => real));
  const temp = planTemp(policy, facts, open);
  const cacheFolder = moved(run.cacheFolder, filesystem.state, state);
  const caches = planCaches(filesystem.caches.value, { ...run, cacheFolder }, facts, open);
  const protection = planProtection(
    filesystem,
    roots,
    openWith(open, [...temp.mounts, ...caches.layers]),
    facts,
  );
  const unheld = facts.host.hold ? [] : hiddenSockets(policy.sockets, facts);
  const reads = planReads(policy, facts, run, open, unheld);
  const closed = [...reads.closed.map(({ path }) => path), state];
  const places = { open, closed, private: temp.private };
  const directory = planDirectory(run, facts, places);

  const mounts: readonly Mount[] = [
    ...reads.outside,
    ...reads.readable,
    ...temp.mounts,
    ...socketMounts(policy.sockets, temp.private, facts),
    ...caches.layers,
    ...open.map((path): Mount => ({ op: 'writable', path })),
    ...protection.pins.map((path): Mount => ({ op: 'pin', path })),
    ...[...protection.protects, ...caches.readOnly].map((path): Mount => ({ op: 'protect', path })),
    ...protection.guards.map((path): Mount => ({ op: 'guard', path })),
    ...reads.closed,
    ...planState(state, caches.ownFolder),
  ];
  const files = planFiles(filesystem, roots, closed, facts);
  const plan: LinuxPlan = {
    run: run.id,
    engine: 'namespaces',
    directory,
    mounts,
    network: {
      mode: policy.network.mode.value,
      rules: policy.network.rules.map(planRule),
      hostPorts: policy.network.hostPorts.map(({ value }) => value),
    },
    files,
    sockets: planSockets(policy.sockets, facts),
    publish: {
      mode: policy.network.listen.value,
      ports: policy.network.publish.map(({ value }) => value),
    },
    opens: [
      ...reads.opens,
      ...openRepositories(files, filesystem, facts),
      ...openCaches(caches.ownFolder),
    ],
    environment: planEnvironment(policy, caches.variables),
    limits: { answerMs: policy.approvals.timeoutMs.value, brokerMs: BROKER_MS },
    brokerLoss: run.brokerLoss,
    terminal: run.terminal,
  };
  checkSize(plan);
  const gaps = planGaps(protection, reads, roots, facts, run);
  return { plan, gaps, folders: foldersOf(plan, state) };
}

function foldersOf({ mounts }: LinuxPlan, state: AbsolutePath): readonly AbsolutePath[] {
  return mounts.flatMap((mount) => {
    if (mount.op === 'copyOnWrite') return [mount.upper, mount.work];
    return mount.op === 'writable' && contains(state, mount.path) ? [mount.path] : [];
  });
}

/** A path below `from`, below `to` instead: where it is when `from` is reached by a link. */
function moved(path: AbsolutePath, from: AbsolutePath, to: AbsolutePath): AbsolutePath {
  return contains(from, path) ? below(to, path.slice(from.length + 1)) : path;
}

function planTemp(
  policy: Policy,
  facts: Facts,
  open: readonly AbsolutePath[],
): { readonly mounts: readonly Mount[]; readonly private: readonly AbsolutePath[] } {
  const real = temporaryFolders.flatMap((path) => {
    const target = targetOf(facts.paths.get(path));
    return target?.kind === 'directory' ? [target.real] : [];
  });
  const writable = new Set(open);
  const folders = outermost(real).filter((path) => innermost(writable, path) === undefined);
  const isPrivate = policy.filesystem.temp.value === 'private';
  const op = isPrivate ? 'private' : 'writable';
  return { mounts: folders.map((path) => ({ op, path })), private: isPrivate ? folders : [] };
}

/** Shared temporary folders and caches are writable for good, so what is protected holds inside them, too. */
function openWith(
  open: readonly AbsolutePath[],
  others: readonly Mount[],
): readonly AbsolutePath[] {
  return outermost([
    ...open,
    ...others.flatMap(({ op, path }) => (op === 'writable' ? [path] : [])),
  ]);
}

/**
 * Repositories outside of the roots are read-only there: where nobody is asked about git, they are open from the start, as far
 * as the administrator lets them be written to.
 */
function openRepositories(
  { git, repositories }: PlannedFiles,
  { rootLimit }: FilesystemPolicy,
  facts: Facts,
): readonly Open[] {
  if (git !== 'allow') return [];
  const limit = new Set(rootLimit?.map((bound) => endOf(facts, bound)) ?? ['/' as AbsolutePath]);
  return [...new Set(repositories.map(({ common }) => common))]
    .filter((path) => innermost(limit, path) !== undefined)
    .map((path) => ({ access: 'git', path }));
}

/** Hidden whole; when this run keeps caches there, by an empty folder of its own in which they can be mounted. */
/** It lies in the state folder, which is closed and so protected. */
function openCaches(ownFolder: AbsolutePath | undefined): readonly Open[] {
  return ownFolder === undefined ? [] : [{ access: 'write', path: ownFolder }];
}

function planState(state: AbsolutePath, ownFolder: AbsolutePath | undefined): readonly Mount[] {
  if (ownFolder === undefined) return [{ op: 'mask', path: state }];
  return [
    { op: 'private', path: state },
    { op: 'writable', path: ownFolder },
  ];
}

function planDirectory(
  run: PlannedRun,
  facts: Facts,
  places: Readonly<Record<'open' | 'closed' | 'private', readonly AbsolutePath[]>>,
): AbsolutePath {
  const target = targetOf(facts.paths.get(run.directory));
  const refuse = (why: string): CordonError =>
    new CordonError('directoryUnusable', `The working directory ${run.directory} ${why}.`);
  if (target?.kind !== 'directory') throw refuse('does not exist');
  const isIn = (paths: readonly AbsolutePath[]): boolean =>
    paths.some((path) => contains(path, target.real));
  if (isIn(places.closed)) throw refuse('is closed for reading (cordon.filesystem.denyRead)');
  if (isIn(places.private) && !isIn(places.open)) {
    const how = 'make it a writable root, or set cordon.filesystem.temp to "shared"';
    throw refuse(`lies in the temporary folder, which is private to each run: ${how}`);
  }
  return target.real;
}

function planRule({ effect, pattern }: NetworkRule): PlannedRule {
  const { ports } = pattern;
  return pattern.kind === 'host'
    ? { effect, host: pattern.host, ports }
    : { effect, network: pattern.network.text, ports };
}

function planGaps(
  protection: ReturnType<typeof planProtection>,
  reads: ReadsPlan,
  roots: readonly PlannedRoot[],
  facts: Facts,
  run: PlannedRun,
): readonly Gap[] {
  const home = targetOf(facts.paths.get(run.home))?.real ?? run.home;
  const aroundHome = roots.find(({ real }) => contains(real, home));
  const gapsOf = <T>(found: readonly T[], gap: (found: readonly T[]) => Gap): readonly Gap[] =>
    found.length === 0 ? [] : [gap(found)];
  const unheld = facts.host.hold
    ? []
    : [
        ...gapsOf(protection.absent, absentProtectedGap),
        ...gapsOf(protection.replaceable, replaceableLinkGap),
        ...gapsOf(
          roots.map(({ path }) => path),
          nestedRepositoriesGap,
        ),
      ];
  return [
    ...unheld,
    ...gapsOf(reads.absent, absentClosedGap),
    ...gapsOf(reads.hidden, hiddenClosedGap),
    ...(aroundHome === undefined ? [] : [homeRootGap(aroundHome.path)]),
  ];
}

function checkSize({
  mounts,
  files,
  sockets,
  publish,
  opens,
  network,
  environment,
}: LinuxPlan): void {
  const counts = [
    ['mounts', mounts.length, limits.mounts],
    ['writable roots', files.roots.length, limits.places],
    ['protected names', files.names.length, limits.patterns],
    ['protected places', files.protected.length, limits.places],
    ['repositories', files.repositories.length, limits.places],
    ['rules for sockets', sockets.rules.length, limits.places],
    ['places that stay open', opens.length, limits.places],
    ['network rules', network.rules.length, limits.rules],
    ['ports of this machine', network.hostPorts.length, limits.ports],
    ['ports that are published', publish.ports.length, limits.ports],
    ['patterns of environment variables', environment.drop.length, limits.patterns],
    ['kept environment variables', environment.keep.length, limits.patterns],
  ] as const;
  for (const [what, count, most] of counts) {
    if (count > most)
      throw new CordonError('planTooLarge', `${count} ${what}, at most ${most} are possible`);
  }
}
