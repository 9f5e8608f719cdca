// `node test/setup/prepare.mjs [test|try|build]`: makes a clean clone ready: Debian packages, node_modules, build.
// Runs before node_modules exist, so it uses nothing but Node. What is missing and cannot be installed is said in one
// line, before anything was changed.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

class Stop extends Error {}

function prepare(use) {
  checkNode();
  installPackages(missingPackages(use));
  installModules();
  step('npm', ['run', '--silent', 'build'], 'the build failed');
  if (use !== 'test') return;
  step('make', ['--silent', '-C', 'native', 'tests'], 'the C tests do not build');
  step(process.execPath, ['test/setup/codeServer.mjs'], 'could not install code-server');
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Stop(
    `Node 20.19 or later is needed; this is ${process.version} (${process.execPath}).`,
  );
}

function missingPackages(use) {
  if (process.platform !== 'linux') return [];
  const wanted = readFileSync(path.join(import.meta.dirname, 'packages.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/))
    .filter(([, uses]) => uses.split(',').includes(use))
    .map(([name]) => name);
  const query = spawnSync(
    'dpkg-query',
    ['--show', '--showformat=${Package} ${db:Status-Status}\n', ...wanted],
    {
      encoding: 'utf8',
    },
  );
  if (query.error !== undefined) {
    console.log(`Not a Debian system: these must be there in its own way: ${wanted.join(' ')}`);
    return [];
  }
  const installed = new Set(query.stdout.split('\n').filter((line) => line.endsWith(' installed')));
  return wanted.filter((name) => !installed.has(`${name} installed`));
}

function installPackages(missing) {
  if (missing.length === 0) return;
  const become = process.getuid() === 0 ? [] : ['sudo', '-n'];
  if (become.length > 0 && spawnSync('sudo', ['-n', 'true']).status !== 0) {
    throw new Stop(`Missing Debian packages (apt-get install them as root): ${missing.join(' ')}`);
  }
  console.log(`Installing Debian packages: ${missing.join(' ')}`);
  const apt = (...args) => [
    ...[...become, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'],
    ...['-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0', ...args],
  ];
  const [update, ...updateArgs] = apt('update');
  step(update, updateArgs, 'apt-get update failed');
  const [install, ...installArgs] = apt('install', '--yes', '--no-install-recommends', ...missing);
  step(install, installArgs, `could not install ${missing.join(' ')}`);
}

function installModules() {
  if (modulesMatchLock()) return;
  console.log('Installing node_modules');
  step('npm', ['ci', '--no-progress'], 'npm ci failed');
}

/** npm keeps a copy of the lock file of what it installed; packages for other systems are absent from it. */
function modulesMatchLock() {
  const installed = path.join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installed)) return false;
  const have = JSON.parse(readFileSync(installed, 'utf8')).packages;
  const want = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')).packages;
  return Object.entries(want).every(
    ([name, { version, optional }]) => name === '' || optional || have[name]?.version === version,
  );
}

function step(command, args, failure) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (result.status !== 0) throw new Stop(`${failure}: ${result.error?.message ?? 'see above'}`);
}

// A clone made with a strict umask would give the test user node_modules that it cannot read.
process.umask(0o022);
try {
  prepare(process.argv[2] ?? 'build');
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
