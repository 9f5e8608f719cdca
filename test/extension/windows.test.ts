// Two windows on one folder: each answers for its own terminals.

import { test } from 'node:test';

import { workbenchUrl } from './harness/server.js';
import { until } from './harness/until.js';
import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

test('two windows on one folder', async (context) => {
  const window = await openTestWindow({
    names: {
      'first.test': ['127.0.0.51'],
      'second.test': ['127.0.0.52'],
      'left.test': ['127.0.0.53'],
    },
  });
  const { workbench: first, browser, server, port } = window;
  const it = createSteps(context, window);

  try {
    const second = await browser.open(workbenchUrl(server, server.workspace));
    const both = [
      { workbench: first, other: second, name: 'first.test' },
      { workbench: second, other: first, name: 'second.test' },
    ];

    await it('both enforce', async () => {
      for (const { workbench } of both) {
        await workbench.page.bringToFront();
        await workbench.status(NOTHING_WAITS).waitFor({ timeout: 120_000 });
        await workbench.command('Cordon: New Sandboxed Terminal');
        await workbench.terminalReady();
      }
    });

    await it('each asks for its own terminal, and the other does not', async () => {
      for (const { workbench, other, name } of both) {
        await workbench.page.bringToFront();
        await workbench.type(`curl -sS --max-time 250 http://${name}:${port}/`);
        await workbench.status('Cordon: 1 request waits').waitFor();
        await other.status(NOTHING_WAITS).waitFor();
        const title = `curl wants to reach ${name}:${port}`;
        await workbench.pressToast(title, 'Allow once');
        await workbench.pressToast(`${title} (127.`, 'Allow once');
        await workbench.terminalShows(`served ${name}`);
      }
    });

    await it('when one is closed, the other goes on', async () => {
      await second.page.close();
      await first.page.bringToFront();
      await first.type(`curl -sS --max-time 250 http://left.test:${port}/`);
      await first.pressToast(`curl wants to reach left.test:${port}`, 'Deny');
      await until(
        'the end of the question',
        60_000,
        async () => (await first.status(NOTHING_WAITS).count()) === 1,
      );
    });
  } finally {
    await window.close();
  }
});
