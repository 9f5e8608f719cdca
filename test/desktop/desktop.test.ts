// The host suite in a desktop VS Code, which is downloaded. Where that is not possible the test is skipped, with the reason.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { downloadAndUnzipVSCode, runTests, SilentReporter } from '@vscode/test-electron';

const root = path.resolve(import.meta.dirname, '../..');

test('the suite inside the extension host passes in a desktop VS Code', async (t) => {
  const place = mkdtempSync(path.join(os.tmpdir(), 'cordon-desktop-'));
  try {
    const executable = await download(place);
    if (executable.kind === 'failed') {
      t.skip(`VS Code could not be downloaded: ${executable.reason}`);
      return;
    }
    if (process.platform === 'linux' && !('DISPLAY' in process.env)) {
      t.skip('there is no display; try xvfb-run npm run test:desktop');
      return;
    }
    const workspace = path.join(place, 'workspace');
    mkdirSync(workspace);
    await runTests({
      vscodeExecutablePath: executable.path,
      extensionDevelopmentPath: root,
      extensionTestsPath: path.join(root, 'test/extension/host/index.cjs'),
      launchArgs: [
        workspace,
        ...['--disable-workspace-trust', '--disable-extensions'],
        ...['--user-data-dir', path.join(place, 'user')],
      ],
    });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
});

type Download =
  | { readonly kind: 'done'; readonly path: string }
  | { readonly kind: 'failed'; readonly reason: string };

async function download(place: string): Promise<Download> {
  try {
    const options = { cachePath: path.join(place, 'vscode'), reporter: new SilentReporter() };
    return { kind: 'done', path: await downloadAndUnzipVSCode(options) };
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}
