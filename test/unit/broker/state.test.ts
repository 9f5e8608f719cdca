import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RequestEvent, RequestState } from '../../../src/broker/state.js';
import { received, transition } from '../../../src/broker/state.js';

const byUser = { by: 'user', grant: 'g1' } as const;
const byRule = { by: 'rule', grant: null } as const;

function after(...events: readonly RequestEvent[]): RequestState {
  return events.reduce(transition, received);
}

/** The outcome and the reason, or the kind of a state that has none. */
function endOf(state: RequestState): string {
  if (!('ending' in state)) return state.kind;
  const { outcome, decision } = state.ending;
  return `${state.kind}: ${outcome}, ${decision.effect} by ${decision.by} for ${decision.reason}`;
}

const asked = [{ kind: 'questioned', about: 'target' }, { kind: 'shown' }] as const;
const resolved = { kind: 'resolved', addresses: ['192.0.2.1'] } as const;

const paths: readonly (readonly [name: string, events: readonly RequestEvent[], end: string])[] = [
  ['nothing', [], 'received'],
  [
    'a rule that allows',
    [{ kind: 'permitted', permission: byRule }, resolved],
    'decided: allowed, allow by rule for rule',
  ],
  [
    'a rule that denies',
    [{ kind: 'forbidden', by: 'rule' }],
    'decided: denied, deny by rule for rule',
  ],
  ['a question that waits', [{ kind: 'questioned', about: 'target' }], 'waiting'],
  ['a question that is shown', asked, 'prompting'],
  [
    'yes',
    [...asked, { kind: 'permitted', permission: byUser }, resolved],
    'decided: granted, allow by user for user',
  ],
  ['no', [...asked, { kind: 'forbidden', by: 'user' }], 'decided: refused, deny by user for user'],
  ['no answer', [...asked, { kind: 'expired' }], 'decided: expired, deny by default for noAnswer'],
  [
    'no answer before it was shown',
    [{ kind: 'questioned', about: 'target' }, { kind: 'expired' }],
    'decided: expired, deny by default for noAnswer',
  ],
  [
    'a session that ends',
    [...asked, { kind: 'cancelled' }],
    'decided: cancelled, deny by default for sessionClosed',
  ],
  [
    'a program that dies',
    [...asked, { kind: 'withdrawn' }],
    'decided: withdrawn, deny by default for withdrawn',
  ],
  [
    'a program that dies during the look-up',
    [{ kind: 'permitted', permission: byRule }, { kind: 'withdrawn' }],
    'decided: withdrawn, deny by default for withdrawn',
  ],
  [
    'nobody to ask',
    [...asked, { kind: 'failed', reason: 'noInterface' }],
    'decided: broken, deny by default for noInterface',
  ],
  [
    'a name without an address',
    [
      { kind: 'permitted', permission: byRule },
      { kind: 'resolved', addresses: [] },
    ],
    'decided: allowed, allow by rule for unresolved',
  ],
  [
    'private addresses, then yes',
    [
      { kind: 'permitted', permission: byRule },
      { kind: 'questioned', about: 'addresses' },
      { kind: 'shown' },
      { kind: 'permitted', permission: byUser },
      resolved,
    ],
    'decided: granted, allow by user for user',
  ],
  [
    'private addresses, then no',
    [
      { kind: 'permitted', permission: byRule },
      { kind: 'questioned', about: 'addresses' },
      { kind: 'shown' },
      { kind: 'forbidden', by: 'user' },
    ],
    'decided: refused, deny by user for user',
  ],
  [
    'recorded',
    [{ kind: 'forbidden', by: 'rule' }, { kind: 'recorded' }],
    'recorded: denied, deny by rule for rule',
  ],
  [
    'answered',
    [{ kind: 'forbidden', by: 'rule' }, { kind: 'recorded' }, { kind: 'sent' }],
    'answered: denied, deny by rule for rule',
  ],
  [
    'an approval that cannot be recorded',
    [{ kind: 'permitted', permission: byRule }, resolved, { kind: 'unrecorded' }],
    'recorded: broken, deny by default for auditFailed',
  ],
];

for (const [name, events, end] of paths) {
  test(`a request ends as it should: ${name}`, () => {
    assert.equal(endOf(after(...events)), end);
  });
}

const late: readonly RequestEvent[] = [
  { kind: 'permitted', permission: byUser },
  { kind: 'questioned', about: 'target' },
  { kind: 'questioned', about: 'addresses' },
  { kind: 'shown' },
  resolved,
  { kind: 'forbidden', by: 'user' },
  { kind: 'expired' },
  { kind: 'cancelled' },
  { kind: 'withdrawn' },
  { kind: 'failed', reason: 'internal' },
];

for (const event of late) {
  test(`what comes after the decision changes nothing: ${event.kind}`, () => {
    const decided = after({ kind: 'forbidden', by: 'rule' });
    const recorded = transition(decided, { kind: 'recorded' });
    assert.equal(transition(decided, event), decided);
    assert.equal(transition(recorded, event), recorded);
  });
}

test('nothing is answered that was not recorded', () => {
  const decided = after({ kind: 'forbidden', by: 'rule' });
  assert.equal(transition(decided, { kind: 'sent' }), decided);
});

test('a resolved name does not allow what nobody permitted', () => {
  assert.equal(transition(received, resolved), received);
  const prompting = after(...asked);
  assert.equal(transition(prompting, resolved), prompting);
});

test('addresses are asked about only after the target was permitted', () => {
  assert.equal(transition(received, { kind: 'questioned', about: 'addresses' }), received);
});
