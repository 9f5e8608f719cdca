// Why a path is open, closed or asked about, in words with the setting behind it: `cordon explain PATH`. Read off the plan, so
// that it cannot say anything but what is enforced.

import path from 'node:path';

import { assertNever } from '../base/assertNever.js';
import type { Explanation } from '../policy/explain.js';
import type { Origin } from '../policy/origin.js';
import { describeOrigin } from '../policy/origin.js';
import type { AbsolutePath } from '../policy/paths.js';
import { contains, innermost, parentOf } from '../policy/paths.js';
import type { Placed, Policy } from '../policy/policy.js';
import { matchesName } from '../policy/resolveEnvironment.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts } from './host.js';
import { endOf, everyPathTo, placeOf, targetOf } from './host.js';
import type { Effect, LinuxPlan, Mount, Open } from './plan.js';

export interface PathExplanation {
  readonly read: Explanation;
  readonly write: Explanation;
}

/** Paths whose facts `explainPath` wants, besides those of the plan: repositories around the path. */
export function pathsToExplain(real: AbsolutePath): readonly AbsolutePath[] {
  const places = [below(real, '.git')];
  for (let at = real; at !== '/'; at = parentOf(at)) places.push(below(parentOf(at), '.git'));
  return places;
}

/** Reading and writing a real path. */
export function explainPath(
  policy: Policy,
  plan: LinuxPlan,
  facts: Facts,
  real: AbsolutePath,
): PathExplanation {
  const given = { policy, plan, facts, path: real, mount: mountAround(plan, facts, real) };
  const read = explainRead(given);
  const write = withinLimit(explainWrite(given), given);
  return {
    read: {
      ...read,
      decision:
        read.effect === 'ask'
          ? `reading ${real} is asked about`
          : `${real} ${can[read.effect]} be read`,
    },
    write: {
      ...write,
      decision:
        write.effect === 'ask'
          ? `writing to ${real} is asked about`
          : `${real} ${can[write.effect]} be written to`,
    },
  };
}

const can = { allow: 'can', deny: 'cannot' } as const;

interface Given {
  readonly policy: Policy;
  readonly plan: LinuxPlan;
  readonly facts: Facts;
  readonly path: AbsolutePath;
  readonly mount: Mount | undefined;
}

interface Reason {
  readonly effect: Effect;
  readonly because: string;
}

/** The mount that decides. Guards do only where no call can be held. */
function mountAround({ mounts }: LinuxPlan, facts: Facts, real: AbsolutePath): Mount | undefined {
  return mounts.findLast(
    ({ op, path: place }) =>
      op !== 'pin' && !(op === 'guard' && facts.host.hold) && contains(place, real),
  );
}

function explainRead(given: Given): Reason {
  const { policy, plan, facts, path: real, mount } = given;
  if (mount?.op === 'mask' || mount?.op === 'tripwire') {
    const open = mount.op === 'mask' ? undefined : openAround(plan, 'read', real, mount.path);
    if (open !== undefined) return { effect: 'allow', because: openWords(open, policy, facts) };
    const isClosed = mount.op === 'mask' || isManaged(policy.filesystem.denyRead, given);
    return {
      effect: isClosed ? 'deny' : 'ask',
      because: `${mount.path} ${closedWords(mount.path, policy.filesystem, facts)}`,
    };
  }
  if (mount?.op === 'private') {
    return { effect: 'allow', because: `${mount.path} ${mountWords(mount, policy, facts)}` };
  }
  return {
    effect: 'allow',
    because:
      policy.filesystem.read.value === 'roots'
        ? 'it is the system’s, a tool chain, a cache, or lies in a root'
        : 'everything can be read that is not closed',
  };
}

