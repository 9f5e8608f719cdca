#!/usr/bin/env node
// Becomes dist/cli.js: runs cli.main.js with the compiled code that the build left beside it (codeCache.mjs). V8 refuses
// that of another version of itself; then, and when there is none, it compiles as usual. Halves what Cordon adds to Node's
// own start.
'use strict';

const { readFileSync } = require('node:fs');
const { Script } = require('node:vm');

const file = `${__dirname}/cli.main.js`;

function compiledCode() {
  try {
    return readFileSync(`${__dirname}/cli.cache`);
  } catch {
    return undefined; // packages for other Nodes come without
  }
}

const script = new Script(readFileSync(file, 'latin1'), {
  filename: file,
  cachedData: compiledCode(),
});
script.runInThisContext()(exports, require, module, file, __dirname);
