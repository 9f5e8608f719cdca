// `npm run package`: builds, and makes one .vsix for each target, holding that target's launcher only. linux-arm64 is made
// where Debian's cross compiler is (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross).

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const TARGETS = ['linux-x64', 'linux-arm64'];
const CROSS_COMPILER = 'aarch64-linux-gnu-gcc';

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status === 0) return;
  console.error(`${command} ${args.join(' ')}: ${result.error?.message ?? 'failed'}`);
  process.exit(1);
}

function hasCrossCompiler() {
  return spawnSync(CROSS_COMPILER, ['--version']).status === 0;
}

function packageTarget(target) {
  const launcher = path.join(root, 'dist/native', target, 'cordon-launch');
  if (!existsSync(launcher)) {
    console.error(`${target}: no launcher at ${path.relative(root, launcher)}`);
    process.exit(1);
  }
  const others = TARGETS.filter((other) => other !== target);
  const ignore = path.join(root, 'build', `vscodeignore-${target}`);
  mkdirSync(path.dirname(ignore), { recursive: true });
  const common = readFileSync(path.join(root, '.vscodeignore'), 'utf8');
  writeFileSync(ignore, common + others.map((other) => `dist/native/${other}/**\n`).join(''));
  run(path.join(root, 'node_modules/.bin/vsce'), [
    ...['package', '--target', target, '--no-dependencies', '--ignoreFile', ignore],
    ...['--allow-missing-repository', '--no-rewrite-relative-links'],
  ]);
}

run('npm', ['run', '--silent', 'build']);
packageTarget('linux-x64');
if (hasCrossCompiler()) {
  run('make', ['--silent', '-C', 'native', 'arm64']);
  packageTarget('linux-arm64');
} else console.log(`linux-arm64: left out, ${CROSS_COMPILER} is not installed`);
