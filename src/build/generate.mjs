// Writes what package.json has from typed code: the settings page. `--check` only compares.

import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const file = fileURLToPath(new URL('../../package.json', import.meta.url));
const { settingsConfiguration } = await tsImport('../settings/manifest.ts', import.meta.url);

const before = readFileSync(file, 'utf8');
const manifest = JSON.parse(before);
manifest.contributes.configuration = settingsConfiguration();
const after = `${JSON.stringify(manifest, null, 2)}\n`;

if (before !== after && process.argv.includes('--check')) {
  console.error('package.json does not match the settings schema: run npm run generate');
  process.exitCode = 1;
} else if (before !== after) {
  writeFileSync(file, after);
}
