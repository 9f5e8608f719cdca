import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  describeProblem,
  parseLayerText,
  parseLayerValue,
  unreadableLayer,
} from '../../../src/settings/layers.js';
import type { LayerSource } from '../../../src/settings/layers.js';

const source: LayerSource = { kind: 'workspace', folder: '/ws', file: '/ws/.cordon.json' };

function problems(text: string): readonly string[] {
  return parseLayerText(source, text).problems.map(describeProblem);
}

test('a layer is parsed alone: what is missing stays missing', () => {
  const layer = parseLayerText(source, '{ "network": { "mode": "off" } }');
  assert.deepEqual(layer.values, { network: { mode: 'off' } });
  assert.deepEqual(layer.problems, []);
});

test('an empty object is a layer that says nothing', () => {
  assert.deepEqual(parseLayerValue(source, {}), {
    source,
    values: {},
    lines: new Map(),
    problems: [],
  });
});

const wrong: readonly (readonly [what: string, text: string, problems: readonly string[]])[] = [
  [
    'an unknown key, with its line and what was meant',
    '{\n  "network": {\n    "alow": []\n  }\n}',
    ['/ws/.cordon.json:3: network.alow is not a setting of Cordon. Did you mean network.allow?'],
  ],
  [
    'a key in another form of the same word',
    '{"network":{"allowed":[]}}',
    ['/ws/.cordon.json:1: network.allowed is not a setting of Cordon. Did you mean network.allow?'],
  ],
  [
    'a key outside its section',
    '{"writableRoots":[]}',
    [
      '/ws/.cordon.json:1: writableRoots is not a setting of Cordon. Did you mean filesystem.writableRoots?',
    ],
  ],
  [
    'a section that is misspelt',
    '{"filesytem":{}}',
    ['/ws/.cordon.json:1: filesytem is not a setting of Cordon. Did you mean filesystem?'],
  ],
  [
    'a key that is like no other, without a guess',
    '{"xyzzy":1}',
    ['/ws/.cordon.json:1: xyzzy is not a setting of Cordon.'],
  ],
  [
    'a key that every object has',
    '{"__proto__":{"network":{}},"constructor":1}',
    [
      '/ws/.cordon.json:1: __proto__ is not a setting of Cordon.',
      '/ws/.cordon.json:1: constructor is not a setting of Cordon.',
    ],
  ],
  [
    'a value that is none of the choices',
    '{"network":{"mode":"Of"}}',
    [
      '/ws/.cordon.json:1: network.mode must be "off", "ask" or "on", not "Of". Did you mean "off"?',
    ],
  ],
  [
    'values of the wrong type, each at its own line',
    '{"network":{"allow":[\n1,\n"a",\n""\n]},\n"approvals":[]}',
    [
      '/ws/.cordon.json:2: network.allow[0] must be a text, not 1.',
      '/ws/.cordon.json:4: network.allow[2] must not be empty.',
      '/ws/.cordon.json:6: approvals must be an object, not [].',
    ],
  ],
  [
    'numbers out of range',
    '{"approvals":{"timeout":4}}',
    ['/ws/.cordon.json:1: approvals.timeout must be at least 5.'],
  ],
  [
    'numbers that are not whole',
    '{"approvals":{"timeout":7.5}}',
    ['/ws/.cordon.json:1: approvals.timeout must be a whole number, not 7.5.'],
  ],
  [
    'patterns where only names are possible',
    '{"environment":{"keep":["AWS_*"]}}',
    [
      '/ws/.cordon.json:1: environment.keep[0] "AWS_*" is not a name of an environment variable (whole names only, no patterns).',
    ],
  ],
  ['something that is no object', '[]', ['/ws/.cordon.json:1: must be an object, not [].']],
  ['text that is no JSON', '{\n', ['/ws/.cordon.json:2: ends too early.']],
];

for (const [what, text, expected] of wrong) {
  test(`a layer reports ${what}`, () => {
    assert.deepEqual(problems(text), expected);
  });
}

test('a layer with an error is not used in part', () => {
  const layer = parseLayerText(source, '{"network":{"deny":["evil.example"],"mod":"off"}}');
  assert.deepEqual(layer.values, {});
  assert.equal(layer.problems[0]?.severity, 'error');
});

test('a layer that is there and cannot be read is an error', () => {
  const layer = unreadableLayer(source, 'permission denied');
  assert.deepEqual(layer.problems.map(describeProblem), [
    '/ws/.cordon.json: cannot be read: permission denied.',
  ]);
  assert.equal(layer.problems[0]?.severity, 'error');
});

test('a list that is too long is refused with its limit', () => {
  const drop = Array.from({ length: 401 }, (_, index) => `A${index}`);
  const layer = parseLayerValue(source, { environment: { drop } });
  assert.deepEqual(layer.problems.map(describeProblem), [
    '/ws/.cordon.json: environment.drop must be at most 400 entries long.',
  ]);
});
