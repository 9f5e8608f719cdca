// The vectors that hold this decision and the launcher's (native/linux/network/decide.c) together.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { NetworkMode, PlannedRule } from '../../../src/plan/plan.js';
import { decide, judgeAddresses } from '../../../src/policy/decide.js';
import type { RuleDecision } from '../../../src/policy/decide.js';
import { networkOf } from '../../support/policies.js';

interface Vector {
  readonly name: string;
  readonly mode: NetworkMode;
  readonly rules: readonly PlannedRule[];
  readonly host?: string;
  readonly address?: string;
  readonly port?: number;
  readonly lookup?: true;
  readonly dial?: true;
  readonly effect: 'allow' | 'deny' | 'ask';
  readonly rule: number | null;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../fixtures/decisions.json', import.meta.url), 'utf8'),
) as readonly Vector[];

for (const vector of vectors) {
  test(`decision: ${vector.name}`, () => {
    assert.deepEqual(decided(vector), { effect: vector.effect, rule: vector.rule });
  });
}

test('there are vectors for connections, lookups and dialled addresses', () => {
  assert.ok(vectors.length >= 60);
  assert.ok(vectors.some(({ lookup }) => lookup));
  assert.ok(vectors.some(({ dial }) => dial));
});

function decided({ mode, rules, host, address, port, lookup, dial }: Vector): RuleDecision {
  const network = networkOf(mode, rules);
  if (lookup) return decide(network, { host: host ?? '' });
  if (dial) {
    // The launcher dials what nobody denies; whether a private address needs an answer was settled by the broker before.
    const [judged] = judgeAddresses(network, port ?? 0, [address ?? '']);
    const isDenied = judged?.effect === 'deny' && judged.rule !== null;
    return isDenied ? { effect: 'deny', rule: judged.rule } : { effect: 'allow', rule: null };
  }
  if (host !== undefined) return decide(network, { host, port: port ?? 0 });
  return decide(network, { address: address ?? '', port: port ?? 0 });
}
