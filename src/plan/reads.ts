// What cannot be read without a question: closed places, and with `read: roots` everything that is neither the system's, nor a
// root, nor a tool chain. Opening a file behind a tripwire is held; where it cannot be, a mask hides the whole place.

import { CordonError } from '../base/errors.js';
import { systemFolders, toolFolders } from '../policy/defaults.js';
import { describeOrigin } from '../policy/origin.js';
import type { AbsolutePath } from '../policy/paths.js';
import { contains, innermost, outermost, parentOf } from '../policy/paths.js';
import type { FilesystemPolicy, PlacedPath, Policy } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts, PlannedRun } from './host.js';
import { endOf, everyPathTo, placeOf, targetOf } from './host.js';
import type { Mount, Open } from './plan.js';

/** Places whose reads are held; more are hidden without a question. */
const MOST_TRIPWIRES = 1024;

/** Folders whose entries `planReads` wants to know: what is in them is the system's, or it is not. */
export function foldersToList({ filesystem }: Policy): readonly AbsolutePath[] {
  return filesystem.read.value === 'roots' ? mixedFolders : [];
}

const mixedFolders = ['/', '/var'] as readonly string[] as readonly AbsolutePath[];

/** Paths whose facts `planReads` wants. */
export function readPaths({ filesystem }: Policy, run: PlannedRun): readonly AbsolutePath[] {
  return [
    ...filesystem.denyRead.map(({ path }) => path),
    ...filesystem.opens.map(({ path }) => path),
    ...(filesystem.read.value === 'roots'
      ? [
          ...filesystem.readRoots.map(({ path }) => path),
          ...(filesystem.readLimit ?? []),
          ...toolPaths(run),
        ]
      : []),
  ];
}

export interface ReadsPlan {
  /** First of all mounts. */
  readonly outside: readonly Mount[];
  /** What stays readable in those places; below roots and caches. */
  readonly readable: readonly Mount[];
  /** Over everything but the state folder; of what does not exist yet, too. */
  readonly closed: readonly Mount[];
  readonly opens: readonly Open[];
  /** Closed places that do not exist, and that nobody waits for. */
  readonly absent: readonly AbsolutePath[];
  /** Closed places beyond what can be held. */
  readonly hidden: readonly AbsolutePath[];
}

/** `open`: the outermost writable roots. `others`: hidden besides, where no call can be held. */
export function planReads(
  policy: Policy,
  facts: Facts,
  run: PlannedRun,
  open: readonly AbsolutePath[],
  others: readonly AbsolutePath[],
): ReadsPlan {
  const { filesystem } = policy;
  const writable = new Set(open);
  const outside = planOutside(filesystem, facts, writable);
  const closed = planClosed(policy, facts, others, MOST_TRIPWIRES - outside.length);
  const shut = new Set([...outside.map(({ path }) => path), ...closed.covered]);
  return {
    outside,
    readable: planReadable(policy, facts, run, new Set(outside.map(({ path }) => path)), writable),
    closed: closed.mounts,
    opens: planOpens(filesystem, facts, new Set(closed.mounts.map(({ path }) => path))),
    absent: closed.absent.filter((path) => innermost(shut, path) === undefined),
    hidden: closed.hidden,
  };
}

function planOutside(
  { read }: FilesystemPolicy,
  facts: Facts,
  writable: ReadonlySet<AbsolutePath>,
): readonly Mount[] {
  if (read.value === 'anywhere') return [];
  if (!facts.host.holdReads) {
    throw new CordonError(
      'hostUnsupported',
      `filesystem.read is roots (${describeOrigin(read.origin)}), which needs /dev/fuse, and this host has none that can be used`,
    );
  }
  const system = new Set<string>(systemFolders);
  return mixedFolders
    .flatMap((folder) => facts.entries.get(folder) ?? [])
    .filter((path) => !system.has(path))
    .filter((path) => isFileOrFolder(facts, path) && innermost(writable, path) === undefined)
    .sort()
    .map((path) => ({ op: 'tripwire', path, names: true }));
}

/** Links lead elsewhere, where they are judged again; pipes and devices hold nothing. */
function isFileOrFolder(facts: Facts, path: AbsolutePath): boolean {
  const kind = facts.paths.get(path)?.kind;
  return kind === 'file' || kind === 'directory';
}

/** Read roots, tool chains in the home folder, and the folders in it where programs are looked for. */
function planReadable(
  { filesystem }: Policy,
  facts: Facts,
  run: PlannedRun,
  outside: ReadonlySet<AbsolutePath>,
  writable: ReadonlySet<AbsolutePath>,
): readonly Mount[] {
  if (filesystem.read.value === 'anywhere') return [];
  const closed = new Map(
    filesystem.denyRead.flatMap((place) => {
      const target = targetOf(facts.paths.get(place.path));
      return target === undefined ? [] : [[target.real, place] as const];
    }),
  );
  const roots = filesystem.readRoots.flatMap((root) =>
    realReadRoot(root, filesystem, facts, closed),
  );
  const tools = toolPaths(run)
    .flatMap((path) => targetOf(facts.paths.get(path))?.real ?? [])
    .filter((real) => innermost(closed, real) === undefined);
  return outermost([...roots, ...tools])
    .filter((real) => innermost(outside, real) !== undefined)
    .filter((real) => innermost(writable, real) === undefined)
    .map((path) => ({ op: 'readable', path }));
}

