// Stands in for the module `vscode` in unit tests, which run outside an editor (tsconfig.test.json maps it here). It
// holds what the tested parts touch and nothing more; `stub` is how a test plays the person.

export interface ShownMessage {
  readonly level: 'info' | 'warning' | 'error';
  readonly message: string;
  readonly buttons: readonly string[];
  /** Presses a button, or closes the notification. */
  press(button: string | undefined): void;
}

export const stub = {
  /** Every message shown, oldest first. */
  messages: [] as ShownMessage[],
  /** The user's settings, by whole keys. */
  userSettings: new Map<string, unknown>(),
  /** What a write of the settings fails with. */
  settingsError: undefined as Error | undefined,
  /** Commands that were executed. */
  commands: [] as string[],
  /** Addresses that were opened in a browser. */
  opened: [] as string[],
  reset(): void {
    stub.messages.length = 0;
    stub.userSettings.clear();
    stub.settingsError = undefined;
    stub.commands.length = 0;
    stub.opened.length = 0;
  },
};

function show(level: ShownMessage['level']) {
  return (message: string, ...buttons: readonly string[]): Promise<string | undefined> =>
    new Promise((resolve) => {
      stub.messages.push({ level, message, buttons, press: resolve });
    });
}

export const window = {
  showInformationMessage: show('info'),
  showWarningMessage: show('warning'),
  showErrorMessage: show('error'),
};

export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 };

export const workspace = {
  workspaceFolders: undefined,
  /** There is one folder, /ws. */
  asRelativePath: (file: string) => file.replace(/^\/ws\//, ''),
  getConfiguration: (section: string) => ({
    inspect: (key: string) => ({ globalValue: stub.userSettings.get(`${section}.${key}`) }),
    update: async (key: string, value: unknown, target: number) => {
      await Promise.resolve(); // VS Code writes a file, so the value is there later
      if (stub.settingsError !== undefined) throw stub.settingsError;
      if (target !== ConfigurationTarget.Global) throw new Error('not the user’s settings');
      if (value === undefined) stub.userSettings.delete(`${section}.${key}`);
      else stub.userSettings.set(`${section}.${key}`, value);
    },
  }),
};

export const commands = {
  executeCommand: (command: string) => {
    stub.commands.push(command);
    return Promise.resolve(undefined);
  },
};

export const env = {
  shell: '/bin/bash',
  /** A remote window would give another one. */
  asExternalUri: (uri: Uri) => Promise.resolve(uri),
  openExternal: (uri: Uri) => {
    stub.opened.push(uri.text);
    return Promise.resolve(true);
  },
};

/** Only what was parsed. */
export class Uri {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  static parse(text: string): Uri {
    return new Uri(text);
  }
}

export class ThemeIcon {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
