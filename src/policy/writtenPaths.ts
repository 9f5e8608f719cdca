// Paths as people write them in settings: absolute, below `~`, or relative to a root. Taken literally: no patterns, no variables.

import path from 'node:path';

import type { AbsolutePath } from './paths.js';
import { absolutePath } from './paths.js';

export type WrittenPath =
  | { readonly kind: 'absolute'; readonly path: AbsolutePath }
  /** Normalised, below whatever root it is joined to. */
  | { readonly kind: 'relative'; readonly path: string }
  | { readonly kind: 'bad'; readonly message: string };

export function readWrittenPath(text: string, home: AbsolutePath): WrittenPath {
  const shown = JSON.stringify(text);
  if (text.includes('\0')) return { kind: 'bad', message: `${shown} holds a zero byte` };
  if (/[*?]/u.test(text)) {
    return { kind: 'bad', message: `${shown} is a pattern; only whole names can be enforced` };
  }
  if (/^\$|\$\{/u.test(text))
    return {
      kind: 'bad',
      message: `${shown} has a variable; write the path out or begin it with ~/`,
    };
  if (text === '~' || text.startsWith('~/')) {
    return { kind: 'absolute', path: absolutePath(home + text.slice(1)) ?? home };
  }
  if (text.startsWith('~'))
    return { kind: 'bad', message: `${shown} names another user’s home; write the path out` };
  const absolute = absolutePath(text);
  if (absolute !== undefined) return { kind: 'absolute', path: absolute };
  const relative = path.posix.normalize(text).replace(/\/$/u, '');
  if (relative === '.' || relative === '..' || relative.startsWith('../')) {
    return { kind: 'bad', message: `${shown} does not lie below the root that it is relative to` };
  }
  return { kind: 'relative', path: relative };
}

/** `root` joined with a normalised relative path; `root` itself when that is empty. */
export function below(root: AbsolutePath, relative: string): AbsolutePath {
  if (relative === '') return root;
  return (root === '/' ? `/${relative}` : `${root}/${relative}`) as AbsolutePath;
}
