// Bundles the faces into dist/. Only the extension's bundle may leave `vscode` unresolved, so a leak breaks the others.

import { readFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { build, context } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  logLevel: 'warning',
};

const bundles = [
  // .cjs, because VS Code judges by the root package.json ("type": "module") and by the name.
  {
    ...shared,
    entryPoints: ['src/extension/extension.ts'],
    outfile: 'dist/extension.cjs',
    external: ['vscode'],
  },
  {
    ...shared,
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/cli.js',
    banner: { js: '#!/usr/bin/env node' },
    define: { 'process.env.CORDON_VERSION': JSON.stringify(version) },
    minify: true,
    keepNames: true,
  },
];

await mkdir('dist', { recursive: true });
// The CLI starts faster as CommonJS; this makes Node read dist/*.js as that.
await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
if (process.argv.includes('--watch')) {
  for (const options of bundles) await (await context({ ...options, logLevel: 'info' })).watch();
} else {
  await rm('dist/cli.js.map', { force: true });
  await Promise.all(bundles.map((options) => build(options)));
  await chmod('dist/cli.js', 0o755);
}
