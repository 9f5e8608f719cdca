// What a program wants beyond the boundary on this machine: files elsewhere, secrets, protected names, git, sockets. Each
// is held, answered in the workbench, and looked at on the host.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import { until } from './harness/until.js';
import { createSteps, NOTHING_WAITS, openTestWindow } from './harness/window.js';

const WAIT = 60_000;

test('files, secrets, git and sockets in the workbench', async (context) => {
  const window = await openTestWindow();
  const { workbench, server } = window;
  const it = createSteps(context, window);

  const inHome = (...names: readonly string[]): string => path.join(server.home, ...names);
  const inWorkspace = (...names: readonly string[]): string =>
    path.join(server.workspace, ...names);
  /** Types a command; its status is shown as `status-0`. */
  const run = async (command: string): Promise<void> => {
    await workbench.clearTerminal();
    await workbench.type(`${command}; echo status-$((0+$?))`);
  };
  const ends = (status: number): Promise<void> => workbench.terminalShows(`status-${status}`);
  const noQuestion = async (): Promise<void> => {
    await workbench.status(NOTHING_WAITS).waitFor();
  };
  const onHost = (file: string): string | undefined =>
    existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : undefined;
  const appears = (file: string, text: string): Promise<true> =>
    until(`${text} in ${file}`, WAIT, () => onHost(file) === text);
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', server.workspace, ...args], { encoding: 'utf8' }).trim();

  for (const name of ['elsewhere', 'kept']) mkdirSync(inHome(name));
  mkdirSync(inHome('.ssh'), { mode: 0o700 });
  writeFileSync(inHome('.ssh', 'config'), 'Host secret\n');

  try {
    await it('a sandboxed terminal opens, and no grant stands', async () => {
      await workbench.status(NOTHING_WAITS).waitFor({ timeout: 120_000 });
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
      await workbench.showGrants();
      await workbench.page
        .locator('.part.sidebar')
        .getByText('Nothing is allowed beyond the boundary')
        .waitFor();
      await workbench.screenshot('grants-empty');
    });

    await it('a write elsewhere waits, and the notification names it', async () => {
      await run('echo hi > ~/elsewhere/x');
      await workbench.toast('~/elsewhere/x').waitFor();
      await workbench.status('Cordon: 1 request waits').waitFor();
      assert.equal(onHost(inHome('elsewhere', 'x')), undefined);
      await workbench.screenshot('write');
    });

    await it('its details name the folder that a wider answer opens', async () => {
      await workbench.toast('~/elsewhere/x').getByText('Details', { exact: true }).click();
      const page = workbench.page.locator('.editor-instance .view-lines');
      await page.getByText('Opens the folder ~/elsewhere for writing').first().waitFor();
      await workbench.screenshot('write-details');
    });

    await it('Allow once lets exactly that through: a second write waits again', async () => {
      await workbench.pressToast('~/elsewhere/x', 'Allow once');
      await ends(0);
      assert.equal(onHost(inHome('elsewhere', 'x')), 'hi');
      await run('echo again > ~/elsewhere/x');
      await workbench.pressToast('~/elsewhere/x', 'Deny');
      await ends(1);
      assert.equal(onHost(inHome('elsewhere', 'x')), 'hi');
    });

    await it('Allow for this session opens the folder to other processes and terminals at once', async () => {
      await run('( (until [ -e go ]; do sleep 0.1; done; echo second > ~/elsewhere/second) & )');
      await ends(0);
      await workbench.command('Cordon: New Sandboxed Terminal');
      await workbench.terminalReady();
      await run('echo first > ~/elsewhere/first');
      await workbench.pressToast('~/elsewhere/first', 'Allow for this session');
      await ends(0);
      assert.equal(onHost(inHome('elsewhere', 'first')), 'first');
      writeFileSync(inWorkspace('go'), '');
      await appears(inHome('elsewhere', 'second'), 'second');
      await noQuestion();
    });

    await it('the Grants list shows it, and revoking closes the folder again, also to whoever is in it', async () => {
      await run(
        '( (w=$PWD; cd ~/elsewhere; until [ -e $w/late ]; do sleep 0.1; done; echo x > late; echo $? > $w/tried) & )',
      );
      await ends(0);
      await workbench.showGrants();
      await workbench.grant('~/elsewhere').first().waitFor();
      await workbench.screenshot('grants-write');
      await workbench.revokeGrant('~/elsewhere');
      await workbench.toast('~/elsewhere is closed for writing, but still in use').waitFor();
      await workbench.screenshot('busy');
      writeFileSync(inWorkspace('late'), '');
      await appears(inWorkspace('tried'), '1');
      assert.equal(onHost(inHome('elsewhere', 'late')), undefined);
      await run('echo third > ~/elsewhere/third');
      await workbench.pressToast('~/elsewhere/third', 'Deny');
      await ends(1);
      assert.equal(onHost(inHome('elsewhere', 'third')), undefined);
    });

    await it('Always allow writes the folder into the user settings, and revoking takes it out', async () => {
      const roots = (): unknown => server.readSettings()?.['cordon.filesystem.writableRoots'];
      await run('echo kept > ~/kept/x');
      await workbench.pressToast('~/kept/x', 'Always allow');
      await ends(0);
      assert.equal(onHost(inHome('kept', 'x')), 'kept');
      await until('the folder in settings.json', WAIT, () => roots() !== undefined);
      assert.deepEqual(roots(), [inHome('kept')]);
      await workbench.revokeGrant('~/kept');
      await until(
        'settings without the folder',
        WAIT,
        () => server.readSettings() !== undefined && roots() === undefined,
      );
      await run('echo again > ~/kept/x');
      await workbench.pressToast('~/kept/x', 'Deny');
      await ends(1);
      assert.equal(onHost(inHome('kept', 'x')), 'kept');
    });

    await it('a secret waits to be read; Allow once shows it once', async () => {
      await run('cat ~/.ssh/config');
      await workbench.toast('~/.ssh/config').waitFor();
      assert.ok(!(await workbench.terminalText()).includes('Host secret'));
      await workbench.screenshot('read');
      await workbench.pressToast('~/.ssh/config', 'Allow once');
      await workbench.terminalShows('Host secret');
      await run('cat ~/.ssh/config');
      await workbench.pressToast('~/.ssh/config', 'Deny');
      await workbench.terminalShows('Permission denied');
      await ends(1);
    });

    await it('Allow for this session opens secrets to the next process, and revoking closes them', async () => {
      await run('cat ~/.ssh/config');
      await workbench.pressToast('~/.ssh/config', 'Allow for this session');
      await workbench.terminalShows('Host secret');
      await run('cat ~/.ssh/config');
      await workbench.terminalShows('Host secret');
      await noQuestion();
      await workbench.command('Cordon: Revoke Grant');
      await workbench.pickRow('~/.ssh');
      await run('cat ~/.ssh/config');
      await workbench.pressToast('~/.ssh/config', 'Deny');
      await ends(1);
    });

    await it('a protected folder is not made before the answer, and a refusal leaves nothing', async () => {
      await run('mkdir .vscode');
      await workbench.toast('.vscode').waitFor();
      assert.equal(existsSync(inWorkspace('.vscode')), false);
      await workbench.screenshot('protected');
      await workbench.pressToast('.vscode', 'Allow once');
      await ends(0);
      assert.equal(existsSync(inWorkspace('.vscode')), true);
      await run('mkdir .idea');
      await workbench.pressToast('.idea', 'Deny');
      await ends(1);
      assert.equal(existsSync(inWorkspace('.idea')), false);
    });

    await it('a protected folder that is allowed for the session asks again once that is revoked', async () => {
      await run('mkdir .idea');
      await workbench.pressToast('.idea', 'Allow for this session');
      await ends(0);
      await run('rmdir .idea && mkdir .idea && echo x > .idea/x');
      await ends(0);
      assert.equal(onHost(inWorkspace('.idea', 'x')), 'x');
      await noQuestion();
      await workbench.grant('.idea').first().click();
      await workbench.page.keyboard.press('Delete');
      await workbench.grant('.idea').first().waitFor({ state: 'detached' });
      await run('echo y > .idea/x');
      await workbench.pressToast('.idea', 'Deny');
      await ends(1);
      assert.equal(onHost(inWorkspace('.idea', 'x')), 'x');
    });

    await it('git init, add and commit work after one answer, and the host sees nothing of ours', async () => {
      writeFileSync(inHome('.gitconfig'), '[user]\n\tname = Me\n\temail = me@example.com\n');
      for (const name of ['.vscode', '.idea']) rmSync(inWorkspace(name), { recursive: true });
      await run('git init -q && git add -A && git commit -qm first');
      await workbench.toast('git wants').first().waitFor();
      await workbench.screenshot('git');
      await workbench.pressToast('git wants', 'Allow for this session');
      await ends(0);
      await noQuestion();
      assert.deepEqual([git('log', '--format=%s'), git('status', '--porcelain')], ['first', '']);
    });

    await it('a hook still asks, and is not there after a refusal', async () => {
      await run('echo exit > .git/hooks/pre-commit');
      await workbench.pressToast('pre-commit', 'Deny');
      await ends(1);
      assert.equal(existsSync(inWorkspace('.git', 'hooks', 'pre-commit')), false);
    });

    await it('a setting of git that starts programs asks, and shows what would be written', async () => {
      await run('git config core.hooksPath hooks');
      await workbench.toast('config').getByText('Change', { exact: true }).click();
      const page = workbench.page.locator('.editor-instance .view-lines');
      await page.getByText('hookspath = hooks').first().waitFor();
      await workbench.screenshot('change');
      await workbench.pressToast('config', 'Deny');
      assert.throws(() => git('config', '--local', 'core.hooksPath'));
    });

    await it('a protected file that is replaced shows the new one beside the old one', async () => {
      writeFileSync(inWorkspace('.envrc'), 'export A=1\n');
      writeFileSync(inWorkspace('new'), 'export A=2\n');
      await run('mv new .envrc');
      await workbench.toast('.envrc').getByText('Change', { exact: true }).click();
      const after = workbench.page.locator('.monaco-diff-editor .modified .view-lines');
      await after.getByText('A=2').first().waitFor();
      await workbench.screenshot('difference');
      await workbench.pressToast('.envrc', 'Allow once');
      await ends(0);
      assert.equal(onHost(inWorkspace('.envrc')), 'export A=2');
    });
    await it('a container engine’s socket is warned about, and reached only after an answer', async () => {
      let connections = 0;
      const engine = net.createServer((socket) => {
        connections += 1;
        socket.end();
      });
      await new Promise<void>((resolve) => engine.listen(inHome('docker.sock'), resolve));
      try {
        const connect =
          "import socket, os; socket.socket(socket.AF_UNIX).connect(os.path.expanduser('~/docker.sock'))";
        await run(`python3 -c "${connect}"`);
        await workbench.toast('full control of this machine').waitFor();
        await workbench.screenshot('engine');
        await workbench.pressToast('docker.sock', 'Deny');
        await ends(1);
        assert.equal(connections, 0);
        await run(`python3 -c "${connect}"`);
        await workbench.pressToast('docker.sock', 'Allow once');
        await ends(0);
        await until('a connection', WAIT, () => connections === 1);
      } finally {
        engine.close();
      }
    });
  } finally {
    await window.close();
  }
});
