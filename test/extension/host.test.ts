// The mocha suite that also runs in a desktop VS Code, here in the extension host of a VS Code server.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { runHostTests } from './harness/hostTests.js';
import { stageExtension, startServer } from './harness/server.js';
import { launchBrowser } from './harness/workbench.js';

test('the suite inside the extension host passes', async () => {
  const server = await startServer({ testMode: true });
  const browser = await launchBrowser();
  try {
    const result = await runHostTests(server, browser, {
      extension: stageExtension(server.home),
      tests: path.join(import.meta.dirname, 'host', 'index.cjs'),
    });
    assert.equal(result.code, 0, result.output.join('\n'));
    assert.match(result.output.join('\n'), /\d+ passing/);
  } finally {
    await browser.close();
    await server.stop();
  }
});
