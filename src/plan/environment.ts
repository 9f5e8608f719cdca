// The environment of a run, as names and patterns: the launcher applies it, values are never seen here.

import type { Policy } from '../policy/policy.js';
import type { PlannedEnvironment } from './plan.js';

type Variable = PlannedEnvironment['set'][number];

export function planEnvironment(policy: Policy, caches: readonly Variable[]): PlannedEnvironment {
  const hasPrivateTemp = policy.filesystem.temp.value === 'private';
  return {
    drop: [
      ...policy.environment.drop.map(({ value }) => value),
      // Other names for the folder of temporary files: they would lead to a place that is read-only inside.
      ...(hasPrivateTemp ? ['TMP', 'TEMP', 'TEMPDIR'] : []),
    ],
    keep: policy.environment.keep.map(({ value }) => value),
    set: [
      // `git status` and prompts would write the index only to be faster the next time, and ask for that (git(1)).
      ...(policy.filesystem.git.value === 'allow'
        ? []
        : [{ name: 'GIT_OPTIONAL_LOCKS', value: '0', overwrite: false }]),
      ...(hasPrivateTemp ? [{ name: 'TMPDIR', value: '/tmp', overwrite: true }] : []),
      ...caches,
    ],
  };
}
