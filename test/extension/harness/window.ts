// One window with Cordon in it, names that only a test resolver knows, and a web server on this machine's loopback that
// those names lead to.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { TestContext } from 'node:test';

import type { Server, ServerOptions, Settings } from './server.js';
import { stageExtension, startServer, workbenchUrl } from './server.js';
import type { Browser, Workbench } from './workbench.js';
import { launchBrowser } from './workbench.js';

const RESOLVER = path.join(import.meta.dirname, '..', 'resolver');

/** The status bar item of a window that enforces and asks nothing. */
export const NOTHING_WAITS = /Cordon: (enforcing|\d+ gaps?)/;

export interface TestWindow {
  readonly server: Server;
  readonly browser: Browser;
  readonly workbench: Workbench;
  /** Serves `served NAME` for whatever name it is asked under. */
  readonly port: number;
  /** Names that were looked up on the host, in order. */
  lookups(): readonly string[];
  /** The names that the web server served, in order. */
  readonly served: readonly string[];
  close(): Promise<void>;
}

export interface TestWindowOptions extends Pick<ServerOptions, 'packages'> {
  readonly settings?: Settings;
  /** Name → addresses. */
  readonly names?: Readonly<Record<string, readonly string[]>>;
  /** Files to put into the workspace before it is opened. */
  readonly files?: Readonly<Record<string, string>>;
}

export async function openTestWindow(options: TestWindowOptions = {}): Promise<TestWindow> {
  const served: string[] = [];
  const web = http.createServer((request, response) => {
    const name = (request.headers.host ?? '').replace(/:\d+$/, '');
    served.push(name);
    response.end(`served ${name}\n`);
  });
  await new Promise<void>((resolve) => web.listen(0, '0.0.0.0', resolve));
  const address = web.address();
  if (address === null || typeof address === 'string')
    throw new Error('the web server has no port');

  const scratch = path.join(
    process.env['TMPDIR'] ?? '/tmp',
    `cordon-names-${process.pid}-${address.port}`,
  );
  mkdirSync(scratch, { recursive: true });
  const names = path.join(scratch, 'names.json');
  const lookups = path.join(scratch, 'lookups');
  writeFileSync(names, JSON.stringify(options.names ?? {}));
  appendFileSync(lookups, '');
  const server = await startServer({
    settings: options.settings ?? {},
    packages: options.packages ?? [],
    extensions: [RESOLVER, ...(options.packages === undefined ? [stageExtension(scratch)] : [])],
    environment: { CORDON_TEST_NAMES: names, CORDON_TEST_LOOKUPS: lookups },
  });
  for (const [name, text] of Object.entries(options.files ?? {})) {
    const file = path.join(server.workspace, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const browser = await launchBrowser();
  const workbench = await browser.open(workbenchUrl(server, server.workspace));
  return {
    server,
    browser,
    workbench,
    port: address.port,
    lookups: () =>
      existsSync(lookups) ? readFileSync(lookups, 'utf8').split('\n').slice(0, -1) : [],
    served,
    async close() {
      web.close();
      web.closeAllConnections();
      await browser.close();
      await server.stop();
    },
  };
}

/** Subtests that build on each other: after one has failed the others fail at once. It leaves a picture of the window. */
export function createSteps(
  context: TestContext,
  { workbench }: TestWindow,
): (name: string, run: () => Promise<void>) => Promise<void> {
  let failed: string | undefined;
  return async (name, run) => {
    await context.test(name, async () => {
      if (failed !== undefined) throw new Error(`not tried, because "${failed}" failed`);
      try {
        await run();
      } catch (error) {
        failed = name;
        await workbench.screenshot(name.replaceAll(/[^\w]+/g, '-'));
        throw error;
      }
    });
  };
}
