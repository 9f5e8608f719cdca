// Bundles the faces into dist/. Only the extension's bundle may leave `vscode` unresolved, so a leak breaks the others.

import { readFileSync, readdirSync } from 'node:fs';
import { chmod, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, context } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // import() becomes require(): a script that cli.js starts through vm has no loader of its own (it would reject), and
  // require is cheaper anyway.
  supported: { 'dynamic-import': false },
  minify: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};

const bundles = [
  {
    ...shared,
    entryPoints: ['src/extension/extension.ts'],
    // .cjs, because VS Code judges by the root package.json ("type": "module") and by the name.
    outfile: 'dist/extension.cjs',
    external: ['vscode'],
  },
  {
    ...shared,
    entryPoints: ['src/cli/main.ts'],
    outfile: 'dist/cli.main.js',
    // A function to call, because it is started by cli.js (src/build/start.cjs).
    banner: { js: '(function (exports, require, module, __filename, __dirname) {' },
    footer: { js: '})' },
    define: { 'process.env.CORDON_VERSION': JSON.stringify(version) },
  },
];

/** The licences of what was bundled: they ask to travel with it. */
function notices(metafiles) {
  const packages = new Set(
    metafiles
      .flatMap(({ inputs }) => Object.keys(inputs))
      .map((file) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1])
      .filter((name) => name !== undefined),
  );
  return [...packages]
    .sort()
    .map((name) => {
      const folder = path.join('node_modules', name);
      const about = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) throw new Error(`${name} comes without a licence text`);
      const text = readFileSync(path.join(folder, file), 'utf8').trim();
      return `${name} ${about.version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

async function buildAll() {
  const results = await Promise.all(bundles.map((options) => build(options)));
  await writeFile('dist/NOTICES.txt', notices(results.map(({ metafile }) => metafile)));
}

await mkdir('dist', { recursive: true });
// The CLI starts faster as CommonJS; this makes Node read dist/*.js as that.
await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
await rm('dist/cli.cache', { force: true });
await copyFile('src/build/start.cjs', 'dist/cli.js');
await chmod('dist/cli.js', 0o755);
if (process.argv.includes('--watch')) {
  for (const options of bundles) await (await context({ ...options, logLevel: 'info' })).watch();
} else {
  await buildAll().catch((error) => {
    if (error.errors === undefined) throw error; // else esbuild has printed it
    process.exitCode = 1;
  });
}
