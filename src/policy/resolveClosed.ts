// What cannot be read without a question, and what inside of it can.

import type { Layer, Problem } from '../settings/layers.js';
import { closedPlaces } from './defaults.js';
import type { WrittenEntry } from './exceptions.js';
import { hasNoEffect, isFirm, isMine, placesOf, readPlaceList } from './exceptions.js';
import { describeOrigin } from './origin.js';
import type { AbsolutePath } from './paths.js';
import { contains, innermost } from './paths.js';
import type { PlacedOpen, PlacedPath, PolicyContext } from './policy.js';
import { hasComponents, usualPlaces } from './usualPlaces.js';

export interface Closed {
  readonly places: readonly PlacedPath[];
  readonly opens: readonly PlacedOpen[];
}

type Places = ReadonlyMap<AbsolutePath, PlacedPath>;

export function resolveClosed(
  layers: readonly Layer[],
  bases: readonly AbsolutePath[],
  context: PolicyContext,
  problems: Problem[],
): Closed {
  const { added, exceptions } = readPlaceList(
    layers,
    'filesystem.denyRead',
    ({ filesystem }) => filesystem?.denyRead,
    context.home,
    problems,
  );
  const firm = byPath([...ownPlaces(context), ...placed(added.filter(isFirm), bases)]);
  const loose = byPath([
    ...usualPlaces(closedPlaces, context).map((path) => ({
      path,
      origin: { kind: 'default' } as const,
    })),
    ...placed(added.filter(isMine), bases),
  ]);
  // An exception may have been written for another workspace, where a relative entry closes it.
  const names = added.flatMap(({ written }) => (written.kind === 'relative' ? written.path : []));
  const opened = exceptions.flatMap((item) => {
    const judged = placed([item], bases).map((place) => ({
      ...place,
      refusal: refusalOf(place.path, firm, loose),
    }));
    const accepted = judged.filter(({ refusal }) => refusal === undefined);
    const why = accepted.length === 0 ? judged[0]?.refusal : undefined;
    const isElsewhere = judged.some(({ path }) => names.some((name) => hasComponents(path, name)));
    if (why !== undefined && !(why.kind === 'open' && isElsewhere)) {
      problems.push(hasNoEffect(item.entry, why.message));
    }
    return accepted;
  });

  const remaining = new Map(loose);
  for (const { path } of opened) remaining.delete(path);
  return {
    places: [...byPath([...firm.values(), ...remaining.values()]).values()],
    opens: opened
      .filter(({ path }) => innermost(remaining, path) !== undefined)
      .map(({ path, origin }) => ({ access: 'read', path, origin })),
  };
}

/** Why the user cannot open a place: somebody else closes it, or nobody does. */
function refusalOf(
  path: AbsolutePath,
  firm: Places,
  loose: Places,
): { readonly kind: 'closed' | 'open'; readonly message: string } | undefined {
  const around = innermost(firm, path);
  const by = around === undefined ? undefined : firm.get(around);
  if (by !== undefined) {
    return { kind: 'closed', message: `${by.path} is closed by ${describeOrigin(by.origin)}` };
  }
  if (innermost(loose, path) !== undefined) return undefined;
  return { kind: 'open', message: `${path} is not closed` };
}

/** Cordon's own: what it keeps, and how its sessions are reached. */
function ownPlaces({ state, runtime }: PolicyContext): readonly PlacedPath[] {
  const origin = { kind: 'fixed' } as const;
  return [
    { path: state, origin },
    ...(contains(state, runtime) ? [] : [{ path: runtime, origin }]),
  ];
}

function placed(
  items: readonly WrittenEntry[],
  bases: readonly AbsolutePath[],
): readonly PlacedPath[] {
  return items.flatMap((item) =>
    placesOf(item, bases).map(({ path }) => ({ path, origin: item.entry.origin })),
  );
}

/** In their order; of places that are written twice, the first. */
function byPath(places: readonly PlacedPath[]): Places {
  const found = new Map<AbsolutePath, PlacedPath>();
  for (const place of places) if (!found.has(place.path)) found.set(place.path, place);
  return found;
}
