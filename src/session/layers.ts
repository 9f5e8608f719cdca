// The layers of settings that are files, and what layers mean, for every face alike: so that none can read a file the
// other one does not. A file that is there and cannot be used is a layer with an error, which refuses every run.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { textToBytes } from '../base/bytes.js';
import { defaultFolders } from '../launch/folders.js';
import type { AbsolutePath } from '../policy/paths.js';
import { absolutePath } from '../policy/paths.js';
import type { PolicyContext, PolicyResult } from '../policy/policy.js';
import { resolvePolicy } from '../policy/resolvePolicy.js';
import type { Layer, LayerSource } from '../settings/layers.js';
import { parseLayerText, unreadableLayer } from '../settings/layers.js';
import { settingDefaults } from '../settings/schema.js';

export { explainHost } from '../policy/explain.js';
export { describeProblem, parseLayerValue } from '../settings/layers.js';

/** The administrator's file; its folder belongs to root. */
export const MANAGED_FILE = '/etc/cordon/policy.json';
export const WORKSPACE_FILE = '.cordon.json';

const LONGEST_FILE = 1 << 20;

/** The administrator's layer, when there is one. */
export function readManagedLayer(file: string = MANAGED_FILE): Layer | undefined {
  return readLayerFile({ kind: 'managed', file });
}

/** The layer that a folder brings along, when it does. */
export function readWorkspaceLayer(folder: AbsolutePath): Layer | undefined {
  return readLayerFile({ kind: 'workspace', folder, file: path.join(folder, WORKSPACE_FILE) });
}

/** What the layers mean together, for this process's user. */
export function resolveLayers(
  layers: readonly Layer[],
  context: Omit<PolicyContext, 'accountHome' | 'runtime' | 'sshAgent' | 'defaults'>,
): PolicyResult {
  const accountHome = accountHomeFolder();
  const { runtime } = defaultFolders(process.env);
  // Of a command that another program starts it may be another one: that is a socket like others then, and asked about.
  const sshAgent = absolutePath(process.env['SSH_AUTH_SOCK'] ?? '');
  return resolvePolicy(layers, {
    ...context,
    ...(accountHome === undefined ? {} : { accountHome }),
    runtime,
    ...(sshAgent === undefined ? {} : { sshAgent }),
    defaults: settingDefaults,
  });
}

/** The home that the passwd entry names, whatever HOME says; undefined when there is no such entry. */
function accountHomeFolder(): AbsolutePath | undefined {
  try {
    return absolutePath(os.userInfo().homedir);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return undefined; // a uid without an account
    throw error;
  }
}

/** The layer in a file; undefined when there is no such file. */
export function readLayerFile(source: LayerSource & { readonly file: string }): Layer | undefined {
  let text: string;
  try {
    text = readText(source.file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return unreadableLayer(source, error instanceof Error ? error.message : String(error));
  }
  return parseLayerText(source, text);
}

/** O_NONBLOCK, because a workspace could hold a pipe of that name, and opening it would wait for ever (fifo(7)). */
function readText(file: string): string {
  const descriptor = fs.openSync(
    textToBytes(file),
    fs.constants.O_RDONLY | fs.constants.O_NONBLOCK,
  );
  try {
    const found = fs.fstatSync(descriptor);
    if (!found.isFile()) throw new Error('not a file');
    if (found.size > LONGEST_FILE) throw new Error('larger than 1 MiB');
    return fs.readFileSync(descriptor, 'utf8');
  } finally {
    fs.closeSync(descriptor);
  }
}
