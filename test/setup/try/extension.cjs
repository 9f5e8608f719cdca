'use strict';

const vscode = require('vscode');

exports.activate = async () => {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined || vscode.window.terminals.length > 0) return;
  await vscode.commands.executeCommand(
    'markdown.showPreview',
    vscode.Uri.joinPath(folder, 'README.md'),
  );
  await vscode.commands.executeCommand('cordon.newTerminal');
};
