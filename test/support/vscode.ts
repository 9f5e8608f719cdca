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
  reset(): void {
    stub.messages.length = 0;
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

export const env = { shell: '/bin/bash' };

export class ThemeIcon {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
