// The world in which attempts to get out are made, and what shows on the host that one of them succeeded.

import { spawn } from 'node:child_process';
import dgram from 'node:dgram';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import type { Escape } from './escapes.js';
import { changes, compiled, cordonCommand, createPlace, snapshot } from './sandbox.js';
import type { Finished, Place } from './sandbox.js';

/** The words that run a command in a sandbox, with the workspace of `place` writable. */
export type Tool = (place: Place, escape: Escape, command: readonly string[]) => readonly string[];

export const inCordon: Tool = (_place, { flags = [] }, command) =>
  cordonCommand(['--ask', 'deny', ...flags], command);

/** As close to Cordon's boundary as its options go. */
export const inBubblewrap: Tool = (place, { flags = [] }, command) => [
  'bwrap',
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
  ...['--tmpfs', path.join(place.home, '.ssh'), '--bind', place.workspace, place.workspace],
  ...(flags.includes('allow') ? [] : readOnly(place, '.git')),
  ...['.vscode', 'pkg/.git'].flatMap((name) => readOnly(place, name)),
  ...['--unshare-all', '--die-with-parent', '--chdir', place.workspace, '--'],
  ...command,
];

export const withoutBoundary: Tool = (_place, _escape, command) => command;

function readOnly(place: Place, name: string): readonly string[] {
  const full = path.join(place.workspace, name);
  return ['--ro-bind', full, full];
}

export interface Outcome {
  /** What shows on the host; empty when the attempt failed. */
  readonly breaches: readonly string[];
  readonly finished: Finished;
}

interface Owner {
  after(end: () => void): void;
}

const SECRET = 'c0rd0n-secret-5b1f';
/** The file of the secret is a script, too, so that executing it would show. */
const SECRET_FILE = `echo ${SECRET}\n`;

/** Makes the attempt in a fresh world and looks at the host. */
export async function attemptEscape(owner: Owner, escape: Escape, tool: Tool): Promise<Outcome> {
  const place = createPlace(owner);
  furnish(place);
  const host = await openHost(owner, place);
  // No names that Cordon would drop for looking like secrets.
  const environment = {
    WS: place.workspace,
    FREE: path.join(place.workspace, 'free'),
    OUT: place.outside,
    HIDDEN: path.join(place.home, '.ssh/id'),
    B: compiled('breach'),
    E: compiled('escape'),
    MARKER: path.join(place.folder, 'marker'),
    ...host.environment,
  };
  const before = snapshot(place.home);
  const finished = await place.host(tool(place, escape, ['bash', '-c', escape.script]), {
    environment,
    timeoutMs: 120_000,
  });
  const changed = changes(place.home, before).filter(
    (line) => !line.slice(2).startsWith('workspace/free'),
  );
  const isRepository = (line: string): boolean => line.slice(2).startsWith('workspace');
  for (const victim of escape.victims ?? []) {
    await place.host(['bash', '-c', victim], { environment, timeoutMs: 20_000 });
  }
  const output = finished.stdout + finished.stderr;
  const breaches = [
    ...(escape.victims === undefined ? changed : changed.filter((line) => !isRepository(line))),
    ...(output.includes(SECRET) ? ['the secret was read'] : []),
    ...(existsSync(environment.MARKER) ? ['code ran outside'] : []),
    ...(escape.refused === true && /^done$/mu.test(finished.stdout) ? ['the call succeeded'] : []),
    ...host.breaches(),
  ];
  return { breaches, finished };
}

function furnish(place: Place): void {
  const write = (folder: string, name: string, text: string, mode = 0o644): void => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text, { mode });
  };
  write(place.home, '.ssh/id', SECRET_FILE, 0o600);
  write(place.home, '.bashrc', '# start-up\n');
  write(place.outside, 'file', 'original\n'.repeat(100));
  mkdirSync(path.join(place.outside, 'folder'));
  write(place.workspace, 'file', 'in the workspace\n');
  write(place.workspace, '.vscode/settings.json', '{}\n');
  write(place.workspace, '.git/hooks/off', '#!/bin/sh\n');
  write(place.workspace, '.git/hooks/post-commit', '#!/bin/sh\ntouch "$MARKER"\n');
  write(place.workspace, 'pkg/.git/HEAD', 'ref: refs/heads/main\n');
  write(place.workspace, 'pkg/.git/config', '[core]\n\trepositoryformatversion = 0\n');
  for (const name of [
    '.github',
    'free',
    'plain',
    'pkg/.git/objects',
    'pkg/.git/refs',
    'pkg/.git/hooks',
  ])
    mkdirSync(path.join(place.workspace, name), { recursive: true });
}

/** Servers, a process and shared files outside, and what became of them. */
async function openHost(
  owner: Owner,
  place: Place,
): Promise<{
  readonly environment: Readonly<Record<string, string>>;
  readonly breaches: () => readonly string[];
}> {
  const name = path.basename(place.folder);
  const found = new Set<string>();
  const socket = path.join(place.home, 'server.sock');
  const byPath = await listen(owner, socket, () => found.add('a connection by path'));
  const abstract = await listen(owner, `\0${name}`, () => found.add('an abstract connection'));
  const tcp = await listen(owner, 0, () => found.add('a connection by port'));
  const { port } = tcp.address() as net.AddressInfo;
  const udp = dgram.createSocket('udp4', () => found.add('a datagram'));
  await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
  const victim = spawn('sleep', ['300'], { stdio: 'ignore' });
  const shared = [`/tmp/${name}`, `/dev/shm/${name}`] as const;
  for (const file of shared) writeFileSync(file, 'original\n');
  owner.after(() => {
    for (const server of [byPath, abstract, tcp, udp]) server.close();
    victim.kill('SIGKILL');
    for (const file of shared) rmSync(file, { force: true });
  });
  const breaches = (): readonly string[] => [
    ...found,
    ...(isWell(victim.pid) ? [] : ['a process of the host was ended or stopped']),
    ...shared.filter((file) => readFileSync(file, 'utf8') !== 'original\n'),
  ];
  const environment = {
    SOCK: socket,
    ABSTRACT: `@${name}`,
    PORT: String(port),
    VICTIM: String(victim.pid),
    HOSTTMP: shared[0],
    HOSTSHM: shared[1],
  };
  return { environment, breaches };
}

async function listen(
  owner: Owner,
  where: string | number,
  onConnection: () => void,
): Promise<net.Server> {
  const server = net.createServer((socket) => {
    onConnection();
    socket.on('error', () => undefined);
    socket.destroy();
  });
  owner.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(where, resolve));
  return server;
}

function isWell(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/\) [TtZX] /u.test(stat);
  } catch {
    return false;
  }
}
