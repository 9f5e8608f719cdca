// Which environment variables a run does not get. Names only: values are never looked at.

import type { Layer, Problem } from '../settings/layers.js';
import { cannotWiden, entriesOf, problemOf } from './authority.js';
import { droppedVariables, keptVariables } from './defaults.js';
import type { Origin } from './origin.js';
import type { EnvironmentPolicy, Placed } from './policy.js';

export function resolveEnvironment(layers: readonly Layer[]): {
  readonly value: EnvironmentPolicy;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const written = entriesOf(layers, 'environment.drop', ({ environment }) => environment?.drop);
  const drop: readonly Placed<string>[] = [
    ...builtIn(droppedVariables),
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

/** fnmatch(3) for what the schema lets through: letters, digits, `_`, `*` and `?`. */
export function matchesName(pattern: string, name: string): boolean {
  const expression = pattern.replace(/\*+/gu, '.*').replaceAll('?', '.');
  return new RegExp(`^${expression}$`, 'su').test(name);
}

function builtIn(values: readonly string[]): readonly Placed<string>[] {
  const origin: Origin = { kind: 'default' };
  return values.map((value) => ({ value, origin }));
}
