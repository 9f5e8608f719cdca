// Settings as a person meets them: the page, mistakes with their place, and what a workspace may not do.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import type { Locator } from 'playwright-core';

import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

test('settings in the workbench', async (context) => {
  const window = await openTestWindow({
    names: { 'wide.test': ['127.0.0.31'] },
    files: { '.vscode/settings.json': JSON.stringify({ 'cordon.network.mode': 'on' }) },
  });
  const { workbench, server, port } = window;
  const it = createSteps(context, window);
  const workspaceFile = path.join(server.workspace, '.cordon.json');

  try {
    await it('a workspace that wants more network than the user gives is told so and gets nothing', async () => {
      await workbench.toast('network.mode').waitFor({ timeout: 120_000 });
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
      await workbench.type(
        `curl -sS --max-time 250 http://wide.test:${port}/; echo status-$((0+$?))`,
      );
      await workbench.pressToast(`curl wants to reach wide.test:${port}`, 'Deny');
      await workbench.terminalShows('status-7');
    });

    await it('the settings page shows every key with words and choices', async () => {
      await workbench.command('Cordon: Open Settings');
      const setting = (key: string): Locator =>
        workbench.page.locator(`.settings-editor [data-key="cordon.${key}"]`);
      await setting('filesystem.writableRoots').waitFor();
      await workbench.screenshot('settings');
      // Filtered, because the list draws only what is in view.
      const filter = async (text: string): Promise<void> => {
        await workbench.page
          .locator('.settings-editor .suggest-input-container .view-lines')
          .click();
        await workbench.page.keyboard.press('Control+A');
        await workbench.page.keyboard.type(text);
      };
      for (const [key, words] of [
        ['filesystem.writableRoots', 'Folders that sandboxed commands may write to'],
        ['filesystem.protectedPaths', 'Files and folders inside writable roots'],
      ] as const) {
        await filter(`cordon.${key}`);
        await setting(key).getByText(words).first().waitFor();
      }
      await filter('cordon.network.');
      await setting('network.mode').getByText('What happens when').waitFor();
      await workbench.screenshot('settings-network');
      assert.deepEqual(
        await Promise.all(['network.allow', 'network.deny'].map((key) => setting(key).count())),
        [1, 1],
      );
    });

    await it('a mistake in .cordon.json is shown with file, key and what may have been meant', async () => {
      writeFileSync(workspaceFile, '{\n  "network": { "mod": "off" }\n}\n');
      const toast = workbench.toast('.cordon.json');
      await toast.waitFor();
      assert.match(
        await toast.innerText(),
        /\.cordon\.json:2: network\.mod .*Did you mean network\.mode\?/s,
      );
      await workbench.status('Cordon: not enforcing').waitFor();
      await workbench.screenshot('mistake');
    });

    await it('while it stands, no sandboxed terminal opens, and the reason is said', async () => {
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.toast('network.mod').last().waitFor();
      assert.equal(await workbench.page.locator('.terminal-tabs-entry').count(), 0);
    });

    await it('once it is mended, everything works again', async () => {
      writeFileSync(workspaceFile, '{ "network": { "mode": "off" } }\n');
      await workbench.status(NOTHING_WAITS).waitFor();
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
      await workbench.type(
        `curl -sS --max-time 250 http://wide.test:${port}/; echo status-$((0+$?))`,
      );
      await workbench.terminalShows('status-7');
      assert.equal(await workbench.toast('curl wants').count(), 0);
    });
  } finally {
    await window.close();
  }
});