function explainWrite(given: Given): Reason {
  const { policy, facts, path: real, mount } = given;
  const words = mount === undefined ? '' : `${mount.path} ${mountWords(mount, policy, facts)}`;
  switch (mount?.op) {
    case 'mask':
    case 'protect':
    case 'guard':
      return { effect: 'deny', because: words };
    case 'private':
    case 'copyOnWrite':
      return { effect: 'allow', because: words };
    case 'pin':
    case 'writable':
      return (facts.host.hold ? judge(given) : undefined) ?? { effect: 'allow', because: words };
    case 'tripwire':
    case 'readable':
    case undefined: {
      if (!facts.host.hold) return { effect: 'deny', because: 'it lies in no writable root' };
      const quiet = quietPattern(given.plan, real);
      return (
        judgeGit(given) ??
        (quiet === undefined
          ? { effect: 'ask', because: 'it lies in no writable root' }
          : { effect: 'deny', because: `${quiet} is refused without a question outside of roots` })
      );
    }
    default:
      return assertNever(mount);
  }
}

/** What the administrator rules out is not asked about (broker/runPolicy.ts). */
function withinLimit(reason: Reason, given: Given): Reason {
  const { policy, facts, path: real } = given;
  if (reason.effect !== 'ask') return reason;
  if (isManaged(policy.filesystem.protectedPaths, given)) return { ...reason, effect: 'deny' };
  const limit = policy.filesystem.rootLimit?.map((bound) => endOf(facts, bound));
  if (limit === undefined || innermost(new Set(limit), real) !== undefined) return reason;
  return { effect: 'deny', because: 'the administrator keeps it read-only' };
}

/** Whether the administrator names a place around the path. */
function isManaged(places: readonly Place[], { facts, path: real }: Given): boolean {
  return places.some(
    ({ path: place, origin }) =>
      origin.kind === 'setting' &&
      origin.source.kind === 'managed' &&
      contains(endOf(facts, place), real),
  );
}

/** What is judged inside a writable place. */
function judge(given: Given): Reason | undefined {
  const { plan, policy, facts, path: real } = given;
  const git = judgeGit(given);
  if (git !== undefined) return git;
  const place = protectedAround(given);
  if (place === undefined) return undefined;
  const open = openAround(plan, 'write', real, place.path);
  if (open !== undefined) return { effect: 'allow', because: openWords(open, policy, facts) };
  return {
    effect: 'ask',
    because: `${place.path} is protected (${describeOrigin(place.origin)})`,
  };
}

const gitEffects = { protect: 'deny', ask: 'ask', allow: 'allow' } as const;

function judgeGit({ plan, policy, path: real }: Given): Reason | undefined {
  const { repositories } = plan.files;
  const parts = real.split('/');
  const isOutside = repositories.some(
    ({ directory, common }) => contains(directory, real) || contains(common, real),
  );
  if (!isOutside && (!parts.includes('.git') || rootAround(plan, real) === undefined)) {
    return undefined;
  }
  const { value, origin } = policy.filesystem.git;
  const also =
    value === 'protect' ? '' : '; hooks and settings that run programs ask by themselves';
  return {
    effect: gitEffects[value],
    because: `filesystem.git is ${value} (${describeOrigin(origin)})${also}`,
  };
}

