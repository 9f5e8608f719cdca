// Brings a real VS Code (code-server: VS Code's own server and web workbench) with a Node of its own into
// .cache/code-server, from npm packages alone. A stamp file makes a second call end at once.
// Run by itself: node --import tsx test/extension/harness/installCodeServer.ts

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

export interface CodeServer {
  /** The Node that runs it. */
  readonly node: string;
  /** The folder of the npm package. */
  readonly folder: string;
}

/** The installation in `.cache/code-server`, made first when it is not there or is another version. */
export function installCodeServer(say: (line: string) => void = () => undefined): CodeServer {
  const target = path.join(import.meta.dirname, '..', '..', '..', '.cache', 'code-server');
  const nodePackage = `node-linux-${process.arch}`;
  const nodeFolder = path.join(target, 'node', 'node_modules', nodePackage);
  const installed = {
    node: path.join(nodeFolder, 'bin', 'node'),
    folder: path.join(target, 'server', 'node_modules', 'code-server'),
  };
  const stamp = path.join(target, 'stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === STAMP) return installed;

  say(`Installing ${STAMP} (about 30 s, 800 MB, into .cache/code-server) …`);
  rmSync(target, { recursive: true, force: true });
  for (const folder of ['node', 'server']) {
    mkdirSync(path.join(target, folder), { recursive: true });
    writeFileSync(path.join(target, folder, 'package.json'), '{ "private": true }\n');
  }
  const npm = (folder: string, ...args: readonly string[]): void => {
    runNpm(folder, args, installed.node, nodeFolder);
  };
  npm(path.join(target, 'node'), 'install', '--no-save', `${nodePackage}@${NODE}`);
  npm(path.join(target, 'server'), 'install', '--no-save', '--ignore-scripts', `code-server@${CODE_SERVER}`);
  npm(path.join(target, 'server'), 'rebuild', 'argon2');
  const server = path.join(installed.folder, 'lib', 'vscode');
  npm(server, 'install', '--omit=dev', '--ignore-scripts');
  npm(server, 'rebuild', ...NATIVE_MODULES);
  npm(path.join(server, 'extensions'), 'install', '--omit=dev', '--ignore-scripts');
  const remoteCli = path.join(server, 'bin', 'remote-cli', 'code-server');
  if (!existsSync(remoteCli)) symlinkSync('code-linux.sh', remoteCli);
  writeFileSync(stamp, STAMP);
  return installed;
}

function runNpm(folder: string, args: readonly string[], node: string, nodeFolder: string): void {
  try {
    execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        PATH: `${path.dirname(node)}:${process.env['PATH'] ?? ''}`,
        npm_config_nodedir: nodeFolder, // node-gyp finds the headers there instead of downloading them
        npm_config_yes: 'true',
        JOBS: 'max',
      },
    });
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new Error(`npm ${args.join(' ')} failed in ${folder}\n${output.slice(-4000)}`, { cause: error });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  installCodeServer(console.log);
}
