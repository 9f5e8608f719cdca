// One layer of settings, parsed alone: from a text with line numbers, or from a value that an editor read. Layers are never
// merged here; what they mean together is policy's business. A layer with an error must never be used in part.

import { closest, distance } from 'fastest-levenshtein';

import { assertNever } from '../base/assertNever.js';
import { readJson } from './json.js';
import type { LayerValues } from './schema.js';
import { settingKeys, settingsSchema } from './schema.js';

/** Who wrote it. Strongest first: managed, user, workspace, run. */
export type LayerSource =
  /** The administrator's file: a limit for everybody else. */
  | { readonly kind: 'managed'; readonly file: string }
  | { readonly kind: 'user'; readonly file: string }
  /** A folder's own settings or `.cordon.json`: can only narrow. */
  | { readonly kind: 'workspace'; readonly folder: string; readonly file: string }
  /** Flags of one run, or the file that they name. `typed`: by a person, who may widen up to the administrator's limit. */
  | { readonly kind: 'run'; readonly typed: boolean; readonly file?: string };

export interface Problem {
  /** An error refuses every run; a warning says that an entry has no effect. */
  readonly severity: 'error' | 'warning';
  readonly source: LayerSource;
  /** Dotted path, `network.allow[2]`; empty when the whole file is meant. */
  readonly key: string;
  readonly line?: number;
  /** Continues the key: "has no effect: …". */
  readonly message: string;
  readonly suggestion?: string;
}

export interface Layer {
  readonly source: LayerSource;
  readonly values: LayerValues;
  readonly lines: ReadonlyMap<string, number>;
  readonly problems: readonly Problem[];
}

/** A layer from a file's text. */
export function parseLayerText(source: LayerSource, text: string): Layer {
  const json = readJson(text);
  if (json.kind === 'read') return parse(source, json.value, json.lines);
  const problem = {
    severity: 'error',
    source,
    key: '',
    line: json.line,
    message: json.message,
  } as const;
  return { source, values: {}, lines: new Map(), problems: [problem] };
}

/** A layer from a nested value, as an editor or command line puts it together. */
export function parseLayerValue(source: LayerSource, value: unknown): Layer {
  return parse(source, value, new Map());
}

/** A layer that is there and cannot be read: refuses every run, like one that is wrong. */
export function unreadableLayer(source: LayerSource, reason: string): Layer {
  const problem = {
    severity: 'error',
    source,
    key: '',
    message: `cannot be read: ${reason}`,
  } as const;
  return { source, values: {}, lines: new Map(), problems: [problem] };
}

