// Which environment variables a run does not get. Names only: values are never looked at.

import type { Layer, Problem } from '../settings/layers.js';
import type { AgentsMode } from '../settings/schema.js';
import { cannotWiden, entriesOf, problemOf } from './authority.js';
import { droppedVariables, keptVariables } from './defaults.js';
import type { Origin } from './origin.js';
import type { EnvironmentPolicy, Placed } from './policy.js';

/** Where programs find the ssh-agent. */
const SSH_AGENT = 'SSH_AUTH_SOCK';

export function resolveEnvironment(
  layers: readonly Layer[],
  agents: Placed<AgentsMode>,
): { readonly value: EnvironmentPolicy; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const written = entriesOf(layers, 'environment.drop', ({ environment }) => environment?.drop);
  const drop: readonly Placed<string>[] = [
    ...builtIn(droppedVariables),
    ...(agents.value === 'off' ? [{ value: SSH_AGENT, origin: agents.origin }] : []),
    ...written.map(({ text, origin }) => ({ value: text, origin })),
  ];
  // Whoever may not be overruled by a name that somebody else wants to keep.
  const firm = written.filter(({ authority }) => authority !== 'widen');
  const keeps = entriesOf(layers, 'environment.keep', ({ environment }) => environment?.keep);
  const hasLimit = layers.some(
    ({ source, values }) => source.kind === 'managed' && values.environment?.keep !== undefined,
  );
  const limit = new Set(
    keeps.filter(({ authority }) => authority === 'limit').map(({ text }) => text),
  );
  const accepted: Placed<string>[] = [];
  for (const entry of keeps) {
    const refusal = firm.find(({ text }) => matchesName(text, entry.text));
    if (entry.authority === 'limit') continue;
    if (entry.authority === 'narrow')
      problems.push(cannotWiden(entry, `hand ${entry.text} to the command`));
    else if (hasLimit && !limit.has(entry.text)) {
      problems.push(
        problemOf(
          entry,
          'warning',
          'has no effect: the administrator does not let this variable be kept',
        ),
      );
    } else if (refusal !== undefined) {
      const where = refusal.authority === 'limit' ? 'the administrator' : 'the workspace or run';
      problems.push(problemOf(entry, 'warning', `has no effect: ${where} drops this variable`));
    } else accepted.push({ value: entry.text, origin: entry.origin });
  }
  const usual = builtIn(keptVariables).filter(
    ({ value }) => !written.some(({ text }) => matchesName(text, value)),
  );
  return { value: { drop, keep: [...usual, ...accepted] }, problems };
}

/** fnmatch(3) for what the schema lets through, and for patterns of file names: `*` and `?`. */
export function matchesName(pattern: string, name: string): boolean {
  const expression = pattern.replaceAll('.', '\\.').replace(/\*+/gu, '.*').replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 'su').test(name);
}

function builtIn(values: readonly string[]): readonly Placed<string>[] {
  const origin: Origin = { kind: 'default' };
  return values.map((value) => ({ value, origin }));
}
