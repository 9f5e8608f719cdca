// `npm run package [-- --no-build] [-- --out DIR]`: one .vsix for each target, holding that target's launcher only.
// linux-arm64 is made where Debian's cross compiler is (gcc-aarch64-linux-gnu, libc6-dev-arm64-cross).

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createVSIX } from '@vscode/vsce';

const root = path.resolve(import.meta.dirname, '../..');
const TARGETS = ['linux-x64', 'linux-arm64'];
const launcherOf = (target) => path.join(root, 'dist/native', target, 'cordon-launch');

const { values: flags } = parseArgs({
  options: { build: { type: 'boolean', default: true }, out: { type: 'string', default: root } },
  allowNegative: true,
});

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (result.status === 0) return;
  console.error(`${command} ${args.join(' ')}: ${result.error?.message ?? 'failed'}`);
  process.exit(1);
}

function build() {
  run('npm', ['run', '--silent', 'build']);
  if (spawnSync('aarch64-linux-gnu-gcc', ['--version']).status === 0) {
    run('make', ['--silent', '-C', 'native', 'arm64']);
  } else console.log('linux-arm64: left out, its cross compiler is not installed');
}

function packageTarget(target, scratch) {
  const ignore = path.join(scratch, target);
  const common = readFileSync(path.join(root, '.vscodeignore'), 'utf8');
  const others = TARGETS.filter((other) => other !== target);
  writeFileSync(ignore, common + others.map((other) => `dist/native/${other}/**\n`).join(''));
  const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return createVSIX({
    cwd: root,
    target,
    packagePath: path.join(path.resolve(flags.out), `${name}-${target}-${version}.vsix`),
    ignoreFile: ignore,
    dependencies: false, // they are in the bundles
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
  });
}

if (flags.build) build();
const targets = TARGETS.filter((target) => existsSync(launcherOf(target)));
if (targets.length === 0) {
  console.error(`There is no launcher below ${path.join(root, 'dist/native')}: npm run build`);
  process.exit(1);
}
const scratch = mkdtempSync(path.join(os.tmpdir(), 'cordon-package-'));
try {
  for (const target of targets) await packageTarget(target, scratch);
} finally {
  rmSync(scratch, { recursive: true });
}