/** A problem about one key of a layer, with its line when that is known. */
export function problemAt(
  layer: Layer,
  severity: Problem['severity'],
  key: string,
  message: string,
  suggestion?: string,
): Problem {
  const line = layer.lines.get(key);
  return {
    severity,
    source: layer.source,
    key,
    ...(line === undefined ? {} : { line }),
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

/** `user settings`, or the file. */
export function describeSource(source: LayerSource): string {
  switch (source.kind) {
    case 'managed':
    case 'user':
    case 'workspace':
      return source.file;
    case 'run':
      return source.file ?? 'the command line';
    default:
      return assertNever(source);
  }
}

/** One line: where, what, and what may have been meant. */
export function describeProblem(problem: Problem): string {
  const where = describeSource(problem.source);
  const line = problem.line === undefined ? '' : `:${problem.line}`;
  const what = problem.key === '' ? problem.message : `${problem.key} ${problem.message}`;
  const hint = problem.suggestion === undefined ? '' : ` Did you mean ${problem.suggestion}?`;
  return `${where}${line}: ${what}.${hint}`;
}

function parse(source: LayerSource, value: unknown, lines: ReadonlyMap<string, number>): Layer {
  const empty = { source, values: {}, lines, problems: [] };
  if (saysNothing(value)) return empty; // flags of a run, mostly: no schema is made for it
  const result = settingsSchema().safeParse(value);
  if (result.success) return { ...empty, values: result.data };
  return {
    ...empty,
    problems: result.error.issues.flatMap((issue) => problemsOf(empty, value, issue)),
  };
}

function saysNothing(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Issue = NonNullable<
  ReturnType<ReturnType<typeof settingsSchema>['safeParse']>['error']
>['issues'][number];

function problemsOf(layer: Layer, value: unknown, issue: Issue): readonly Problem[] {
  const key = dotted(issue.path);
  const at = (message: string, suggestion?: string): readonly Problem[] => [
    problemAt(layer, 'error', key, message, suggestion),
  ];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => {
        const unknown = dotted([...issue.path, name]);
        return problemAt(
          layer,
          'error',
          unknown,
          'is not a setting of Cordon',
          suggestKey(unknown),
        );
      });
    case 'invalid_value': {
      const choices = issue.values.map(String);
      const written = valueAt(value, issue.path);
      return at(
        `must be ${oneOf(choices)}, not ${shown(written)}`,
        suggestChoice(written, choices),
      );
    }
    case 'invalid_type':
      return at(
        `must be ${TYPES[issue.expected] ?? issue.expected}, not ${shown(valueAt(value, issue.path))}`,
      );
    case 'invalid_format':
      return at(
        `${shown(valueAt(value, issue.path))} is not a name of an environment variable${patternHint(key)}`,
      );
    case 'too_small':
      return at(
        issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`,
      );
    case 'too_big':
      return at(`must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`);
    case 'custom':
    case 'invalid_element':
    case 'invalid_key':
    case 'invalid_union':
    case 'not_multiple_of':
      return at(issue.message);
    default:
      return assertNever(issue);
  }
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'an object',
  array: 'a list',
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
};

const UNITS: Readonly<Record<string, string>> = {
  string: ' characters long',
  array: ' entries long',
};

function patternHint(key: string): string {
  return key.startsWith('environment.keep') ? ' (whole names only, no patterns)' : '';
}

function oneOf(choices: readonly string[]): string {
  const quoted = choices.map((choice) => JSON.stringify(choice));
  return quoted.length < 2
    ? quoted.join('')
    : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

function dotted(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number'
        ? `${text}[${part}]`
        : text === ''
          ? String(part)
          : `${text}.${String(part)}`,
    '',
  );
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Record<PropertyKey, unknown>)[part]
        : undefined,
    value,
  );
}

function suggestChoice(written: unknown, choices: readonly string[]): string | undefined {
  if (typeof written !== 'string' || choices.length === 0) return undefined;
  const best = closest(written.toLowerCase(), choices);
  return isNear(written.toLowerCase(), best) ? JSON.stringify(best) : undefined;
}

/** The known key that is nearest as a whole or by its last part (`writableRoots` for `filesystem.writableRoots`). */
function suggestKey(unknown: string): string | undefined {
  const last = (key: string): string => key.slice(key.lastIndexOf('.') + 1).toLowerCase();
  const sections = [...new Set(settingKeys().map((key) => key.slice(0, key.indexOf('.'))))];
  const candidates = unknown.includes('.') ? settingKeys() : [...sections, ...settingKeys()];
  const scored = candidates.map((key) => ({
    key,
    score: Math.min(
      distance(unknown.toLowerCase(), key.toLowerCase()),
      distance(last(unknown), last(key)) + 0.5,
    ),
    near: isNear(unknown.toLowerCase(), key.toLowerCase()) || isNear(last(unknown), last(key)),
  }));
  return scored.filter(({ near }) => near).sort((a, b) => a.score - b.score)[0]?.key;
}

/** A slip of the fingers, or a longer or shorter form of the same word. */
function isNear(written: string, known: string): boolean {
  const shorter = Math.min(written.length, known.length);
  return (
    distance(written, known) <= Math.max(1, Math.floor(known.length / 3)) ||
    (shorter >= 4 && (written.startsWith(known) || known.startsWith(written)))
  );
}
