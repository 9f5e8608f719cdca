// `npm run try`: opens a workbench with the extension and a sandboxed terminal in it: the desktop's VS Code when `code` is
// on PATH, else code-server on the loopback. Ctrl-C ends it. `--code-server` takes the latter even so, `--smoke` (for tests)
// opens it, uses the terminal and ends.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { register } from 'tsx/esm/api';

const root = path.resolve(import.meta.dirname, '../..');
const helper = path.join(import.meta.dirname, 'try');
const smoke = process.argv.includes('--smoke');

/** Resolves when the user wants to end. */
const interrupted = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => resolve(signal));
});

/** A desktop VS Code's `code`. Inside a remote window or as root it opens no window with an extension under development. */
function desktopCode() {
  if (smoke || process.argv.includes('--code-server')) return undefined;
  if (process.getuid?.() === 0 || process.env.VSCODE_IPC_HOOK_CLI !== undefined) return undefined;
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'code'))
    .find((file) => isExecutable(file));
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function makeSample(folder) {
  mkdirSync(folder, { recursive: true });
  copyFileSync(path.join(helper, 'README.md'), path.join(folder, 'README.md'));
  return folder;
}

async function openDesktop(code) {
  // Below the home folder, because /tmp is private inside the sandbox.
  const home = mkdtempSync(path.join(os.homedir(), '.cordon-try-'));
  const sample = makeSample(path.join(home, 'try-cordon'));
  console.log(
    `Opening VS Code (${code}) with ${sample}. Close its window, or press Ctrl-C here, to end.`,
  );
  const child = spawn(
    code,
    [
      ...['--new-window', '--wait', '--disable-workspace-trust', '--skip-welcome'],
      ...[
        '--user-data-dir',
        path.join(home, 'user-data'),
        '--extensions-dir',
        path.join(home, 'extensions'),
      ],
      ...[`--extensionDevelopmentPath=${root}`, `--extensionDevelopmentPath=${helper}`, sample],
    ],
    { stdio: 'inherit' },
  );
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
  await Promise.race([ended, interrupted]);
  child.kill();
  await ended;
  rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

async function openCodeServer() {
  register();
  const { startServer, stageExtension, workbenchUrl } =
    await import('../extension/harness/server.ts');
  const staging = mkdtempSync(path.join(os.tmpdir(), 'cordon-try-'));
  const password = randomBytes(6).toString('hex');
  const server = await startServer({
    extensions: [stageExtension(staging), helper],
    // The smoke test reads the terminal's text in the page, where only the plain renderer puts it.
    settings: smoke
      ? {}
      : { 'terminal.integrated.gpuAcceleration': 'auto', 'workbench.reduceMotion': 'auto' },
    password,
    say: console.log,
  });
  try {
    const url = workbenchUrl(server, makeSample(path.join(server.home, 'try-cordon')));
    if (smoke) return await useOnce(server, url, password);
    console.log(`\nOpen ${url}\nPassword: ${password}\n\nCtrl-C ends it and removes what it made.`);
    openInBrowser(url);
    await interrupted;
  } finally {
    await server.stop();
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Where there is a desktop; elsewhere the address is printed all the same. */
function openInBrowser(url) {
  if (process.env.DISPLAY === undefined && process.env.WAYLAND_DISPLAY === undefined) return;
  spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
    .once('error', () => undefined) // not installed: the printed address is enough
    .unref();
}

async function useOnce(server, url, password) {
  const { launchBrowser } = await import('../extension/harness/workbench.ts');
  const browser = await launchBrowser();
  try {
    const workbench = await browser.open(url, password);
    await workbench.status(/Cordon: (enforcing|\d+ gaps?)/).waitFor({ timeout: 120_000 });
    await workbench.terminalReady().catch(async (error) => {
      await workbench.screenshot('try');
      throw error;
    });
    await workbench.type('touch ok; touch ~/outside; echo done-$((1+1))');
    await workbench.pressToast('~/outside', 'Deny');
    await workbench.terminalShows('done-2');
    const inside = existsSync(path.join(server.home, 'try-cordon', 'ok'));
    const outside = existsSync(path.join(server.home, 'outside'));
    if (!inside || outside) throw new Error(`inside: ${inside}, outside: ${outside}`);
    console.log('The sandboxed terminal works.');
  } finally {
    await browser.close();
  }
}

const code = desktopCode();
await (code === undefined ? openCodeServer() : openDesktop(code));
process.exit();