interface Place {
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

/** By name below a root or the top of a repository in one, or by place. */
function protectedAround({ policy, plan, facts, path: real }: Given): Place | undefined {
  const { protectedNames, protectedPaths } = policy.filesystem;
  const root = rootAround(plan, real);
  for (let top = real; root !== undefined && contains(root, top); top = parentOf(top)) {
    const isTop = plan.files.roots.includes(top) || isRepository(facts, top);
    const name = isTop ? nameAround(protectedNames, top, real) : undefined;
    if (name !== undefined && !isPackage(plan, root, top)) {
      return { path: below(top, name.value), origin: name.origin };
    }
    if (top === '/') break;
  }
  const place = innermost(new Set(plan.files.protected), real);
  return place === undefined
    ? undefined
    : { path: place, origin: originOf(place, protectedPaths, facts) };
}

function isRepository(facts: Facts, folder: AbsolutePath): boolean {
  const fact = facts.paths.get(below(folder, '.git'));
  return fact !== undefined && fact.kind !== 'absent';
}

function nameAround(
  names: readonly Placed<string>[],
  top: AbsolutePath,
  real: AbsolutePath,
): Placed<string> | undefined {
  return names.find(({ value }) => contains(below(top, value), real));
}

function isPackage({ files }: LinuxPlan, root: AbsolutePath, top: AbsolutePath): boolean {
  const parts = top.slice(root.length).split('/');
  return parts.some((part) => files.packages.includes(part));
}

function rootAround({ files }: LinuxPlan, real: AbsolutePath): AbsolutePath | undefined {
  return files.roots.find((root) => contains(root, real));
}

function quietPattern({ files }: LinuxPlan, real: AbsolutePath): string | undefined {
  const parts = path.posix.relative('/', real).split('/');
  return files.quiet.find((pattern) => parts.some((part) => matchesName(pattern, part)));
}

/** An exception counts only at or below the place that it is an exception to. */
function openAround(
  { opens }: LinuxPlan,
  access: Open['access'],
  real: AbsolutePath,
  place: AbsolutePath,
): Open | undefined {
  return opens.find(
    (open) => open.access === access && contains(open.path, real) && contains(place, open.path),
  );
}

function openWords(open: Open, { filesystem }: Policy, facts: Facts): string {
  const written = filesystem.opens.find(({ access, path: place }) => {
    const fact = facts.paths.get(place);
    const places = fact === undefined ? [place] : [placeOf(fact), endOf(facts, place)];
    return access === open.access && places.includes(open.path);
  });
  return `${open.path} is an exception${written === undefined ? '' : ` (${describeOrigin(written.origin)})`}`;
}

/** Completes "PATH …". */
function mountWords({ op, path: place }: Mount, { filesystem }: Policy, facts: Facts): string {
  const { writableRoots, protectedPaths, temp, caches } = filesystem;
  switch (op) {
    case 'mask':
    case 'tripwire':
    case 'readable':
      return closedWords(place, filesystem, facts);
    case 'protect':
    case 'guard':
      return `is protected${placeWords(protectedPaths, facts, place)}`;
    case 'private':
      return `is empty and private to each run${isTemp(place) ? ` (${describeOrigin(temp.origin)})` : ''}`;
    case 'copyOnWrite':
      return `is a cache; changes go to a private layer (${describeOrigin(caches.origin)})`;
    case 'pin':
    case 'writable': {
      const root = placeWords(writableRoots, facts, place);
      if (root !== '') return `is a writable root${root}`;
      return isTemp(place)
        ? `is shared with this machine (${describeOrigin(temp.origin)})`
        : `is a shared cache (${describeOrigin(caches.origin)})`;
    }
    default:
      return assertNever(op);
  }
}

function closedWords(place: AbsolutePath, filesystem: Policy['filesystem'], facts: Facts): string {
  const words = placeWords(filesystem.denyRead, facts, place);
  return words === '' && filesystem.read.value === 'roots'
    ? `is no root: filesystem.read is roots (${describeOrigin(filesystem.read.origin)})`
    : `is closed${words}`;
}

function isTemp(place: AbsolutePath): boolean {
  return place === '/tmp' || place === '/var/tmp';
}

/** ` (ORIGIN)` of the place that leads to a real path; the name it was written as, when that is another one. */
function placeWords(places: readonly Place[], facts: Facts, real: AbsolutePath): string {
  const place = places.find((candidate) => leadsTo(facts, candidate.path, real));
  if (place === undefined) return '';
  const name = place.path === real ? '' : `as ${place.path}, `;
  return ` (${name}${describeOrigin(place.origin)})`;
}

function originOf(real: AbsolutePath, places: readonly Place[], facts: Facts): Origin {
  const place = places.find(
    (candidate) => endOf(facts, candidate.path) === real || leadsTo(facts, candidate.path, real),
  );
  return place?.origin ?? { kind: 'default' };
}

function leadsTo(facts: Facts, place: AbsolutePath, real: AbsolutePath): boolean {
  const target = targetOf(facts.paths.get(place));
  return target !== undefined && everyPathTo(facts, target.real).includes(real);
}
