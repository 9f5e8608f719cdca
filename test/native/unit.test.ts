// The C unit tests, one test here for each line that a binary of build/native/test prints (make -C native tests).

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const binaries = path.join(root, 'build/native/test');
const names = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('Test.c'))
  .map((name) => name.slice(0, -'.c'.length));

assert.notEqual(names.length, 0, 'no C test was found');
for (const name of names) {
  describe(name, () => {
    const { stdout, stderr, status, signal, error } = spawnSync(path.join(binaries, name), {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    });
    // A test's remarks stand before its own line.
    const lines = stdout.split('\n').filter((line) => line !== '');
    let remarks: string[] = [];
    for (const line of lines) {
      const [, not, sentence] = /^(not )?ok - (.*)$/.exec(line) ?? [];
      if (sentence === undefined) {
        remarks.push(line);
        continue;
      }
      const said = remarks.join('\n');
      remarks = [];
      test(sentence, () => {
        assert.equal(not, undefined, said);
      });
    }
    test(`${name} runs to its end without a word from the sanitizers`, () => {
      assert.deepEqual({ error, stderr, signal }, { error: undefined, stderr: '', signal: null });
      assert.ok(lines.length > 0);
      assert.ok(status === 0 || lines.some((line) => line.startsWith('not ok')));
    });
  });
}
