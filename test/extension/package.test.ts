// The packaged extension, installed as a user would, without the tree around it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';

import { ROOT } from './harness/server.js';
import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

test('the packaged extension', async (context) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cordon-package-'));
  execFileSync(process.execPath, ['src/build/package.mjs', '--no-build', '--out', folder], {
    cwd: ROOT,
    stdio: 'pipe',
  });
  const target = `linux-${process.arch}`;
  const file = readdirSync(folder).find((name) => name.endsWith('.vsix') && name.includes(target));
  assert.ok(file !== undefined, `there is no package for ${target}`);
  const window = await openTestWindow({
    packages: [path.join(folder, file)],
    names: { 'installed.test': ['127.0.0.41'] },
  });
  const { workbench, server, port } = window;
  const it = createSteps(context, window);

  try {
    await it('is installed whole and starts', async () => {
      await workbench.status(NOTHING_WAITS).waitFor({ timeout: 120_000 });
      const installed = path.join(server.home, 'extensions');
      const own = readdirSync(installed).find((name) => name.startsWith('cordon.cordon-'));
      assert.ok(own !== undefined);
      assert.deepEqual(
        ['dist/extension.cjs', `dist/native/${target}/cordon-launch`, 'media/icon.png'].filter(
          (name) => !existsSync(path.join(installed, own, name)),
        ),
        [],
      );
    });

    await it('its terminal is confined, asks, and follows the answer', async () => {
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
      await workbench.type(
        `touch ok; touch ~/outside; curl -sS http://installed.test:${port}/; echo status-$((0+$?))`,
      );
      await workbench.pressToast('~/outside', 'Deny');
      const title = `curl wants to reach installed.test:${port}`;
      await workbench.pressToast(title, 'Allow once');
      await workbench.pressToast(`${title} (127.`, 'Allow once');
      await workbench.terminalShows('served installed.test');
      await workbench.terminalShows('status-0');
      assert.deepEqual(
        [
          existsSync(path.join(server.workspace, 'ok')),
          existsSync(path.join(server.home, 'outside')),
        ],
        [true, false],
      );
    });
  } finally {
    await window.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
