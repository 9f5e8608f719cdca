// One request of each kind that is not about the network.

import type { AbsolutePath } from '../../src/policy/paths.js';
import type { SocketObject, Wanted, WriteObject } from '../../src/policy/request.js';

export function at(path: string): AbsolutePath {
  return path as AbsolutePath;
}

export function write(parts: Partial<WriteObject> = {}): Wanted<'write'> {
  return {
    action: 'write',
    object: {
      path: at('/home/ada/elsewhere/x'),
      call: 'create',
      to: null,
      folder: at('/home/ada/elsewhere'),
      protected: false,
      change: null,
      ...parts,
    },
  };
}

export const git: Wanted<'git'> = {
  action: 'git',
  object: {
    repository: at('/home/ada/p/.git'),
    path: at('/home/ada/p/.git/index.lock'),
    call: 'create',
  },
};

export const read: Wanted<'read'> = {
  action: 'read',
  object: { path: at('/home/ada/.ssh/config'), folder: at('/home/ada/.ssh') },
};

export function socket(path: string, call: SocketObject['call'] = 'connect'): Wanted<'socket'> {
  return { action: 'socket', object: { path: at(path), call } };
}

export const sign: Wanted<'sign'> = {
  action: 'sign',
  object: { agent: 'ssh', key: 'SHA256:abc ada@example', purpose: 'log in as git' },
};

export const publish: Wanted<'publish'> = { action: 'publish', object: { port: 5173 } };
