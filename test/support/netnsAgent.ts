// Runs inside a test world's namespaces, as their root: sets them up, serves, and starts what the test tells it to, each
// command as the user again. It never runs outside a network namespace of its own (see assertAlone).

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeContent } from './registry.js';
import { createNotebook, startServers } from './servers.js';
import { ADDRESS } from './worldMessages.js';
import type { Finished } from './sandbox.js';
import type { Call, Command, Report } from './worldMessages.js';

const [folder = '', uid = '', gid = ''] = process.argv.slice(2);

/** These addresses belong to somebody: nothing may be sent to them from where a packet could leave. */
function assertAlone(): void {
  const others = Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo');
  if (others.length > 0)
    throw new Error(`not alone in this network namespace: ${others.join(', ')}`);
}

function setUpNetwork(): void {
  const add = (address: string) =>
    `address add ${address}/${address.includes(':') ? '128 nodad' : '32'} dev lo`;
  const { unreachable, ...local } = ADDRESS;
  const batch = [
    'link set lo up',
    ...Object.values(local).map(add),
    add('93.184.216.37'),
    `route add unreachable ${unreachable}/32`,
  ];
  execFileSync('ip', ['-batch', '-'], { input: batch.join('\n') });
}

function setUpResolver(): void {
  for (const [target, text] of [
    ['/etc/resolv.conf', 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n'],
    ['/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'],
  ] as const) {
    const source = path.join(folder, path.basename(target));
    writeFileSync(source, text);
    execFileSync('mount', ['--bind', source, realpathSync(target)]);
  }
}

function send(report: Report): void {
  process.send?.(report);
}

function start(id: number, command: Command & { kind: 'start' }): void {
  const asUser = ['-U', `--map-user=${uid}`, `--map-group=${gid}`, '--'];
  const child = spawn('unshare', [...asUser, ...command.argv], {
    cwd: command.cwd,
    env: command.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout.on('data', (chunk: Buffer) => output.stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.stderr.push(chunk));
  child.stdin.on('error', () => child.stdin.destroy()); // it need not read what it is given
  child.stdin.end(command.input);
  const { pid } = child;
  if (pid === undefined) throw new Error('could not start unshare');
  const timer = setTimeout(() => process.kill(-pid, 'SIGKILL'), command.timeoutMs);
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    const finished: Finished = {
      code,
      signal,
      stdout: Buffer.concat(output.stdout).toString(),
      stderr: Buffer.concat(output.stderr).toString(),
    };
    send({ kind: 'finished', run: command.run, finished });
  });
  send({ kind: 'started', id, pid });
}

async function main(): Promise<void> {
  assertAlone();
  setUpNetwork();
  setUpResolver();
  const contentFolder = path.join(folder, 'content');
  mkdirSync(contentFolder);
  const content = await makeContent(contentFolder);
  const notebook = createNotebook();
  const names = await startServers(content, notebook);

  process.on('message', ({ id, command }: Call) => {
    switch (command.kind) {
      case 'start':
        try {
          start(id, command);
        } catch (error) {
          send({ kind: 'failed', id, message: String(error) });
        }
        return;
      case 'zone':
        names.set(command.name, command.answers);
        send({ kind: 'done', id });
        return;
      case 'forget':
        void notebook.quiet().then(() => {
          notebook.forget();
          send({ kind: 'done', id });
        });
        return;
      case 'seen':
        void notebook.quiet().then(() => send({ kind: 'seen', id, seen: notebook.seen }));
    }
  });
  process.on('disconnect', () => process.exit());
  send({ kind: 'up' });
}

await main();
