// `npm run check`: everything that reads and changes nothing. All of it runs, so that one look shows every finding.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const npm = ['typecheck', 'lint', 'format:check', 'layers', 'unused'].map((name) => ({
  name,
  command: ['npm', 'run', '--silent', name],
}));

/** Paths of files below the folders that end in one of the endings. */
function files(folders, endings) {
  return folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true })
      .filter((name) => endings.some((ending) => name.endsWith(ending)))
      .map((name) => path.join(folder, name)),
  );
}

const scripts = files(['test', 'native'], ['.sh']);
const tools = [
  { name: 'shellcheck', command: ['shellcheck', '.ci/run', ...scripts] },
  { name: 'native', command: ['make', '--silent', '-C', 'native', 'lint'] },
];

const failed = [];
for (const { name, command } of [...npm, ...tools]) {
  const [program, ...args] = command;
  const result = spawnSync(program, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  const outcome =
    result.error?.code === 'ENOENT'
      ? 'not installed, left out'
      : result.status === 0
        ? 'ok'
        : 'FAILED';
  if (outcome === 'FAILED') failed.push(name);
  console.log(`${name}: ${outcome}`);
}
if (failed.length > 0) {
  console.error(`check failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
