// What the command line tells a person to do after a denial.

import path from 'node:path';
import { assertNever } from '../base/assertNever.js';
import { quoted } from './messages.js';
import type { AccessRequest, NetworkObject, Wanted } from '../policy/request.js';

/** A pattern that `--allow` takes for exactly this target. */
export function patternOf(object: NetworkObject): string {
  const name =
    'host' in object
      ? object.host
      : object.address.includes(':')
        ? `[${object.address}]`
        : object.address;
  return 'port' in object ? `${name}:${object.port}` : name;
}

/** A flag where there is one, else the setting. */
export function howToAllow(request: AccessRequest): string {
  return `Allow it with ${means(request)}`;
}

function means({ action, object }: Wanted): string {
  switch (action) {
    case 'connect':
    case 'lookup':
      return `--allow ${patternOf(object)}`;
    case 'write':
      return object.protected
        ? inSettings(`!${object.folder ?? object.path}`, 'filesystem.protectedPaths')
        : `--write ${quoted(object.folder ?? path.dirname(object.path))}`;
    case 'git':
      return inSettings('allow', 'filesystem.git');
    case 'read':
      return inSettings(`!${object.folder ?? object.path}`, 'filesystem.denyRead');
    case 'socket':
      return inSettings(object.path, 'sockets.allow');
    case 'sign':
      return '--ask tty, where somebody can answer';
    case 'publish':
      return inSettings(String(object.port), 'network.publish');
    default:
      return assertNever(action);
  }
}

function inSettings(entry: string, key: string): string {
  return `${quoted(entry)} in ${key} of your settings`;
}
