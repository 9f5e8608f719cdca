import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { redactArguments, redactText } from '../../../src/audit/redact.js';

const SECRET = 'hunter2-Tr0ub4dor';

/** `§` stands for the secret. */
const hidden: readonly (readonly string[])[] = [
  ['tool', '--token=§'],
  ['tool', '--token', '§'],
  ['tool', '--api-key', '§'],
  ['tool', '--apiKey=§'],
  ['tool', '--password', '§'],
  ['tool', '--client-secret=§'],
  ['tool', '-token=§'],
  ['curl', '-u', 'user:§', 'https://example.com'],
  ['curl', '-uuser:§', 'https://example.com'],
  ['/usr/bin/curl', '--user', 'user:§'],
  ['curl', '-H', 'Authorization: Bearer §'],
  ['curl', '-H', 'authorization: token §'],
  ['curl', '-H', 'X-Api-Key: §'],
  ['curl', '-H', 'Cookie: session=§; other=§'],
  ['curl', 'https://user:§@example.com/'],
  ['curl', 'https://§@example.com/'],
  ['curl', 'https://example.com/?access_token=§&x=§'],
  ['curl', 'https://example.com/?§'],
  ['git', 'clone', 'https://x-access-token:§@example.com/a.git'],
  ['git', '-c', 'http.extraHeader=Authorization: Basic §', 'fetch'],
  ['psql', 'postgresql://ada:§@db.example.com/x'],
  ['env', 'GITHUB_TOKEN=§', 'tool'],
  ['env', 'ANYTHING=§', 'tool'],
  ['sh', '-c', 'GITHUB_TOKEN=§ tool'],
  ['sh', '-c', 'export AWS_SECRET_ACCESS_KEY="§"; tool'],
  ['sh', '-c', "curl -H 'Authorization: Bearer §' https://example.com"],
  ['sh', '-c', 'tool --password § --verbose'],
  ['sh', '-c', 'tool --password="§"'],
  ['node', '-e', 'fetch("https://example.com/?key=§")'],
  ['node', '-e', '{"password": "§"}'],
  ['sshpass', '-p', '§', 'ssh', 'host'],
  ['sshpass', '-p§', 'ssh', 'host'],
  ['mysql', '-p§'],
];

for (const command of hidden) {
  test(`the secret is not recorded in: ${command.join(' ')}`, () => {
    const redacted = redactArguments(command.map((argument) => argument.replaceAll('§', SECRET)));
    assert.equal(redacted.length, command.length);
    assert.doesNotMatch(redacted.join(' '), new RegExp(SECRET, 'u'));
  });
}

const forms: readonly string[] = [
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz',
  'glpat-abcdefghijklmnopqrst',
  'npm_abcdefghijklmnopqrstuvwxyz0123456789',
  'sk-proj-abcdefghijklmnopqrstuvwxyz',
  'xoxb-123456789012-abcdefghijkl',
  'AKIAIOSFODNN7EXAMPLE',
  'AIzaSyA-abcdefghijklmnopqrstuvwxyz01234',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
];

for (const form of forms) {
  test(`a token is known by its form: ${form.slice(0, 8)}…`, () => {
    assert.equal(redactText(`echo ${form} | tool`), 'echo *** | tool');
  });
}

test('what is no secret stays readable', () => {
  const commands: readonly (readonly string[])[] = [
    ['npm', 'install', '--save-dev', 'typescript@6.0.3'],
    ['git', 'commit', '-m', 'auditing: Fix the author of tokens'],
    ['curl', '-sS', '-u', '', 'https://example.com/a/b'],
    ['python3', '-m', 'http.server', '8080'],
    ['make', '-j2', 'CC=gcc'],
  ];
  assert.deepEqual(
    commands.map((command) => redactArguments(command).join(' ')),
    [
      'npm install --save-dev typescript@6.0.3',
      'git commit -m auditing: Fix the author of tokens',
      'curl -sS -u *** https://example.com/a/b',
      'python3 -m http.server 8080',
      'make -j2 CC=***',
    ],
  );
});

test('any text can be redacted, in reasonable time', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200 })), (command) => {
      assert.equal(redactArguments(command).length, command.length);
    }),
  );
  const started = process.hrtime.bigint();
  for (const text of [
    'token '.repeat(20_000),
    'a:'.repeat(50_000),
    '-'.repeat(100_000),
    'https://'.repeat(12_000),
    'x'.repeat(100_000),
    'auth'.repeat(25_000),
  ]) {
    redactText(text);
  }
  const milliseconds = Number(process.hrtime.bigint() - started) / 1e6;
  assert.ok(milliseconds < 2000, `${milliseconds} ms`);
});
