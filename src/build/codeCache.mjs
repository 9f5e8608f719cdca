// Part of `npm run build`: runs dist/cli.main.js once in this process, as `cordon run -- true`, and keeps what V8 compiled
// for it, so that the next start need not. Whether that run succeeds does not matter: functions are compiled as they are met.

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { Script } from 'node:vm';

const dist = path.resolve(import.meta.dirname, '../../dist');
const file = path.join(dist, 'cli.main.js');
const source = readFileSync(file, 'latin1');
const script = new Script(source, { filename: file });

const home = mkdtempSync(path.join(os.tmpdir(), 'cordon-build-'));
process.chdir(home);
process.env['HOME'] = home;
process.env['XDG_RUNTIME_DIR'] = home;
process.argv = [process.execPath, path.join(dist, 'cli.js')];
process.argv.push('run', '--network', 'off', '--ask', 'deny', '--', 'true');
process.stderr.write = () => true;

process.on('exit', () => {
  process.exitCode = 0;
  rmSync(home, { recursive: true, force: true });
  // V8 recognises its code by the source's length alone, so it must not be kept beside a newer source.
  if (readFileSync(file, 'latin1') !== source) return;
  const made = path.join(dist, `cli.cache.${process.pid}`);
  writeFileSync(made, script.createCachedData());
  renameSync(made, path.join(dist, 'cli.cache'));
});

const module = { exports: {} };
script.runInThisContext()(module.exports, createRequire(file), module, file, dist);
