// What the command line tells a person to do after a denial.

import path from 'node:path';
import { assertNever } from '../base/assertNever.js';
import { quoted } from './messages.js';
import { alwaysOf } from '../session/words.js';
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

/** A flag where there is one, else the setting; empty where nothing allows it but an answer. */
export function howToAllow(request: AccessRequest): string {
  const means = flagFor(request) ?? settingFor(request);
  return means === undefined ? '' : `Allow it with ${means}`;
}

function flagFor({ action, object }: Wanted): string | undefined {
  switch (action) {
    case 'connect':
    case 'lookup':
      return `--allow ${patternOf(object)}`;
    case 'write':
      return object.protected
        ? undefined
        : `--write ${quoted(object.folder ?? path.dirname(object.path))}`;
    case 'git':
      return '--git allow';
    case 'sign':
      return '--ask tty, where somebody can answer';
    case 'read':
    case 'socket':
    case 'publish':
      return undefined;
    default:
      return assertNever(action);
  }
}

function settingFor(wanted: Wanted): string | undefined {
  const [rule] = alwaysOf(wanted, []);
  return rule === undefined
    ? undefined
    : `${quoted(String(rule.entry))} in ${rule.setting} of your settings`;
}
