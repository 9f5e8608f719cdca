import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { changes, createPlace, snapshot } from '../support/sandbox.js';
import type { Finished, Place } from '../support/sandbox.js';

/** Refused before anything ran: 125, nothing on standard output, one line that says why. */
function assertRefused(result: Finished, reason: RegExp): void {
  assert.deepEqual(
    { code: result.code, stdout: result.stdout },
    { code: 125, stdout: '' },
    result.stderr,
  );
  assert.match(result.stderr, /^cordon: [^\n]+\n$/, 'one line');
  assert.match(result.stderr, reason);
}

/** A workspace whose name is bytes, used as a person would: by changing into it. */
async function useFolder(place: Place, name: Buffer): Promise<void> {
  const folder = Buffer.concat([Buffer.from(`${place.home}/`), name]);
  mkdirSync(folder);
  const quoted = `$'${[...folder].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`;
  const words = `"${process.execPath}" "$CLI" run --`;
  const inner =
    'touch made && ! touch ../escaped 2>/dev/null && [ "$(pwd -P)" = "$(readlink /proc/self/cwd)" ] && ls -A';
  const script = `cd ${quoted} && ${words} sh -c '${inner}' && test -e made && ! test -e ../escaped`;
  const result = await place.host(['bash', '-c', script], {
    environment: { CLI: path.resolve(import.meta.dirname, '../../dist/cli.js') },
  });
  assert.deepEqual(
    { code: result.code, stdout: result.stdout },
    { code: 0, stdout: 'made\n' },
    result.stderr,
  );
  assert.ok(existsSync(Buffer.concat([folder, Buffer.from('/made')])));
}

test('a workspace on a path with spaces works', (t) =>
  useFolder(createPlace(t), Buffer.from('a b  c')));

test('a workspace on a path with a newline works', (t) =>
  useFolder(createPlace(t), Buffer.from('a\nb')));

test('a workspace on a path with bytes that are not UTF-8 works', (t) =>
  useFolder(createPlace(t), Buffer.from([0x61, 0xff, 0xfe, 0x80, 0x62])));

test('a workspace on a path with quotes, backslashes and control characters works', (t) =>
  useFolder(createPlace(t), Buffer.from('"\'\\$(x)`\x01\x7f\u{202e}\u00e4')));

test('--root with bytes that are not UTF-8 works', async (t) => {
  const place = createPlace(t);
  const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
  const script = `mkdir $'../r\\xff' && "${process.execPath}" "${cli}" run --root $'../r\\xff' -- sh -c 'cd ../r*; touch made' && ls ../r*/made | wc -l`;
  const { code, stdout, stderr } = await place.host(['bash', '-c', script]);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '1\n' }, stderr);
});

test('an argument with bytes that are not UTF-8 arrives as it is, or is refused; it never changes', async (t) => {
  const place = createPlace(t);
  const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
  const script = `"${process.execPath}" "${cli}" run -- printf %s $'a\\xffb' | od -An -tx1; exit \${PIPESTATUS[0]}`;
  const { code, stdout, stderr } = await place.host(['bash', '-c', script]);
  if (code === 125) assert.match(stderr, /^cordon: [^\n]*not UTF-8[^\n]*\n$/);
  else assert.equal(stdout, ' 61 ff 62\n');
});

test('a root that does not exist is refused by name', async (t) => {
  const place = createPlace(t);
  assertRefused(
    await place.cordon(['--root', 'no/such'], ['true']),
    /--root no\/such does not exist/,
  );
  assertRefused(
    await place.cordon(['--write', 'no/such'], ['true']),
    /--write no\/such does not exist/,
  );
  assertRefused(await place.cordon(['--root', ''], ['true']), /--root/);
});

test('a root that is a file is refused by name', async (t) => {
  const place = createPlace(t);
  const file = path.join(place.outside, 'file');
  assertRefused(await place.cordon(['--root', file], ['true']), /not a folder/);
});

test('a root that is a symbolic link is the folder it leads to', async (t) => {
  const place = createPlace(t);
  const link = path.join(place.home, 'link');
  symlinkSync('workspace', link);
  const script = `touch ${link}/a ${place.workspace}/b; rm -f ${link}; mv ${link} ${link}2; touch ${place.home}/c`;
  const result = await place.cordon(['--root', link], ['sh', '-c', script], { cwd: place.outside });
  assert.notEqual(result.code, 0);
  const { stdout } = await place.host([
    'sh',
    '-c',
    'ls; ls -l ../link | wc -l; ls ../c ../link2 2>/dev/null; exit 0',
  ]);
  assert.equal(stdout, 'a\nb\n1\n');
});

