#!/usr/bin/env node
// Becomes dist/cli.js: runs cli.main.js with the compiled code that the build left beside it (codeCache.mjs). V8 refuses
// that of another version of itself; then, and when there is none, it compiles as usual. Halves what Cordon adds to Node's
// own start.
'use strict';

// require() of a built-in module evaluates every lazy export of it (fs.promises, net.BlockList, …) for the sake of import;
// this does not, which is a third of what Cordon adds to Node's start.
const load = (name) => process.getBuiltinModule(name) ?? require(name);

const { readFileSync } = load('node:fs');
const { Script } = load('node:vm');

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
script.runInThisContext()(exports, load, module, file, __dirname);
