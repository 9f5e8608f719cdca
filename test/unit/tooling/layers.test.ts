// Gives every layer rule an import it must find, so that a rule whose pattern matches nothing cannot pass for a clean tree.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { cruise, type IConfiguration, type ICruiseResult } from 'dependency-cruiser';

const root = path.resolve(import.meta.dirname, '../../..');
const config = createRequire(import.meta.url)(
  path.join(root, '.dependency-cruiser.cjs'),
) as IConfiguration;
const tree = mkdtempSync(path.join(os.tmpdir(), 'cordon-layers-'));
after(() => {
  rmSync(tree, { recursive: true });
});

/** Rule → a file and its text that break it. */
const BREACHES: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'no-cycles': ['src/base/a.ts', `import './b.js';`],
  'no-unresolved': ['src/base/lost.ts', `import './nowhere.js';`],
  'src-never-imports-tests': ['src/base/test.ts', `import '../../test/fake.js';`],
  base: ['src/base/fs.ts', `import 'node:fs';`],
  settings: ['src/settings/fs.ts', `import 'node:fs/promises';`],
  'policy-sees-types-of-settings': ['src/policy/value.ts', `import '../settings/any.js';`],
  policy: ['src/policy/zod.ts', `import 'zod';`],
  plan: ['src/plan/launch.ts', `import type {} from '../launch/any.js';`],
  launch: ['src/launch/broker.ts', `import type {} from '../broker/any.js';`],
  'launch-in-schema': ['src/launch/control/schema.ts', `import '../../session/any.js';`],
  gate: ['src/gate/child.ts', `import 'child_process';`],
  audit: ['src/audit/net.ts', `import 'node:net';`],
  'audit-in-schema': ['src/audit/schema.ts', `import 'node:net';`],
  broker: ['src/broker/fs.ts', `import 'node:fs';`],
  session: ['src/session/extension.ts', `import '../extension/any.js';`],
  cli: ['src/cli/net.ts', `import 'node:net';`],
  'cli-in-schema': ['src/cli/schema.ts', `import 'node:net';`],
  'cli-sees-types-below-session': ['src/cli/value.ts', `import '../launch/any.js';`],
  mcp: ['src/mcp/net.ts', `import 'node:net';`],
  'mcp-in-schema': ['src/mcp/schema.ts', `import 'node:net';`],
  'mcp-sees-types-below-session': ['src/mcp/value.ts', `import '../broker/any.js';`],
  extension: ['src/extension/net.ts', `import 'node:net';`],
  'extension-sees-types-below-session': ['src/extension/value.ts', `import '../launch/any.js';`],
  'vscode-only-in-extension': ['src/session/vscode.ts', `import type {} from 'vscode';`],
  'cli-never-reaches-vscode': ['src/cli/far.ts', `import '../session/vscode.js';`],
};
const CLEAN: Readonly<Record<string, string>> = {
  'src/base/b.ts': `import './a.js';`,
  'test/fake.ts': '',
  'src/settings/schema.ts': `import 'zod'; import '../base/b.js';`,
  'src/policy/type.ts': `import type {} from '../settings/any.js'; import 'node:path'; import 'ipaddr.js';`,
  'src/launch/run.ts': `import 'node:child_process'; import '../plan/any.js'; import type {} from '../policy/any.js';`,
  'src/cli/type.ts': `import type {} from '../launch/any.js'; import '../session/any.js'; import 'commander';`,
  'src/extension/ui.ts': `import 'vscode'; import '../session/any.js';`,
  ...Object.fromEntries(
    ['settings', 'policy', 'plan', 'launch', 'broker', 'session', 'extension'].map((folder) => [
      `src/${folder}/any.ts`,
      '',
    ]),
  ),
};

async function violations(): Promise<ReadonlySet<string>> {
  const files = [...Object.entries(CLEAN), ...Object.values(BREACHES)];
  for (const [file, text] of files) {
    mkdirSync(path.join(tree, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(tree, file), `${text}\nexport {};\n`);
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
  const { options, forbidden } = config;
  const result = await cruise(['src'], {
    ...options,
    baseDir: tree,
    ruleSet: { ...(forbidden === undefined ? {} : { forbidden }) },
    validate: true,
  });
  const { summary } = result.output as ICruiseResult;
  return new Set(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`));
}

test('every layer rule finds the import that breaks it, and nothing in clean files', async () => {
  const found = await violations();
  const rules = (config.forbidden ?? []).map(({ name }) => name ?? '(unnamed)');
  assert.deepEqual(Object.keys(BREACHES).sort(), rules.sort(), 'one breach for each rule');
  const missed = Object.entries(BREACHES)
    .map(([rule, [file]]) => `${rule}: ${file}`)
    .filter((violation) => !found.has(violation));
  assert.deepEqual(missed, []);
  const clean = Object.keys(CLEAN).filter((file) => file !== 'src/base/b.ts');
  assert.deepEqual(
    [...found].filter((violation) => clean.some((file) => violation.endsWith(`: ${file}`))),
    [],
  );
});
