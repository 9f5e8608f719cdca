// Writes the answer "always" into the user's settings: the only thing that an answer changes outside the session.

import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isErrno } from './messages.js';
import type { AbsolutePath } from '../policy/paths.js';
import type { AlwaysRule } from '../session/session.js';

/** Adds the entry once. The file is replaced as a whole, so that a reader never sees half of it. */
export async function remember(file: AbsolutePath, rule: AlwaysRule): Promise<void> {
  const settings = await readObject(file);
  const next = withRule(settings, rule);
  if (next === settings) return;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const target = await realFile(file);
  const fresh = `${target}.${process.pid}`;
  try {
    await writeFile(fresh, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(fresh, target);
  } finally {
    await rm(fresh, { force: true });
  }
}

/** The settings with the rule in them; the same object when it is there. */
function withRule(
  settings: Record<string, unknown>,
  { setting, entry }: AlwaysRule,
): Record<string, unknown> {
  const [sectionName = '', key = ''] = setting.split('.');
  const section = objectAt(settings, sectionName);
  const value = withEntry(section[key], setting, entry);
  if (value === section[key]) return settings;
  return { ...settings, [sectionName]: { ...section, [key]: value } };
}

function withEntry(
  value: unknown,
  setting: AlwaysRule['setting'],
  entry: AlwaysRule['entry'],
): unknown {
  if (setting === 'filesystem.git') return entry;
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.includes(entry) ? value : [...list, entry];
}

/** People keep their settings elsewhere and link to them. */
async function realFile(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return file;
    throw error;
  }
}

async function readObject(file: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return {};
    throw error;
  }
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${file} does not hold an object`);
  }
  return value as Record<string, unknown>;
}

function objectAt(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const inner = value[key];
  return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
    ? (inner as Record<string, unknown>)
    : {};
}
