// What the command line tells a person to do after a denial.

import type { AccessRequest } from '../policy/request.js';

/** A pattern that `--allow` takes for exactly this target. */
export function patternOf({ object }: Pick<AccessRequest, 'object'>): string {
  const name =
    'host' in object
      ? object.host
      : object.address.includes(':')
        ? `[${object.address}]`
        : object.address;
  return 'port' in object ? `${name}:${object.port}` : name;
}

export function howToAllow(request: AccessRequest): string {
  return `Allow it with --allow ${patternOf(request)}`;
}
