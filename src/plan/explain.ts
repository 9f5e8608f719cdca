// Why a path is open or closed, in words with the setting behind it: `cordon explain PATH`. Read off the plan, so that it
// cannot say anything but what is enforced.

import { assertNever } from '../base/assertNever.js';
import type { Explanation } from '../policy/explain.js';
import type { Origin } from '../policy/origin.js';
import { describeOrigin } from '../policy/origin.js';
import type { AbsolutePath } from '../policy/paths.js';
import { contains } from '../policy/paths.js';
import type { Policy } from '../policy/policy.js';
import type { Facts } from './host.js';
import { everyPathTo, targetOf } from './host.js';
import type { Effect, LinuxPlan, Mount } from './plan.js';

export interface PathExplanation {
  readonly read: Explanation;
  readonly write: Explanation;
}

/** Reading and writing a real path. */
export function explainPath(
  policy: Policy,
  plan: LinuxPlan,
  facts: Facts,
  path: AbsolutePath,
): PathExplanation {
  const mount = plan.mounts.findLast((item) => item.op !== 'pin' && contains(item.path, path));
  const read = (effect: Effect, because: string): Explanation => ({
    effect,
    decision:
      effect === 'ask' ? `reading ${path} is asked about` : `${path} ${can[effect]} be read`,
    because,
  });
  const write = (effect: Effect, because: string): Explanation => ({
    effect,
    decision:
      effect === 'ask'
        ? `writing to ${path} is asked about`
        : `${path} ${can[effect]} be written to`,
    because,
  });
  const open = read('allow', 'everything can be read that is not closed');
  if (mount === undefined)
    return { read: open, write: write('deny', 'it lies in no writable root') };
  const because = `${mount.path} ${reasonFor(mount, policy, facts)}`;
  switch (mount.op) {
    case 'mask':
      return { read: read('deny', because), write: write('deny', because) };
    case 'tripwire':
      return { read: read('ask', because), write: write('deny', because) };
    case 'private':
      return { read: read('allow', because), write: write('allow', because) };
    case 'protect':
    case 'guard':
    case 'readable':
      return { read: open, write: write('deny', because) };
    case 'pin':
    case 'writable':
    case 'copyOnWrite':
      return { read: open, write: write('allow', because) };
    default:
      return assertNever(mount);
  }
}

const can = { allow: 'can', deny: 'cannot' } as const;

interface Place {
  readonly path: AbsolutePath;
  readonly origin: Origin;
}

/** Completes "PATH …". */
function reasonFor({ op, path }: Mount, { filesystem }: Policy, facts: Facts): string {
  const { writableRoots, protectedPaths, denyRead, temp, caches } = filesystem;
  switch (op) {
    case 'mask':
    case 'tripwire':
      return `is closed${placeWords(denyRead, facts, path)}`;
    case 'readable':
      return 'can be read';
    case 'protect':
    case 'guard':
      return `is protected${placeWords(protectedPaths, facts, path)}`;
    case 'private':
      return `is empty and private to each run${path === '/tmp' || path === '/var/tmp' ? ` (${describeOrigin(temp.origin)})` : ''}`;
    case 'copyOnWrite':
      return `is a cache; changes go to a private layer (${describeOrigin(caches.origin)})`;
    case 'pin':
    case 'writable': {
      const root = placeWords(writableRoots, facts, path);
      if (root !== '') return `is a writable root${root}`;
      const isTemp = path === '/tmp' || path === '/var/tmp';
      return isTemp
        ? `is shared with this machine (${describeOrigin(temp.origin)})`
        : `is a shared cache (${describeOrigin(caches.origin)})`;
    }
    default:
      return assertNever(op);
  }
}

/** ` (ORIGIN)` of the place that leads to a real path; the name it was written as, when that is another one. */
function placeWords(places: readonly Place[], facts: Facts, real: AbsolutePath): string {
  const place = places.find((candidate) => {
    const target = targetOf(facts.paths.get(candidate.path));
    return target !== undefined && everyPathTo(facts, target.real).includes(real);
  });
  if (place === undefined) return '';
  const name = place.path === real ? '' : `as ${place.path}, `;
  return ` (${name}${describeOrigin(place.origin)})`;
}
