// Where launchers that were not started by us find us: a socket and a registration in the runtime folder
// (native/PROTOCOL.md, "Finding the broker"). The folder must be the user's own and closed to everybody else: that is
// what keeps other users out, since Node cannot read a peer's credentials.

import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

import type { Disposable } from '../../base/disposable.js';
import { toDisposable } from '../../base/disposable.js';
import { CordonError } from '../../base/errors.js';
import type { AbsolutePath } from '../../policy/paths.js';
import { PROTOCOL_VERSION } from './limits.js';

/** sun_path of unix(7), less the NUL. Node would cut a longer one short. */
const MAX_SOCKET_PATH = 107;

export interface ControlServer extends Disposable {
  readonly socket: AbsolutePath;
  /** Replaces the registration: launchers below these folders come here. None: they do not. */
  register(roots: readonly AbsolutePath[]): void;
  /** Takes no more connections, and leaves nothing behind. */
  dispose(): void;
}

export interface ControlServerOptions {
  readonly runtime: AbsolutePath;
  /** A part of file names, unlike any other session's. */
  readonly name: string;
  readonly onConnection: (socket: net.Socket) => void;
}

/** Rejects with CordonError `runtimeFolderUnsafe`. */
export async function createControlServer(options: ControlServerOptions): Promise<ControlServer> {
  ensureRuntimeFolder(options.runtime);
  await removeStale(options.runtime);
  const socket = path.join(options.runtime, `${options.name}.sock`) as AbsolutePath;
  const registration = path.join(options.runtime, `${options.name}.json`);
  if (Buffer.byteLength(socket) > MAX_SOCKET_PATH) {
    throw new CordonError(
      'runtimeFolderUnsafe',
      `the path ${socket} is too long for a socket; set XDG_RUNTIME_DIR to a shorter one`,
    );
  }
  const server = net.createServer(options.onConnection);
  await listen(server, socket);
  const close = toDisposable(() => {
    fs.rmSync(registration, { force: true });
    server.close(); // removes the socket, too
  });
  return {
    socket,
    register(roots) {
      writeRegistration(registration, {
        protocol: PROTOCOL_VERSION,
        socket: path.basename(socket),
        roots,
      });
    },
    dispose: () => {
      close.dispose();
    },
  };
}

/** Creates the folder with mode 0700, or checks that it is the user's own, a real folder, and closed to others. */
export function ensureRuntimeFolder(folder: AbsolutePath): void {
  try {
    fs.mkdirSync(path.dirname(folder), { recursive: true, mode: 0o700 });
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CordonError('runtimeFolderUnsafe', reason, { cause: error });
    }
  }
  const found = fs.lstatSync(folder);
  const mode = found.mode & 0o777;
  if (!found.isDirectory())
    throw new CordonError('runtimeFolderUnsafe', `${folder} is not a folder`);
  if (found.uid !== process.getuid?.()) {
    throw new CordonError('runtimeFolderUnsafe', `${folder} belongs to user ${found.uid}`);
  }
  if ((mode & 0o077) !== 0) {
    throw new CordonError('runtimeFolderUnsafe', `${folder} has mode 0${mode.toString(8)}`);
  }
}

/** Removes what brokers that are gone have left: a socket that refuses connections, and its registration. */
async function removeStale(folder: string): Promise<void> {
  const names = fs.readdirSync(folder).filter((name) => /^[\w-]+\.(?:sock|json)$/u.test(name));
  const bases = new Set(names.map((name) => name.replace(/\.\w+$/u, '')));
  await Promise.all(
    [...bases].map(async (base) => {
      const socket = path.join(folder, `${base}.sock`);
      if (await answers(socket)) return;
      fs.rmSync(path.join(folder, `${base}.json`), { force: true });
      fs.rmSync(socket, { force: true });
    }),
  );
}

/** Whether somebody listens. Only "refused" and "not there" mean that nobody does. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error) => {
      const code = codeOf(error);
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT' && code !== 'ENOTSOCK');
    });
  });
}

function listen(server: net.Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      reject(new CordonError('runtimeFolderUnsafe', error.message, { cause: error }));
    });
    server.listen(socket, resolve);
  });
}

/** Renamed into place, so that a launcher never reads half of it. */
function writeRegistration(file: string, content: object): void {
  const draft = `${file}.new`;
  fs.rmSync(draft, { force: true });
  fs.writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: 'wx' });
  fs.renameSync(draft, file);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