test('a working directory that is gone, or that nobody may look into, is refused', async (t) => {
  const place = createPlace(t);
  const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
  const gone = path.join(place.home, 'gone');
  mkdirSync(gone);
  const result = await place.host(
    ['sh', '-c', `rmdir "$PWD"; exec "${process.execPath}" "${cli}" run -- true`],
    { cwd: gone },
  );
  assert.equal(result.code, 125);
  assert.match(result.stderr, /cordon: .*working directory/);
});

test('the whole file system as root, or the home folder itself, is refused or protected', async (t) => {
  const place = createPlace(t);
  const result = await place.cordon(
    ['--root', '/'],
    ['sh', '-c', 'touch /var/tmp/../cordon-escaped; echo ran'],
  );
  assertRefused(result, /\//);
});

test('a command is needed', async (t) => {
  const place = createPlace(t);
  assertRefused(await place.face(['run']), /command/);
  assertRefused(await place.face(['run', '--']), /command/);
  assertRefused(await place.face(['run', '--', '']), /command|empty/);
});

test('flags that are unknown, misspelt, or cannot be enforced by this version are refused, never ignored', async (t) => {
  const place = createPlace(t);
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['--netwrok', 'off'], /--netwrok.*--network/],
    [['--network', 'no'], /off, ask or on/],
    [['--read', 'root'], /anywhere or roots/],
    [['--git', 'no'], /ask, allow or protect/],
    [['--engine', 'bubblewrap'], /cannot enforce/],
    [['--engine', 'landlock'], /cannot enforce/],
    [['--engine', 'docker'], /namespaces/],
    [['--limit', 'memory=1G'], /cannot enforce/],
    [['--ask', 'nobody'], /deny, tty or editor/],
    [['--allow', 'http://example.com/'], /example\.com/],
    [['--allow', 'example.com:99999'], /99999/],
    [['--allow', ''], /--allow|network\.allow/],
    [['--deny', 'exa mple'], /exa mple/],
    [['--policy', 'no-such-file'], /no-such-file/],
    [['--events', 'no/such/folder/events'], /no\/such\/folder\/events/],
  ];
  for (const [flags, reason] of cases)
    assertRefused(await place.cordon(flags, ['touch', 'ran']), reason);
  assert.equal(existsSync(path.join(place.workspace, 'ran')), false);
});

test('settings that are wrong refuse the run, with file, line, key and what was meant', async (t) => {
  const place = createPlace(t);
  const settings = path.join(place.home, '.config/cordon/settings.json');
  mkdirSync(path.dirname(settings), { recursive: true });
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{ "network": { "mod": "off" } }', /settings\.json:1: network\.mod .*network\.mode/],
    ['{ "network": {\n "mode": "of" } }', /settings\.json:2: network\.mode .*off/],
    ['{ "network": ', /settings\.json/],
    ['[]', /settings\.json/],
    ['{ "filesystem": { "writableRoots": [7] } }', /writableRoots\[0\]/],
  ];
  for (const [text, reason] of cases) {
    writeFileSync(settings, text);
    assertRefused(await place.cordon([], ['touch', 'ran']), reason);
  }
  writeFileSync(settings, '{}');
  chmodSync(settings, 0);
  assertRefused(
    await place.cordon([], ['touch', 'ran']),
    /settings\.json.*(permission|EACCES|read)/i,
  );
  rmSync(settings);
  mkdirSync(settings);
  assertRefused(await place.cordon([], ['touch', 'ran']), /settings\.json/);
  assert.equal(existsSync(path.join(place.workspace, 'ran')), false);
});

test('a policy that is too large to enforce is refused, and a large one works', async (t) => {
  const place = createPlace(t);
  const file = path.join(place.folder, 'policy.json');
  const hosts = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `h${at}.example.com:443`);
  writeFileSync(file, JSON.stringify({ network: { allow: hosts(5_000) } }));
  assert.equal((await place.cordon(['--policy', file], ['true'])).code, 0);
  writeFileSync(file, JSON.stringify({ network: { allow: hosts(200_000) } }));
  assertRefused(await place.cordon(['--policy', file], ['touch', 'ran']), /larger than|too large/);
  const roots = Array.from({ length: 3000 }, (_, at) =>
    path.join(place.folder, 'many', `${'x'.repeat(200)}${at}`),
  );
  for (const root of roots) mkdirSync(root, { recursive: true });
  writeFileSync(file, JSON.stringify({ filesystem: { writableRoots: roots } }));
  const many = await place.cordon(
    ['--policy', file],
    ['touch', `${roots[0] ?? ''}/made`, `${roots.at(-1) ?? ''}/made`],
  );
  if (many.code === 125) assertRefused(many, /too (many|large)|limit/);
  else assert.equal(many.code, 0, many.stderr);
});

test('a refused run leaves nothing behind', async (t) => {
  const place = createPlace(t);
  const before = snapshot(place.folder);
  await place.cordon(['--root', 'no/such'], ['true']);
  await place.cordon(['--limit', 'a=b'], ['true']);
  assert.deepEqual(changes(place.folder, before), []);
});
