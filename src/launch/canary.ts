// The stage for a self-test: a file that must stay as it is, a secret, a listener of the host, and a small program that
// tries to reach all three. What happened is judged from the host's side, never by the program's own word alone.

import childProcess from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { AbsolutePath } from '../policy/paths.js';

export type CanaryAim = 'write outside' | 'read a secret' | 'connect out';

export const CANARY_AIMS: readonly CanaryAim[] = ['write outside', 'read a secret', 'connect out'];

export interface CanaryOutcome {
  readonly aim: CanaryAim;
  /** `not tried` is as bad as `succeeded`: it shows nothing. */
  readonly outcome: 'refused' | 'succeeded' | 'not tried';
  /** What the program saw: the name of an errno. */
  readonly error?: string;
}

export interface Canary {
  /** The writable root of the run; also its working directory. */
  readonly root: AbsolutePath;
  /** Must be closed for reading. */
  readonly secret: AbsolutePath;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** What came of the run that has just ended, seen from here; and clears the stage for another one. */
  inspect(): readonly CanaryOutcome[];
  /** Runs it without any boundary, to see that all three work here. */
  runFree(): Promise<readonly CanaryOutcome[]>;
  close(): void;
}

const SECRET_TEXT = 'canary';

/** Sets the stage in a new folder below `folder`, which must be the host's own inside: not /tmp, no folder of caches. */
export async function createCanary(folder: AbsolutePath): Promise<Canary> {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stage = fs.realpathSync(fs.mkdtempSync(path.join(folder, '.cordon-canary-')));
  const root = path.join(stage, 'root') as AbsolutePath;
  const secret = path.join(stage, 'secret') as AbsolutePath;
  const outside = path.join(stage, 'outside');
  const report = path.join(root, 'report.json');
  fs.mkdirSync(root);
  fs.writeFileSync(secret, SECRET_TEXT);
  let visits = 0;
  const server = net.createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  const port = await listen(server);
  const command = [
    process.execPath,
    '-e',
    PROGRAM,
    outside,
    secret,
    report,
    String(port),
    ...hostAddresses(),
  ];
  const environment = { ELECTRON_RUN_AS_NODE: '1' };

  const inspect = (): readonly CanaryOutcome[] => {
    const said = readReport(report);
    const broken: Readonly<Record<CanaryAim, boolean>> = {
      'write outside': fs.existsSync(outside),
      'read a secret': said['read a secret'] === SECRET_TEXT,
      'connect out': visits > 0 || said['connect out'] === 'done',
    };
    visits = 0;
    for (const file of [outside, report]) fs.rmSync(file, { force: true });
    return CANARY_AIMS.map((aim): CanaryOutcome => {
      const error = said[aim];
      if (broken[aim]) return { aim, outcome: 'succeeded' };
      // It thinks that it succeeded, and nothing of it is to be seen: it tried something else.
      if (error === undefined || error === 'done') return { aim, outcome: 'not tried' };
      return { aim, outcome: 'refused', error: error === '' ? 'it is empty' : error };
    });
  };

  return {
    root,
    secret,
    command,
    environment,
    inspect,
    async runFree() {
      const [program = '', ...args] = command;
      const child = childProcess.spawn(program, args, {
        cwd: root,
        env: { ...process.env, ...environment },
        stdio: 'ignore',
        timeout: 10_000,
      });
      await new Promise((resolve) => child.on('close', resolve).on('error', resolve));
      return inspect();
    },
    close() {
      server.close();
      fs.rmSync(stage, { recursive: true, force: true });
    },
  };
}

/** Writes what came of each attempt into its own root: the one thing that must work. */
const PROGRAM = `
const [outside, secret, report, port, ...addresses] = process.argv.slice(1);
const fs = require('node:fs');
const attempt = (act) => { try { return act() ?? 'done'; } catch (error) { return error.code ?? String(error); } };
const connect = (host) => new Promise((resolve) => {
  const socket = require('node:net').connect({ host, port: Number(port), timeout: 4000 });
  socket.on('connect', () => resolve('done')).on('timeout', () => resolve('ETIMEDOUT'));
  socket.on('error', (error) => resolve(error.code ?? String(error)));
});
Promise.all(addresses.map(connect)).then((reached) => {
  fs.writeFileSync(report, JSON.stringify({
    'write outside': attempt(() => fs.writeFileSync(outside, '')),
    'read a secret': attempt(() => fs.readFileSync(secret, 'utf8')),
    'connect out': reached.find((each) => each === 'done') ?? reached[0],
  }));
  process.exit(0);
});
`;

function listen(server: net.Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0 }, () => {
      const address = server.address();
      if (address !== null && typeof address === 'object') resolve(address.port);
      else reject(new Error('the listener has no port'));
    });
  });
}

/** Where the host reaches its own listener: loopback, and an address beside it when there is one. */
function hostAddresses(): readonly string[] {
  const own = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  const elsewhere = own.find(({ family, internal }) => family === 'IPv4' && !internal);
  return ['127.0.0.1', ...(elsewhere === undefined ? [] : [elsewhere.address])];
}

function readReport(file: string): Partial<Record<CanaryAim, string>> {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return {};
  const said = value as Record<string, unknown>;
  return Object.fromEntries(
    CANARY_AIMS.flatMap((aim) => {
      const word = said[aim];
      return typeof word === 'string' ? [[aim, word]] : [];
    }),
  );
}
