// Brings a real VS Code (code-server: VS Code's own server and web workbench) with a Node of its own into
// .cache/code-server, from npm packages alone. A stamp file makes a second call end at once.
// `node test/setup/codeServer.mjs` does it beforehand: tests see that folder read-only.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** code-server 4.139.1 holds VS Code 1.139.1 and wants Node 24. */
const CODE_SERVER = '4.139.1';
const NODE = '24';
const STAMP = `code-server ${CODE_SERVER}, node ${NODE}`;

/**
 * Modules with C++ parts that the server cannot do without. The others (sqlite3, kerberos, deviceid) cost minutes and
 * serve accounts and proxies that tests do not have; without them the server logs a line and goes on.
 */
const NATIVE_MODULES = ['node-pty', '@parcel/watcher', '@vscode/spdlog', '@vscode/native-watchdog'];

const target = path.resolve(import.meta.dirname, '../../.cache/code-server');
const nodePackage = `node-linux-${process.arch}`;
const nodeFolder = path.join(target, 'node', 'node_modules', nodePackage);

/** The Node that runs it, and the folder of the npm package. Made first when not there or of another version. */
export function installCodeServer(say = console.log) {
  const installed = {
    node: path.join(nodeFolder, 'bin', 'node'),
    folder: path.join(target, 'server', 'node_modules', 'code-server'),
  };
  const stamp = path.join(target, 'stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === STAMP) return installed;

  say(`Installing ${STAMP} (about a minute, 800 MB, into .cache/code-server)`);
  rmSync(target, { recursive: true, force: true });
  for (const name of ['node', 'server']) {
    mkdirSync(path.join(target, name), { recursive: true });
    writeFileSync(path.join(target, name, 'package.json'), '{ "private": true }\n');
  }
  npm(path.join(target, 'node'), 'install', '--no-save', `${nodePackage}@${NODE}`);
  const outer = path.join(target, 'server');
  npm(outer, 'install', '--no-save', '--ignore-scripts', `code-server@${CODE_SERVER}`);
  npm(outer, 'rebuild', 'argon2');
  const server = path.join(installed.folder, 'lib', 'vscode');
  npm(server, 'install', '--omit=dev', '--ignore-scripts');
  npm(server, 'rebuild', ...NATIVE_MODULES);
  npm(path.join(server, 'extensions'), 'install', '--omit=dev', '--ignore-scripts');
  const remoteCli = path.join(server, 'bin', 'remote-cli', 'code-server');
  if (!existsSync(remoteCli)) symlinkSync('code-linux.sh', remoteCli);
  writeFileSync(stamp, STAMP);
  return installed;
}

function npm(folder, ...args) {
  try {
    execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PATH: `${path.join(nodeFolder, 'bin')}:${process.env.PATH}`,
        npm_config_nodedir: nodeFolder, // node-gyp finds the headers there instead of downloading them
        npm_config_yes: 'true',
        JOBS: 'max',
      },
    });
  } catch (error) {
    throw new Error(
      `npm ${args.join(' ')} failed in ${folder}\n${String(error.stderr).slice(-4000)}`,
      {
        cause: error,
      },
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) installCodeServer();
