// Where a rule or value comes from, so that every one of them can be explained.

import { assertNever } from '../base/assertNever.js';
import type { LayerSource } from '../settings/layers.js';

export type Origin =
  /** Holds whatever the settings say. */
  | { readonly kind: 'fixed' }
  /** Built in, may be changed by the user. */
  | { readonly kind: 'default' }
  /** A folder that is open in the editor, or the root of a run. */
  | { readonly kind: 'workspaceFolder' }
  /** Written in a layer under this key. */
  | { readonly kind: 'setting'; readonly source: LayerSource; readonly key: string };

/** Completes "because of …". */
export function describeOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'fixed':
      return 'built in, cannot be changed';
    case 'default':
      return 'built-in default';
    case 'workspaceFolder':
      return 'workspace folder';
    case 'setting':
      return `${origin.key} in ${describeLayer(origin.source)}`;
    default:
      return assertNever(origin);
  }
}

function describeLayer(source: LayerSource): string {
  switch (source.kind) {
    case 'managed':
      return `the administrator’s file ${source.file}`;
    case 'user':
      return `user settings (${source.file})`;
    case 'workspace':
      return source.file;
    case 'run':
      return source.file ?? 'the command line';
    default:
      return assertNever(source);
  }
}
