// Absolute, normalised paths as a type: made in one place, trusted everywhere else. No file is opened here.

import path from 'node:path';

declare const absolute: unique symbol;

/** An absolute POSIX path without `.`, `..`, double or trailing slashes. Says nothing about existence or symbolic links. */
export type AbsolutePath = string & { readonly [absolute]: true };

/** Normalises; `undefined` when the text is not absolute or holds a NUL byte. */
export function absolutePath(text: string): AbsolutePath | undefined {
  if (!text.startsWith('/') || text.includes('\0')) return undefined;
  const normal = path.posix.normalize(text);
  return (normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal) as AbsolutePath;
}

/** Whether `inner` is `outer` or lies below it. */
export function contains(outer: AbsolutePath, inner: AbsolutePath): boolean {
  return inner === outer || outer === '/' || inner.startsWith(`${outer}/`);
}

/**
 * The innermost of `places` that is `inner` or contains it. The cost is that of the path's depth, however many places there
 * are.
 */
export function innermost(
  places: Pick<ReadonlySet<AbsolutePath>, 'has'>,
  inner: AbsolutePath,
): AbsolutePath | undefined {
  let at = inner;
  while (!places.has(at)) {
    if (at === '/') return undefined;
    at = parentOf(at);
  }
  return at;
}

/** The folder that holds a path; `/` for itself. */
export function parentOf(inner: AbsolutePath): AbsolutePath {
  return path.posix.dirname(inner) as AbsolutePath;
}

/** Those that lie in no other, in a fixed order. */
export function outermost(paths: readonly AbsolutePath[]): readonly AbsolutePath[] {
  const places = new Set(paths);
  return [...places]
    .filter((at) => at === '/' || innermost(places, parentOf(at)) === undefined)
    .sort();
}
