// A server inside the boundary, opened on this machine by an answer and closed again: fetched from the host each time.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { freePort } from './harness/server.js';
import { until } from './harness/until.js';
import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

const WAIT = 60_000;
const OPEN = 'of the sandbox is open on this computer';

test('ports in the workbench', async (context) => {
  const window = await openTestWindow();
  const { workbench, server } = window;
  const it = createSteps(context, window);
  const [port, second, third] = [await freePort(), await freePort(), await freePort()];
  const question = (wanted: number): string => `wants to open port ${wanted}`;
  writeFileSync(path.join(server.workspace, 'index.html'), 'from inside\n');

  const fetched = (from = port): Promise<string | undefined> =>
    fetch(`http://127.0.0.1:${from}/`, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.text(),
      () => undefined, // nothing listens
    );
  const serve = async (on = port): Promise<void> => {
    await workbench.clearTerminal();
    await workbench.type(`python3 -m http.server ${on}`);
  };
  const interrupt = async (): Promise<void> => {
    await workbench.page.locator('.terminal-wrapper.active .xterm textarea').focus();
    await workbench.page.keyboard.press('Control+C');
  };

  try {
    await it('a listener waits for an answer, and the host cannot reach it before', async () => {
      await workbench.status(NOTHING_WAITS).waitFor({ timeout: 120_000 });
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
      await serve();
      await workbench.toast(question(port)).waitFor();
      assert.equal(await fetched(), undefined);
      await workbench.screenshot('publish');
    });

    await it('Allow for this session opens the port, and a link leads to it', async () => {
      await workbench.pressToast(question(port), 'Allow for this session');
      const toast = workbench.toast(OPEN);
      await toast.waitFor();
      assert.equal(await fetched(), 'from inside\n');
      const link = toast.locator('.notification-list-item-message a');
      assert.equal(await link.innerText(), `http://localhost:${port}`);
      const tab = workbench.page.context().waitForEvent('page');
      await link.click();
      const opened = await tab;
      await opened.getByText('from inside').waitFor();
      await opened.close();
      await workbench.showGrants();
      await workbench.grant(`Port ${port}`).waitFor();
      await workbench.screenshot('published');
    });

    await it('it is told when the program closes it', async () => {
      await workbench.closeToast(OPEN);
      await interrupt();
      await workbench.toast(`Port ${port} of the sandbox is closed again`).waitFor();
      assert.equal(await fetched(), undefined);
    });

    await it('the next listener opens without a question, and revoking closes it', async () => {
      await serve();
      await workbench.toast(OPEN).waitFor();
      assert.equal(await fetched(), 'from inside\n');
      await workbench.status(NOTHING_WAITS).waitFor();
      await workbench.revokeGrant(`Port ${port}`);
      await until('a closed port', WAIT, async () => (await fetched()) === undefined);
      await workbench.closeToast(OPEN);
      await interrupt();
    });

    await it('Allow once opens it for that listener; Stop Sharing closes it', async () => {
      await serve(second);
      await workbench.pressToast(question(second), 'Allow once');
      await workbench.toast(OPEN).waitFor();
      assert.equal(await fetched(second), 'from inside\n');
      await workbench.pressToast(OPEN, 'Stop Sharing');
      await until('a closed port', WAIT, async () => (await fetched(second)) === undefined);
      await interrupt();
    });

    await it('Deny leaves it closed', async () => {
      await serve(third);
      await workbench.pressToast(question(third), 'Deny');
      await workbench.status(NOTHING_WAITS).waitFor();
      assert.equal(await fetched(third), undefined);
    });
  } finally {
    await window.close();
  }
});
