// A window that is reloaded, and an extension host that is killed: runs stay confined, their questions wait for the next host.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { until } from './harness/until.js';
import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

const NAMES = {
  'before.test': ['127.0.0.21'],
  'after.test': ['127.0.0.22'],
  'orphan.test': ['127.0.0.23'],
  'later.test': ['127.0.0.24'],
};

test('terminals outlive their window and their extension host', async (context) => {
  const window = await openTestWindow({ names: NAMES });
  const { workbench, server, port } = window;
  const it = createSteps(context, window);

  const extensionHosts = (): readonly number[] => server.processes('--type=extensionHost');
  const curl = async (name: string): Promise<void> => {
    await workbench.clearTerminal();
    await workbench.type(`curl -sS --max-time 250 http://${name}:${port}/; echo status-$((0+$?))`);
  };
  const allowOnce = async (name: string): Promise<void> => {
    const title = `curl wants to reach ${name}:${port}`;
    await workbench.pressToast(title, 'Allow once');
    await workbench.pressToast(`${title} (127.`, 'Allow once');
    await workbench.terminalShows(`served ${name}`);
  };
  const isConfined = async (name: string): Promise<void> => {
    const outside = path.join(server.home, name);
    await workbench.clearTerminal();
    await workbench.type(`touch ${outside}; touch ${name}; echo done-$((1+1))`);
    await workbench.pressToast(`~/${name}`, 'Deny');
    await workbench.terminalShows('done-2');
    assert.deepEqual(
      [existsSync(outside), existsSync(path.join(server.workspace, name))],
      [false, true],
    );
  };

  try {
    await it('a sandboxed terminal opens by its command', async () => {
      await workbench.status(NOTHING_WAITS).waitFor({ timeout: 120_000 });
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
    });

    await it('a question that is open during a reload is asked again afterwards, and the answer works', async () => {
      await curl('before.test');
      await workbench.toast(`curl wants to reach before.test:${port}`).waitFor();
      await workbench.reload();
      await workbench.status('Cordon: 1 request waits').waitFor({ timeout: 120_000 });
      await allowOnce('before.test');
    });

    await it('the same terminal goes on, still confined, and asks as before', async () => {
      await isConfined('reloaded');
      await curl('after.test');
      await allowOnce('after.test');
    });

    await it('with the extension host killed, the run stays confined and its request waits', async () => {
      const [host, ...others] = extensionHosts();
      assert.ok(host !== undefined && others.length === 0, 'there is one extension host');
      process.kill(host, 'SIGKILL');
      await isConfined('orphaned');
    });

    await it('a new host takes the run over and asks its questions', async () => {
      await curl('orphan.test');
      await until('a new extension host', 120_000, () => extensionHosts().length > 0);
      await allowOnce('orphan.test');
      await isConfined('adopted');
    });

    await it('a request that waits while the host is killed is asked by the next one', async () => {
      await curl('later.test');
      await workbench.toast(`curl wants to reach later.test:${port}`).waitFor();
      const [host] = extensionHosts();
      assert.ok(host !== undefined);
      process.kill(host, 'SIGKILL');
      await until('a new extension host', 120_000, () =>
        extensionHosts().some((pid) => pid !== host),
      );
      await workbench.status('Cordon: 1 request waits').waitFor({ timeout: 120_000 });
      await workbench.clickStatus('Cordon: 1 request waits');
      await workbench.pickRow('Allow once');
      await workbench.pickRow('Allow once');
      await workbench.terminalShows('served later.test');
    });
  } finally {
    await window.close();
  }
});
