// Every failure that a person or another part may have to tell apart, in one catalogue. Expected outcomes (denied,
// unsupported, cancelled) are values, not errors.

interface Entry {
  /** For the log. */
  readonly developer: string;
  /** For a person: what failed and what to do next. `{detail}` is the setting, path or name it is about. */
  readonly user: string;
  /** Whether a face shows it by itself; the others go to the log. */
  readonly show: boolean;
}

const catalogue = {
  settingsInvalid: {
    developer: 'settings are not valid',
    user: 'Cordon does not run anything while its settings are not valid: {detail}',
    show: true,
  },
  rootMissing: {
    developer: 'a writable root does not exist',
    user: 'The writable root {detail} does not exist. Create it, or remove it from cordon.filesystem.writableRoots.',
    show: true,
  },
  rootUnusable: {
    developer: 'a writable root cannot be used',
    user: '{detail}',
    show: true,
  },
  directoryUnusable: {
    developer: 'the working directory cannot be used',
    user: '{detail}',
    show: true,
  },
  planTooLarge: {
    developer: 'the plan exceeds a limit of the protocol',
    user: 'The policy is too large to enforce: {detail}',
    show: true,
  },
  launcherMissing: {
    developer: 'no launcher for this system',
    user: 'Cordon has no launcher for this system ({detail}); nothing was started. Build it with: npm run build:native',
    show: true,
  },
  launcherFailed: {
    developer: 'the launcher could not set up the boundary',
    user: 'The boundary could not be set up, so nothing was started: {detail}',
    show: true,
  },
  hostUnsupported: {
    developer: 'this host cannot enforce the boundary',
    user: 'This system cannot enforce the boundary, so nothing was started: {detail}',
    show: true,
  },
  runtimeFolderUnsafe: {
    developer: 'the folder for sockets is not safe to use',
    user: 'The folder for Cordon’s sockets is not safe to use: {detail}. It must be your own, with mode 0700.',
    show: true,
  },
  auditFailed: {
    developer: 'the audit log cannot be written',
    user: 'The record of decisions cannot be written, so requests are denied: {detail}',
    show: true,
  },
  protocolBroken: {
    developer: 'the peer broke the protocol',
    user: 'The connection to a sandboxed run broke off: {detail}',
    show: false,
  },
  notInside: {
    developer: 'no supervisor answers here',
    user: 'This is not a sandboxed run, so there is nobody to ask and nothing to ask for.',
    show: false,
  },
  sessionClosed: {
    developer: 'the session is closed',
    user: 'The Cordon session has ended.',
    show: false,
  },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof catalogue;

export class CordonError extends Error {
  override readonly name = 'CordonError';
  readonly code: ErrorCode;
  /** For a person; a whole sentence. */
  readonly userMessage: string;
  readonly show: boolean;

  constructor(code: ErrorCode, detail = '', options?: { readonly cause?: unknown }) {
    const entry: Entry = catalogue[code];
    super(detail === '' ? entry.developer : `${entry.developer}: ${detail}`, options);
    this.code = code;
    this.userMessage = entry.user.replace('{detail}', () => detail);
    this.show = entry.show;
  }
}

/** What to say about anything that was thrown. */
export function userMessageOf(error: unknown): string {
  if (error instanceof CordonError) return error.userMessage;
  return error instanceof Error ? error.message : String(error);
}
