// Who may import whom: one rule for each row of the table in src/README.md, without exceptions.
// test/unit/tooling/layers.test.ts gives every rule something to find.

const src = (...folders) => `^src/(${folders.join('|')})/`;
const node = (...modules) => `^(node:)?(${modules.join('|')})(/promises)?$`;
/** Modules that touch nothing outside the process count as the language. */
const LANGUAGE = node('buffer', 'crypto', 'events', 'path', 'string_decoder', 'url', 'util');
const library = (...names) => `(^|/)node_modules/(@types/)?(${names.join('|')})/`;

/** `from` may reach `allowed` and nothing else. */
const row = (name, from, allowed, pathNot = []) => ({
  name,
  severity: 'error',
  from: { path: src(from), pathNot },
  to: { pathNot: [src('base', from), LANGUAGE, ...allowed] },
});

/** zod parses at the edges only, in files called schema.ts. */
const schemaOnly = (name, folder, allowed) => [
  row(name, folder, allowed, ['/schema\\.ts$']),
  {
    name: `${name}-in-schema`,
    severity: 'error',
    from: { path: `^src/${folder}/.*schema\\.ts$` },
    to: { pathNot: [src('base', folder), LANGUAGE, library('zod'), ...allowed] },
  },
];

const TYPES_FOR_FACES = src('settings', 'policy', 'plan', 'launch', 'broker', 'audit');

/** Faces see the layers below session as types only. */
const face = (name) => ({
  name: `${name}-sees-types-below-session`,
  severity: 'error',
  from: { path: src(name) },
  to: { path: TYPES_FOR_FACES, dependencyTypesNot: ['type-only'] },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^vscode$' },
    },
    {
      name: 'src-never-imports-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^test/' },
    },
    row('base', 'base', []),
    row('settings', 'settings', [library('zod', 'fastest-levenshtein')]),
    {
      name: 'policy-sees-types-of-settings',
      severity: 'error',
      from: { path: src('policy') },
      to: { path: src('settings'), dependencyTypesNot: ['type-only'] },
    },
    row('policy', 'policy', [src('settings'), library('ipaddr.js')]),
    row('plan', 'plan', [src('policy')]),
    ...schemaOnly('launch', 'launch', [
      src('plan', 'policy'),
      node('child_process', 'fs', 'net', 'os'),
    ]),
    row('gate', 'gate', [src('policy'), node('net', 'http', 'dns')]),
    ...schemaOnly('audit', 'audit', [src('policy'), node('fs')]),
    row('broker', 'broker', [src('policy', 'audit')]),
    row('session', 'session', [
      src('settings', 'policy', 'plan', 'launch', 'gate', 'audit', 'broker'),
      node('os', 'fs', 'dns'),
    ]),
    ...['cli', 'mcp'].flatMap((name) => [
      ...schemaOnly(name, name, [
        src('session'),
        TYPES_FOR_FACES,
        node('process', 'os', 'fs', 'tty', 'readline'),
        library('commander'),
      ]),
      face(name),
    ]),
    row('extension', 'extension', [
      src('session'),
      TYPES_FOR_FACES,
      node('process', 'os', 'fs'),
      '^vscode$',
      library('vscode'),
    ]),
    face('extension'),
    {
      name: 'vscode-only-in-extension',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/extension/' },
      to: { path: ['^vscode$', library('vscode')] },
    },
    {
      name: 'cli-never-reaches-vscode',
      severity: 'error',
      from: { path: src('cli', 'mcp') },
      to: { path: ['^vscode$', library('vscode')], reachable: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: '^src/build/', // tools, not the product
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
