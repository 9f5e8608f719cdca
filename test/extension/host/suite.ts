// The extension through VS Code's API, inside the extension host: what needs no person. Runs in code-server here and in the
// desktop's VS Code with `npm run test:desktop`.

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

const extension = (): vscode.Extension<unknown> => {
  const found = vscode.extensions.getExtension('cordon.cordon');
  assert.ok(found, 'the extension is not there');
  return found;
};

interface Manifest {
  readonly activationEvents: readonly string[];
  readonly contributes: {
    readonly commands: readonly { readonly command: string }[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { readonly default?: unknown }>>;
    };
  };
}

const manifest = (): Manifest => extension().packageJSON as Manifest;

describe('Cordon in the extension host', () => {
  before(async () => {
    await extension().activate();
  });

  it('has every command that its manifest promises', async () => {
    const registered = new Set(await vscode.commands.getCommands(true));
    const promised = manifest().contributes.commands.map(({ command }) => command);
    assert.deepEqual(
      promised.filter((command) => !registered.has(command)),
      [],
    );
  });

  it('runs where the files and commands are', () => {
    assert.equal(extension().extensionKind, vscode.ExtensionKind.Workspace);
  });

  it('declares its settings with the defaults that VS Code then gives', () => {
    const { properties } = manifest().contributes.configuration;
    assert.ok(Object.keys(properties).length > 5);
    for (const [key, { default: expected }] of Object.entries(properties)) {
      assert.deepEqual(
        vscode.workspace.getConfiguration().inspect(key)?.defaultValue,
        expected,
        key,
      );
    }
  });

  it('shows settings that nobody declared when the whole section is inspected', async () => {
    // What src/extension/configuration.ts rests on to find slips of the pen.
    await vscode.workspace
      .getConfiguration()
      .update('cordon.network.allow', ['inspect.test:1'], vscode.ConfigurationTarget.Global);
    const section = vscode.workspace.getConfiguration().inspect<unknown>('cordon');
    assert.deepEqual(section?.globalValue, { network: { allow: ['inspect.test:1'] } });
    await vscode.workspace
      .getConfiguration()
      .update('cordon.network.allow', undefined, vscode.ConfigurationTarget.Global);
  });

  it('opens the sandboxed terminal with the launcher in the place of the shell', async function () {
    if (process.platform !== 'linux') return this.skip();
    const terminal = await vscode.commands.executeCommand<vscode.Terminal | undefined>(
      'cordon.newTerminal',
    );
    assert.ok(terminal, 'no terminal was opened');
    try {
      const options = terminal.creationOptions as vscode.TerminalOptions;
      assert.match(options.shellPath ?? '', /\/cordon-launch$/);
      assert.equal((options.shellArgs as readonly string[])[0], '--');
      assert.ok(await terminal.processId);
    } finally {
      terminal.dispose();
    }
  });

  it('shows the doctor’s report as a page', async () => {
    await vscode.commands.executeCommand('cordon.runDoctor');
    const page = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'cordon');
    assert.match(page?.getText() ?? '', /^Cordon .*(enforcing|not enforcing)/);
  });
});
