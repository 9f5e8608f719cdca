// Runs the test suites: `node test/run.mjs [SUITE…] [FILE…]`. A suite that finds no file or runs no test has failed, and
// so has a skipped guarantee. The last line is exactly `N passed, N failed`, with `, N skipped` only when some were.

import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unprivileged } from './setup/unprivileged.mjs';

const root = path.resolve(import.meta.dirname, '..');

/** `guarantee`: what it tests must hold here, so a skip is a failure. `unprivileged`: never as root. */
const SUITES = [
  { name: 'unit', concurrency: 2, seconds: 60 },
  { name: 'golden', concurrency: 2, seconds: 60 },
  { name: 'native', concurrency: 2, seconds: 300, guarantee: true, unprivileged: true },
  { name: 'sandbox', concurrency: 2, seconds: 600, guarantee: true, unprivileged: true },
  { name: 'extension', concurrency: 1, seconds: 900, guarantee: true, unprivileged: true },
];
/** Left out unless named: the first takes long, the second downloads VS Code. */
const EXTRA_SUITES = [
  { name: 'long', concurrency: 1, seconds: 3600, guarantee: true, unprivileged: true },
  { name: 'desktop', concurrency: 1, seconds: 900, unprivileged: true },
];

function testFiles(suite) {
  const folder = path.join('test', suite);
  let names;
  try {
    names = readdirSync(path.join(root, folder), { recursive: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.join(folder, name))
    .sort();
}

/** Runs the files in one `node --test`; gives what countReporter counted. */
function runSuite(suite, files) {
  const started = Date.now();
  const host = suite.unprivileged ? unprivileged(root) : { tree: root, run: runHere, close() {} };
  try {
    const output = mkdtempSync(path.join(host.temporary ?? tmpdir(), 'cordon-test-'));
    const counted = path.join(output, 'counts.json');
    host.own?.(output);
    const result = host.run(process.execPath, [
      ...['--import', 'tsx', '--test', `--test-concurrency=${suite.concurrency}`],
      `--test-timeout=${suite.seconds * 1000}`,
      ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
      ...[
        '--test-reporter=./test/setup/countReporter.mjs',
        `--test-reporter-destination=${counted}`,
      ],
      ...files,
    ]);
    const counts = readCounts(counted, result);
    rmSync(output, { recursive: true, force: true });
    return { ...counts, seconds: (Date.now() - started) / 1000 };
  } finally {
    host.close();
  }
}

function runHere(command, args) {
  return spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, TSX_TSCONFIG_PATH: path.join(root, 'tsconfig.test.json') },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

function readCounts(file, result) {
  const none = { passed: 0, failed: 0, skipped: 0, silent: [], unfinished: [], skips: [] };
  let counts;
  try {
    counts = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = result.error?.message ?? result.signal ?? `status ${result.status}`;
    return {
      ...none,
      failed: 1,
      trouble: `the test runner gave no result (${why}; ${error.message})`,
    };
  }
  const total = counts.passed + counts.failed + counts.skipped;
  if (total === 0) return { ...counts, failed: 1, trouble: 'ran no test' };
  if (result.status !== 0 && counts.failed === 0) {
    return {
      ...counts,
      failed: 1,
      trouble: `ended with ${result.signal ?? `status ${result.status}`}`,
    };
  }
  return counts;
}

function report(suite, counts) {
  const lines = [
    counts.trouble,
    ...counts.silent.map((file) => `${path.basename(file)} ran no test`),
    ...counts.unfinished.map(([, , name]) => `"${name}" began and never ended`),
    ...counts.skips.map(({ name, reason }) => `skipped "${name}": ${reason}`),
  ];
  for (const line of lines.filter((text) => text !== undefined))
    console.log(`${suite.name}: ${line}`);
  if (suite.guarantee && process.platform === 'linux' && counts.skipped > 0) {
    console.log(`${suite.name}: a guarantee may not be skipped on Linux; counted as failed`);
    counts = { ...counts, failed: counts.failed + counts.skipped, skipped: 0 };
  }
  console.log(`${suite.name}: ${summary(counts)} in ${counts.seconds.toFixed(1)} s\n`);
  return counts;
}

function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function main(args) {
  const known = [...SUITES, ...EXTRA_SUITES];
  const only = args
    .filter((arg) => arg.endsWith('.ts'))
    .map((file) => path.relative(root, path.resolve(file)));
  const named = args.filter((arg) => !arg.endsWith('.ts'));
  const unknown = named.filter((name) => !known.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    console.error(
      `No such suite: ${unknown.join(', ')}. There are ${known.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const ofFile = (suite) => only.some((file) => file.startsWith(`test/${suite.name}/`));
  const chosen =
    args.length === 0
      ? SUITES
      : known.filter((suite) => named.includes(suite.name) || ofFile(suite));

  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const suite of chosen) {
    const found = testFiles(suite.name);
    const files = ofFile(suite) ? only.filter((file) => found.includes(file)) : found;
    console.log(`${suite.name}: ${files.length} files`);
    const counts =
      files.length > 0
        ? runSuite(suite, files)
        : {
            ...{ passed: 0, failed: 1, skipped: 0 },
            silent: [],
            unfinished: [],
            skips: [],
            trouble: 'found no test file',
            seconds: 0,
          };
    const { passed, failed, skipped } = report(suite, counts);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  if (chosen.length === 0) total.failed += 1;
  console.log(summary(total));
  return total.failed === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
