import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { settingsConfiguration } from '../../../src/settings/manifest.js';
import { settingDefaults, settingKeys } from '../../../src/settings/schema.js';

interface Manifest {
  readonly contributes: { readonly configuration: unknown };
}

test('the settings page in package.json is generated from the schema', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  const manifest = JSON.parse(text) as Manifest;
  assert.deepEqual(
    manifest.contributes.configuration,
    settingsConfiguration(),
    'run: npm run generate',
  );
});

test('every setting has a description, a default and a scope', () => {
  const { properties } = settingsConfiguration();
  assert.deepEqual(
    Object.keys(properties),
    settingKeys().map((key) => `cordon.${key}`),
  );
  for (const [key, property] of Object.entries(properties)) {
    assert.match(String(property['markdownDescription']), /^[A-Z].*\.$/su, key);
    assert.equal(property['scope'], 'resource', key);
    assert.ok('default' in property, key);
    const choices = property['enum'];
    if (Array.isArray(choices)) {
      const words = property['markdownEnumDescriptions'];
      assert.equal(Array.isArray(words) && words.length, choices.length, key);
      assert.ok(choices.includes(property['default']), key);
    }
  }
});

test('the defaults shown are those that hold', () => {
  const { properties } = settingsConfiguration();
  const shown = ['filesystem.temp', 'filesystem.caches', 'network.mode', 'approvals.timeout'].map(
    (key) => properties[`cordon.${key}`]?.['default'],
  );
  const { temp, caches, mode, timeout } = settingDefaults;
  assert.deepEqual(shown, [temp, caches, mode, timeout]);
});
