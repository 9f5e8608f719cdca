// VS Code's own way of testing an extension, in the extension host of a server: what @vscode/test-electron does for a desktop.

import path from 'node:path';
import { format } from 'node:util';

import type { Browser } from './workbench.js';
import type { Server } from './server.js';
import { workbenchUrl } from './server.js';

/** What the host says while it has no gallery, no account and no compiled database. */
const NOISE =
  /AgentHost|Gallery|getExtensions|ChatModel|Creating a socket|connection token|reconnection-grace|builtin extensions|Service Worker|AccountPolicy/;

export interface HostResult {
  readonly code: number;
  readonly output: readonly string[];
}

/** Loads `extension` as one under development and runs `tests`' run() there. Needs a server with `testMode`. */
export async function runHostTests(
  server: Server,
  browser: Browser,
  { extension, tests }: { readonly extension: string; readonly tests: string },
): Promise<HostResult> {
  const page = await browser.page();
  const output: string[] = [];
  const ended = new Promise<number>((resolve) => {
    void page.exposeFunction('codeAutomationExit', resolve);
  });
  await page.exposeFunction('codeAutomationLog', (_level: string, words: readonly unknown[]) => {
    const line = format(...words);
    if (!NOISE.test(line)) output.push(line);
  });
  const uri = (file: string): string =>
    `vscode-remote://${new URL(server.url).host}${path.resolve(file)}`;
  await page.goto(
    workbenchUrl(server, server.workspace, [
      ['extensionDevelopmentPath', uri(extension)],
      ['extensionTestsPath', uri(tests)],
    ]),
  );
  const late = new Promise<never>((_, reject) => {
    setTimeout(
      () => reject(new Error(`no result in 120 s; so far:\n${output.join('\n')}`)),
      120_000,
    ).unref();
  });
  const code = await Promise.race([ended, late]);
  await page.close();
  return { code, output };
}
