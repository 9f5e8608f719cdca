// The record, for faces that show it.

import path from 'node:path';

import type { AbsolutePath } from '../policy/paths.js';

export { followAudit, listAudit, readAudit } from '../audit/reader.js';

/** Where the sessions of a user keep their record. */
export function auditFolder(state: AbsolutePath): AbsolutePath {
  return path.join(state, 'audit') as AbsolutePath;
}