function realReadRoot(
  { path, origin }: PlacedPath,
  { readLimit }: FilesystemPolicy,
  facts: Facts,
  closed: ReadonlyMap<AbsolutePath, PlacedPath>,
): readonly AbsolutePath[] {
  const refuse = (why: string): CordonError =>
    new CordonError('rootUnusable', `The read root ${path} (${describeOrigin(origin)}) ${why}.`);
  const real = targetOf(facts.paths.get(path))?.real;
  if (real === undefined) throw refuse('does not exist');
  const around = innermost(closed, real);
  const place = around === undefined ? undefined : closed.get(around);
  if (place !== undefined) {
    throw refuse(`lies in ${place.path}, which is closed (${describeOrigin(place.origin)})`);
  }
  const limit = readLimit?.map((bound) => targetOf(facts.paths.get(bound))?.real ?? bound);
  if (limit !== undefined && innermost(new Set(limit), real) === undefined) {
    throw refuse(`is really ${real}, which the administrator does not let be read`);
  }
  return [real];
}

/** Below the home folder: what a shell and its tools need before they do anything. */
function toolPaths({ home, searchPath }: PlannedRun): readonly AbsolutePath[] {
  return [
    ...toolFolders.map((name) => below(home, name)),
    ...searchPath.filter((path) => contains(home, path) && path !== home),
  ];
}

interface Shut {
  readonly mounts: readonly Mount[];
  readonly covered: readonly AbsolutePath[];
  readonly absent: readonly AbsolutePath[];
  readonly hidden: readonly AbsolutePath[];
}

/** Without the state folder, which has a mount of its own. */
function planClosed(
  { filesystem, sockets }: Policy,
  facts: Facts,
  others: readonly AbsolutePath[],
  most: number,
): Shut {
  const places = filesystem.denyRead.filter(({ path }) => path !== filesystem.state);
  const state = targetOf(facts.paths.get(filesystem.state))?.real;
  const fixed = new Set([
    ...others,
    ...(state === undefined ? [] : (facts.aliases.get(state) ?? [])),
    ...places
      .filter(({ origin, path }) => origin.kind === 'fixed' || isSpecial(facts, path))
      .flatMap(({ path }) => realPathsTo(facts, path)),
  ]);
  const wanted = new Set(places.flatMap(({ path }) => realPathsTo(facts, path)));
  const absent = places.filter(
    ({ path, origin }) => origin.kind !== 'fixed' && targetOf(facts.paths.get(path)) === undefined,
  );
  const expected = new Set(absent.flatMap(({ path }) => expectedAt(facts, path)));
  const held = facts.host.holdReads
    ? [...wanted, ...expected].filter((real) => !fixed.has(real))
    : [];
  const tripwires = new Set(held.slice(0, Math.max(0, most)));
  const masks = new Set([...fixed, ...wanted].filter((real) => !tripwires.has(real)));
  const agents = sockets.agentSockets.map(({ path }) => path);
  const isEmptied = (real: AbsolutePath): boolean =>
    real !== '/' && innermost(masks, parentOf(real)) !== undefined;
  const mounts = [...tripwires, ...masks]
    .filter((real) => !isEmptied(real))
    .sort()
    .map((path): Mount =>
      tripwires.has(path)
        ? { op: 'tripwire', path, names: showsNames(path, filesystem, agents) }
        : { op: 'mask', path },
    );
  return {
    mounts,
    covered: mounts.flatMap(({ path }) => (expected.has(path) ? [] : [path])),
    absent: absent
      .filter(({ path }) => !expectedAt(facts, path).some((place) => tripwires.has(place)))
      .map(({ path }) => path),
    hidden: held.filter((real) => !tripwires.has(real) && !expected.has(real)),
  };
}

/** Where a closed place would appear: the launcher keeps watch there. What a dangling link leads to is not known. */
function expectedAt(facts: Facts, path: AbsolutePath): readonly AbsolutePath[] {
  const fact = facts.paths.get(path);
  return fact?.kind === 'absent' ? [fact.place] : [];
}

/** An agent in a place whose names are hidden could not be reached. */
function showsNames(
  path: AbsolutePath,
  { hideNames }: FilesystemPolicy,
  agents: readonly AbsolutePath[],
): boolean {
  return !hideNames.value || agents.some((agent) => contains(path, agent));
}

function isSpecial(facts: Facts, path: AbsolutePath): boolean {
  return targetOf(facts.paths.get(path))?.kind === 'other';
}

function realPathsTo(facts: Facts, path: AbsolutePath): readonly AbsolutePath[] {
  const real = targetOf(facts.paths.get(path))?.real;
  return real === undefined ? [] : everyPathTo(facts, real);
}

/** By the name itself, and by what a link leads to when that lies in the same closed place. */
function planOpens(
  { opens }: FilesystemPolicy,
  facts: Facts,
  closed: ReadonlySet<AbsolutePath>,
): readonly Open[] {
  return opens.flatMap(({ access, path }) => {
    const place = placeIn(facts, path);
    const real = endOf(facts, path);
    const isSame = access === 'read' && innermost(closed, real) === innermost(closed, place);
    return [...new Set(isSame ? [place, real] : [place])].map((at) => ({ access, path: at }));
  });
}

function placeIn(facts: Facts, path: AbsolutePath): AbsolutePath {
  const fact = facts.paths.get(path);
  return fact === undefined ? path : placeOf(fact);
}
