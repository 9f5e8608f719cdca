// The live permissions of one session. It keeps and compares them; it neither decides nor records.

import type { Grant } from '../policy/grant.js';
import type { RequestObject } from '../policy/request.js';
import { targetOf } from './words.js';

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

  has(id: string): boolean {
    return this.#grants.has(id);
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

  /** A grant that lets the run reach the target, its addresses aside. */
  find(holder: Holder, object: RequestObject): Grant | undefined {
    return this.list().find((grant) => holds(grant, holder) && covers(grant.target, object));
  }

  /** A grant given for the target although it leads to this private address. */
  findForAddress(holder: Holder, object: RequestObject, address: string): Grant | undefined {
    return this.list().find(
      (grant) =>
        holds(grant, holder) &&
        covers(grant.target, object) &&
        grant.privateAddresses.includes(address),
    );
  }

  /** The grant that another one of this scope for the same target would extend. */
  findSame(holder: Holder, scope: Grant['scope'], object: RequestObject): Grant | undefined {
    return this.list().find(
      (grant) => grant.scope === scope && holds(grant, holder) && covers(grant.target, object),
    );
  }
}

function holds(grant: Grant, holder: Holder): boolean {
  return grant.scope === 'run' || grant.scope === 'once'
    ? grant.run === holder.id
    : grant.session === holder.session;
}

/** Looking a name up is covered by a grant for any of its ports. */
function covers(target: Grant['target'], object: RequestObject): boolean {
  if ('address' in object) {
    return 'address' in target && target.address === object.address && target.port === object.port;
  }
  if (!('host' in target) || target.host !== object.host) return false;
  return !('port' in object) || target.port === object.port;
}

export interface GrantOffer {
  readonly id: string;
  readonly scope: 'run' | 'session' | 'always';
  readonly holder: Holder;
  readonly object: RequestObject & { readonly port: number };
  /** Addresses that the person was shown because they are not public. */
  readonly privateAddresses: readonly string[];
  readonly at: number;
}

/** The grant that an answer makes. It extends one of the same scope and target, so that a person sees one, not two. */
export function makeGrant(offer: GrantOffer, same: Grant | undefined): Grant {
  const { object, scope, holder } = offer;
  const shown = offer.privateAddresses.map((address) => ({ address, port: object.port }));
  const patterns = scope === 'always' ? [object, ...shown].map(targetOf) : [];
  return {
    id: same?.id ?? offer.id,
    scope,
    ...(scope === 'run' ? { run: holder.id } : {}),
    session: holder.session,
    target: object,
    privateAddresses: [...new Set([...(same?.privateAddresses ?? []), ...offer.privateAddresses])],
    patterns: [...new Set([...(same?.patterns ?? []), ...patterns])],
    at: offer.at,
  };
}
