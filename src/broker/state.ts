// The life of one request, as a pure function. Nothing here knows time, people or sockets.
//
//   received ─→ resolving ─→ decided ─→ recorded ─→ answered
//      │         ↑   │          ↑
//      └→ waiting ⇄ prompting ──┘
//
// Only what is reached by the network is `resolving`. `waiting` and `prompting` can be about the target or, once its name
// was allowed and resolved, about addresses that are not public. An event that comes too late (a timer beside an answer) changes nothing: the first outcome stands.

import { assertNever } from '../base/assertNever.js';
import type { Decision, Open, ReasonCode } from '../policy/request.js';

/** What a question is about. */
export type About = 'target' | 'addresses';

/** Who allowed a target whose addresses are not known yet. */
export interface Permission {
  readonly by: 'rule' | 'grant' | 'user';
  readonly grant: string | null;
}

/** How a request ended. *Refused*, *expired*, *cancelled*, *withdrawn* and *broken* stay distinct. */
export type Outcome =
  'allowed' | 'denied' | 'granted' | 'refused' | 'expired' | 'cancelled' | 'withdrawn' | 'broken';

export interface Ending {
  readonly outcome: Outcome;
  readonly decision: Decision;
  readonly grant: string | null;
}

export type RequestState =
  | { readonly kind: 'received' }
  | { readonly kind: 'resolving'; readonly permission: Permission }
  | { readonly kind: 'waiting' | 'prompting'; readonly about: About }
  | { readonly kind: 'decided' | 'recorded' | 'answered'; readonly ending: Ending };

export type RequestEvent =
  /** A rule, a grant or a person allowed the target (or, in a question about addresses, these addresses). */
  | { readonly kind: 'permitted'; readonly permission: Permission }
  /** The same for what has no address, with what is open from now on. */
  | { readonly kind: 'opened'; readonly permission: Permission; readonly opens: readonly Open[] }
  /** A rule or a grant does not answer it: a person must. */
  | { readonly kind: 'questioned'; readonly about: About }
  /** The prompter was given the question. */
  | { readonly kind: 'shown' }
  /** The addresses are known and all of them may be dialled; none means that the name has none. */
  | { readonly kind: 'resolved'; readonly addresses: readonly string[] }
  | { readonly kind: 'forbidden'; readonly by: 'rule' | 'user'; readonly message?: string }
  | { readonly kind: 'expired' | 'cancelled' | 'withdrawn' }
  | { readonly kind: 'failed'; readonly reason: ReasonCode; readonly message?: string }
  | { readonly kind: 'recorded' }
  /** The record could not be written: whatever was decided, it is a denial now. */
  | { readonly kind: 'unrecorded' }
  | { readonly kind: 'sent' };

export const received: RequestState = { kind: 'received' };

/** Returns the same object when the event does not change the state. */
export function transition(state: RequestState, event: RequestEvent): RequestState {
  switch (event.kind) {
    case 'permitted':
      return isOpen(state) && state.kind !== 'resolving'
        ? { kind: 'resolving', permission: event.permission }
        : state;
    case 'opened':
      return isOpen(state) && state.kind !== 'resolving'
        ? decided(allow(event.permission, { opens: event.opens }))
        : state;
    case 'questioned':
      if (event.about === 'target' ? state.kind === 'received' : state.kind === 'resolving') {
        return { kind: 'waiting', about: event.about };
      }
      return state;
    case 'shown':
      return state.kind === 'waiting' ? { ...state, kind: 'prompting' } : state;
    case 'resolved':
      return state.kind === 'resolving'
        ? decided(resolved(state.permission, event.addresses))
        : state;
    case 'forbidden':
      return isOpen(state)
        ? decided(
            event.by === 'rule'
              ? deny('denied', 'rule', 'rule', event.message)
              : deny('refused', 'user', 'user', event.message),
          )
        : state;
    case 'expired':
      return isAsking(state) ? decided(deny('expired', 'default', 'noAnswer')) : state;
    case 'cancelled':
      return isOpen(state) ? decided(deny('cancelled', 'default', 'sessionClosed')) : state;
    case 'withdrawn':
      return isOpen(state) ? decided(deny('withdrawn', 'default', 'withdrawn')) : state;
    case 'failed':
      return isOpen(state)
        ? decided(deny('broken', 'default', event.reason, event.message))
        : state;
    case 'recorded':
      return state.kind === 'decided' ? { ...state, kind: 'recorded' } : state;
    case 'unrecorded':
      return state.kind === 'decided'
        ? { kind: 'recorded', ending: deny('broken', 'default', 'auditFailed') }
        : state;
    case 'sent':
      return state.kind === 'recorded' ? { ...state, kind: 'answered' } : state;
    default:
      return assertNever(event);
  }
}

type OpenState = Exclude<RequestState, { readonly ending: Ending }>;

/** Whether nothing has been decided yet. */
export function isOpen(state: RequestState): state is OpenState {
  return !('ending' in state);
}

function isAsking(state: RequestState): boolean {
  return state.kind === 'waiting' || state.kind === 'prompting';
}

function decided(ending: Ending): RequestState {
  return { kind: 'decided', ending };
}

function allow(permission: Permission, given: Partial<Decision>): Ending {
  return {
    outcome: permission.by === 'user' ? 'granted' : 'allowed',
    decision: {
      effect: 'allow',
      by: permission.by,
      reason: permission.by,
      addresses: [],
      opens: [],
      ...given,
    },
    grant: permission.grant,
  };
}

function resolved(permission: Permission, addresses: readonly string[]): Ending {
  return allow(permission, addresses.length === 0 ? { reason: 'unresolved' } : { addresses });
}

function deny(outcome: Outcome, by: Decision['by'], reason: ReasonCode, message?: string): Ending {
  return {
    outcome,
    decision: {
      effect: 'deny',
      by,
      reason,
      addresses: [],
      opens: [],
      ...(message === undefined ? {} : { message }),
    },
    grant: null,
  };
}
