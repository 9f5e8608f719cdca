// The live permissions of one session. It keeps and compares them; it neither decides nor records.

import type { AlwaysRule, Grant, GrantOrigin, GrantTarget } from '../policy/grant.js';
import { contains } from '../policy/paths.js';
import type { Wanted } from '../policy/request.js';
import { targetOf } from './actions.js';

/** Whose grants are looked for. */
export interface Holder {
  readonly id: string;
  /** The session whose grants hold for the run: for a run that outlived its window, the window's. */
  readonly session: string;
}

export class GrantBook {
  readonly #grants = new Map<string, Grant>();

  /** Replaces a grant of the same id. */
  add(grant: Grant): void {
    this.#grants.set(grant.id, grant);
  }

  get(id: string): Grant | undefined {
    return this.#grants.get(id);
  }

  /** Returns what was removed. */
  remove(id: string): Grant | undefined {
    const grant = this.#grants.get(id);
    this.#grants.delete(id);
    return grant;
  }

  /** Grants of a run end with it. */
  removeRun(run: string): void {
    for (const grant of this.list()) if (grant.run === run) this.#grants.delete(grant.id);
  }

  /** Oldest first. */
  list(): readonly Grant[] {
    return [...this.#grants.values()];
  }

  /** A grant that lets the run have what it wants, its addresses aside. */
  find(holder: Holder, wanted: Wanted): Grant | undefined {
    return this.list().find((grant) => holds(grant, holder) && covers(grant.target, wanted));
  }

  /** A grant given for the target although it leads to this private address. */
  findForAddress(holder: Holder, wanted: Wanted, address: string): Grant | undefined {
    return this.list().find(
      (grant) =>
        holds(grant, holder) &&
        covers(grant.target, wanted) &&
        grant.privateAddresses.includes(address),
    );
  }

  /** The grant that another one of this scope for the same target would extend. */
  findSame(holder: Holder, scope: Grant['scope'], target: GrantTarget): Grant | undefined {
    return this.list().find(
      (grant) =>
        grant.scope === scope && holds(grant, holder) && isSameTarget(grant.target, target),
    );
  }

  /** Whether some grant of the run is for just this target. */
  hasTarget(holder: Holder, target: GrantTarget): boolean {
    return this.list().some((grant) => holds(grant, holder) && isSameTarget(grant.target, target));
  }
}

/** Whether the grant is in force for the run. */
export function holds(grant: Grant, holder: Holder): boolean {
  return grant.run === undefined ? grant.session === holder.session : grant.run === holder.id;
}

/** Whether the target takes in what is wanted. Looking a name up is covered by a grant for any of its ports. */
export function covers(target: GrantTarget, wanted: Wanted): boolean {
  if (wanted.action === 'lookup') return 'host' in target && target.host === wanted.object.host;
  const asked = targetOf(wanted);
  if (!('access' in target) || !('access' in asked)) return isSameTarget(target, asked);
  if (target.access !== asked.access || (asked.protected && !target.protected)) return false;
  return (
    contains(target.path, asked.path) ||
    ('path' in wanted.object && contains(target.path, wanted.object.path))
  );
}

function isSameTarget(one: GrantTarget, other: GrantTarget): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(target: GrantTarget): readonly (readonly [string, unknown])[] {
  return Object.entries(target).sort(([one], [other]) => (one < other ? -1 : 1));
}

export interface GrantOffer {
  readonly id: string;
  readonly scope: 'run' | 'session' | 'always';
  readonly holder: Holder;
  readonly target: GrantTarget;
  readonly origin: GrantOrigin;
  /** Addresses that the person was shown because they are not public. */
  readonly privateAddresses: readonly string[];
  /** What is written into the user's settings. */
  readonly written: readonly AlwaysRule[];
  readonly at: number;
}

/** The grant that an answer makes. It extends one of the same scope and target, so that a person sees one, not two. */
export function makeGrant(offer: GrantOffer, same: Grant | undefined): Grant {
  const { scope, holder } = offer;
  const kept = (same?.written ?? []).filter(
    (rule) =>
      !offer.written.some(({ setting, entry }) => setting === rule.setting && entry === rule.entry),
  );
  return {
    id: same?.id ?? offer.id,
    scope,
    ...(scope === 'run' ? { run: holder.id } : {}),
    session: holder.session,
    target: offer.target,
    origin: offer.origin,
    privateAddresses: [...new Set([...(same?.privateAddresses ?? []), ...offer.privateAddresses])],
    written: [...kept, ...offer.written],
    at: offer.at,
  };
}
