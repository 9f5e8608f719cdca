import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { addRunOptions } from '../../../src/cli/options.js';
import { UsageError } from '../../../src/cli/usage.js';

function parse(...argv: readonly string[]): {
  readonly flags: unknown;
  readonly command: readonly string[];
} {
  let result: { flags: unknown; command: readonly string[] } | undefined;
  const program = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  addRunOptions(program)
    .argument('<command...>')
    .passThroughOptions()
    .action((command: string[], flags: unknown) => {
      result = { flags, command };
    });
  program.parse(argv, { from: 'user' });
  if (result === undefined) throw new Error('no action');
  return result;
}

test('every flag arrives, repeated ones in order', () => {
  const given = [
    ...['--root', 'r', '--write', 'a', '--write', 'b', '--read', 'roots', '--network', 'off'],
    ...['--git', 'allow'],
    ...['--allow', 'x:1', '--allow', 'y', '--deny', 'z', '--ask', 'tty', '--engine', 'namespaces'],
    ...['--events', 'e', '--policy', 'p'],
  ];
  assert.deepEqual(parse(...given, '--', 'make', '-j2'), {
    flags: {
      root: 'r',
      write: ['a', 'b'],
      read: 'roots',
      git: 'allow',
      network: 'off',
      allow: ['x:1', 'y'],
      deny: ['z'],
      ask: 'tty',
      engine: 'namespaces',
      events: 'e',
      policy: 'p',
    },
    command: ['make', '-j2'],
  });
});

test('what follows the command belongs to it, with and without --', () => {
  const flags = {};
  assert.deepEqual(parse('npm', 'ci', '--allow', 'x'), {
    flags,
    command: ['npm', 'ci', '--allow', 'x'],
  });
  assert.deepEqual(parse('--', 'npm', '--', '--ask'), { flags, command: ['npm', '--', '--ask'] });
});

test('one call’s lists do not leak into the next one', () => {
  parse('--write', 'a', 'true');
  assert.deepEqual(parse('true').flags, {});
});

test('a value that this version cannot enforce is refused by name', () => {
  for (const given of [
    ['--engine', 'bubblewrap'],
    ['--engine', 'landlock'],
    ['--limit', 'memory=1G'],
  ]) {
    assert.throws(
      () => parse(...given, 'true'),
      (error) => {
        assert.ok(error instanceof UsageError);
        assert.ok(error.message.startsWith(given.join(' ')), error.message);
        assert.match(error.message, /cannot enforce/);
        return true;
      },
    );
  }
});

test('an unknown value or flag is refused with what would be right', () => {
  assert.throws(() => parse('--network', 'no', 'true'), /off, ask or on/);
  assert.throws(() => parse('--ask', 'me', 'true'), /deny, tty or editor/);
  assert.throws(() => parse('--netwrok', 'off', 'true'), /--network/);
  assert.throws(() => parse('--engine', 'docker', 'true'), /namespaces/);
});
