// A person approves and refuses in a real workbench: each button, what it does to the held program and to the settings.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { until } from './harness/until.js';
import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

const NAMES = {
  'once.test': ['127.0.0.11'],
  'session.test': ['127.0.0.12'],
  'deny.test': ['127.0.0.13'],
  'details.test': ['127.0.0.14'],
  'closed.test': ['127.0.0.15'],
  'quiet.test': ['127.0.0.16'],
  'always.test': ['127.0.0.17'],
};

test('approving and refusing in the workbench', async (context) => {
  const window = await openTestWindow({ names: NAMES });
  const { workbench, server, port } = window;
  const it = createSteps(context, window);

  const curl = async (name: string): Promise<void> => {
    await workbench.clearTerminal();
    await workbench.type(`curl -sS --max-time 250 http://${name}:${port}/; echo status-$((0+$?))`);
  };
  /** The name is asked first, and then, because it leads to this computer, the address. */
  const press = async (name: string, button: string): Promise<void> => {
    const title = `curl wants to reach ${name}:${port}`;
    await workbench.pressToast(title, button);
    if (button !== 'Deny') await workbench.pressToast(`${title} (127.`, button);
  };
  const noQuestion = async (): Promise<void> => {
    await workbench.status(NOTHING_WAITS).waitFor();
  };

  try {
    await it('the status bar says that it is enforcing', async () => {
      await workbench.status(NOTHING_WAITS).waitFor({ timeout: 120_000 });
    });

    await it('the profile opens a terminal inside the boundary', async () => {
      const refresh = (): void => {
        server.writeMachineSettings({
          'terminal.integrated.profiles.linux': { [`refresh-${Date.now()}`]: null },
        });
      };
      const isOpen = (): boolean => server.processes('/cordon-launch').length > 0;
      await workbench.openProfile('Sandboxed Terminal', refresh, isOpen);
      await workbench.type('touch ok; touch ~/outside; echo done-$((1+1))');
      await workbench.pressToast('~/outside', 'Deny');
      await workbench.terminalShows('done-2');
      assert.deepEqual(
        [
          existsSync(path.join(server.workspace, 'ok')),
          existsSync(path.join(server.home, 'outside')),
        ],
        [true, false],
      );
    });

    await it('nothing is looked up or connected before an answer', async () => {
      await curl('once.test');
      await workbench.toast(`curl wants to reach once.test:${port}`).waitFor();
      await workbench.status('Cordon: 1 request waits').waitFor();
      assert.deepEqual([window.lookups(), window.served], [[], []]);
      await workbench.screenshot('notification');
    });

    await it('while a question waits, the terminal says so', async () => {
      await workbench.terminalShows(`once.test:${port}`);
      await workbench.terminalShows('waiting for an answer');
    });

    await it('Allow once lets that call through, and the next one asks again', async () => {
      await press('once.test', 'Allow once');
      await workbench.terminalShows('served once.test');
      await noQuestion();
      await curl('once.test');
      await press('once.test', 'Deny');
      await workbench.terminalShows('status-7');
    });

    await it('Allow for this session asks once and not again', async () => {
      await curl('session.test');
      await press('session.test', 'Allow for this session');
      await workbench.terminalShows('served session.test');
      await curl('session.test');
      await workbench.terminalShows('served session.test');
      await noQuestion();
    });

    await it('Deny refuses: the program gets a plain error and the terminal a reason', async () => {
      await curl('deny.test');
      await press('deny.test', 'Deny');
      await workbench.terminalShows('status-7');
      assert.match(await workbench.terminalText(), /^cordon: .*deny\.test/m);
      assert.ok(!window.served.includes('deny.test'));
      assert.ok(!window.lookups().includes('deny.test'));
    });

    await it('Details show who asks and what each answer changes, and then it asks again', async () => {
      await curl('details.test');
      const title = `curl wants to reach details.test:${port}`;
      await workbench.toast(title).getByText('Details', { exact: true }).click();
      const page = workbench.page.locator('.editor-instance .view-lines');
      await page.getByText('What each answer changes').waitFor();
      const text = (await page.innerText()).replaceAll('\u00a0', ' ');
      for (const part of [title, 'curl (process', server.workspace, 'bash (', 'network mode ask']) {
        assert.ok(text.includes(part), `${part} is not in\n${text}`);
      }
      await workbench.screenshot('details');
      await press('details.test', 'Allow once');
      await workbench.terminalShows('served details.test');
    });

    await it('a notification that is closed leaves the question pending, and the quick pick answers it', async () => {
      await curl('closed.test');
      const title = `curl wants to reach closed.test:${port}`;
      await workbench.toast(title).waitFor();
      await workbench.closeToast(title);
      await workbench.clickStatus('Cordon: 1 request waits');
      await workbench.screenshot('pending');
      await workbench.pickRow('Allow once');
      await workbench.pressToast(`${title} (127.`, 'Allow once');
      await workbench.terminalShows('served closed.test');
    });

    await it('with Do Not Disturb on, the status bar and the quick pick still lead to the question', async () => {
      await workbench.command('Notifications: Toggle Do Not Disturb Mode');
      await curl('quiet.test');
      await workbench.clickStatus('Cordon: 1 request waits');
      assert.equal(await workbench.toast('quiet.test').count(), 0);
      await workbench.pickRow('Allow for this terminal');
      await workbench.pickRow('Allow for this terminal'); // the address
      await workbench.terminalShows('served quiet.test');
      await workbench.command('Notifications: Toggle Do Not Disturb Mode');
      await noQuestion();
    });

    await it('Always allow writes the user settings, and nothing is asked any more', async () => {
      await curl('always.test');
      await press('always.test', 'Always allow');
      await workbench.terminalShows('served always.test');
      const rules = await until('the rule in settings.json', 60_000, () => {
        const allow = server.readSettings()?.['cordon.network.allow'];
        return Array.isArray(allow) && allow.length === 2
          ? (allow as readonly string[])
          : undefined;
      });
      assert.deepEqual([...rules].sort(), [`127.0.0.17:${port}`, `always.test:${port}`]);
      await curl('always.test');
      await workbench.terminalShows('served always.test');
      await noQuestion();
    });

    await it('a grant is revoked from its list, out of the settings too', async () => {
      await workbench.showGrants();
      await workbench.screenshot('grants');
      await workbench.revokeGrant(`always.test:${port}`);
      await until('settings without the rule', 60_000, () => {
        const settings = server.readSettings();
        return settings !== undefined && !('cordon.network.allow' in settings);
      });
      await curl('always.test');
      await press('always.test', 'Deny');
      await workbench.terminalShows('status-7');
    });
  } finally {
    await window.close();
  }
});
