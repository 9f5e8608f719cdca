// What VS Code's own test mode runs (extensionTestsPath), in code-server and in the desktop's VS Code: mocha, inside the
// extension host, over the suite beside this file.
'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const esbuild = require('esbuild');
const mochaModule = require('mocha');

exports.run = () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-host-'));
  const bundle = path.join(folder, 'suite.cjs');
  esbuild.buildSync({
    entryPoints: [path.join(__dirname, 'suite.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
    sourcemap: 'inline',
  });
  const Mocha = mochaModule.default ?? mochaModule; // a namespace in some hosts
  const mocha = new Mocha({ ui: 'bdd', color: false, timeout: 30000, reporter: 'spec' });
  mocha.addFile(bundle);
  return new Promise((resolve, reject) => {
    mocha.run((failures) => {
      fs.rmSync(folder, { recursive: true, force: true });
      if (failures === 0) resolve();
      else reject(new Error(`${failures} tests failed`));
    });
  });
};
