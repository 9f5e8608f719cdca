import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createPlace } from '../../support/sandbox.js';

test('help and version go to standard output, and mean success', async (t) => {
  const place = createPlace(t);
  for (const words of [['--help'], ['run', '--help'], ['help', 'run'], []]) {
    const { code, stdout, stderr } = await place.face(words);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, words.join(' '));
    assert.match(stdout, /^Usage: cordon/);
  }
  const { stdout } = await place.face(['--version']);
  const manifest = JSON.parse(
    readFileSync(path.resolve(import.meta.dirname, '../../../package.json'), 'utf8'),
  ) as { version: string };
  assert.equal(stdout, `${manifest.version}\n`);
});

test('an unknown command is refused with the nearest one', async (t) => {
  const place = createPlace(t);
  const { code, stderr } = await place.face(['rnu', '--', 'true']);
  assert.equal(code, 125);
  assert.match(stderr, /^cordon: unknown command 'rnu'.*run[^\n]*\n$/);
});

test('shell opens the shell of the account, inside', async (t) => {
  const place = createPlace(t);
  const { code, stdout } = await place.face(['shell', '--', '-c', 'echo $0; touch ../escaped'], {
    environment: { SHELL: '/bin/bash' },
  });
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '/bin/bash\n' });
});

test('explain tells what may be done with a path, where its links lead, and which rule says so', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.home, '.ssh'));
  symlinkSync('../.ssh', path.join(place.workspace, 'link'));
  const explain = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await place.face(['explain', ...words]);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    return stdout;
  };
  const closed = new RegExp(
    `^reading ${place.home}/\\.ssh/id is asked about\n  .*\\.ssh is closed .*\n`,
  );
  assert.match(await explain('~/.ssh/id'), closed);
  assert.match(await explain('link/id'), closed);
  assert.match(await explain('new/file'), /can be read\n.*\n.*can be written to\n  .*workspace/);
  assert.match(
    await explain('.git/hooks'),
    /writing to .*\.git\/hooks is asked about\n  filesystem\.git is ask/,
  );
  assert.match(
    await explain('../outside'),
    /writing to .* is asked about\n  it lies in no writable root/,
  );
  assert.match(await explain('--write', '../outside', '../outside'), /can be written to/);
});

test('explain tells what becomes of a host, and which rule says so', async (t) => {
  const place = createPlace(t);
  const explain = async (...words: readonly string[]): Promise<string> =>
    (await place.face(['explain', ...words])).stdout;
  assert.match(await explain('example.com'), /^example\.com:443 is asked about\n/);
  assert.match(
    await explain('--allow', '*.example.com', 'www.example.com:80'),
    /^www\.example\.com:80 is allowed\n  \*\.example\.com \(.*command line\)/,
  );
  assert.match(await explain('--network', 'off', 'example.com'), /is denied\n/);
  assert.match(await explain('--allow', 'localhost:5432', 'localhost:5432'), /5432 .* is reached/);
  const nonsense = await place.face(['explain', 'exa mple']);
  assert.deepEqual({ code: nonsense.code, stdout: nonsense.stdout }, { code: 125, stdout: '' });
});

test('explain shows every problem of the settings', async (t) => {
  const place = createPlace(t);
  writeFileSync(
    path.join(place.workspace, '.cordon.json'),
    JSON.stringify({ network: { mode: 'on', allow: ['example.com'] } }),
  );
  const { code, stderr } = await place.face(['explain', 'example.com']);
  assert.equal(code, 0);
  assert.match(stderr, /\.cordon\.json:1: network\.allow\[0\] has no effect/);
  assert.match(stderr, /\.cordon\.json:1: network\.mode has no effect/);
});

test('plan --json is exactly what a run is sent, but for the names of the run', async (t) => {
  const place = createPlace(t);
  const flags = ['--allow', 'example.com:443', '--network', 'off'];
  const { code, stdout } = await place.face(['plan', '--json', ...flags]);
  assert.equal(code, 0);
  const plan = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual(
    { engine: plan['engine'], directory: plan['directory'], brokerLoss: plan['brokerLoss'] },
    { engine: 'namespaces', directory: place.workspace, brokerLoss: 'end' },
  );
  assert.deepEqual((plan['network'] as { mode: string }).mode, 'off');
  assert.ok(
    JSON.stringify(plan['mounts']).includes(`{"op":"writable","path":"${place.workspace}"}`),
  );
});

test('plan in words names every mount and rule; other systems are refused plainly', async (t) => {
  const place = createPlace(t);
  const { stdout } = await place.face(['plan', '--platform', 'linux', '--allow', 'example.com']);
  assert.ok(stdout.includes(`${place.workspace}  writable`));
  assert.match(stdout, /git repositories: changes are asked once \(built-in default\)/);
  assert.match(stdout, /example\.com.*allowed \(.*command line\)/);
  for (const platform of ['macos', 'windows', 'plan9']) {
    const refused = await place.face(['plan', '--platform', platform]);
    assert.equal(refused.code, 125);
    assert.match(refused.stderr, new RegExp(`^cordon: --platform ${platform}: [^\n]+\n$`));
  }
});

test('log shows runs, questions, answers and ends, of one run or of all', async (t) => {
  const place = createPlace(t);
  const empty = await place.face(['log']);
  assert.equal(empty.stdout, '');
  await place.cordon(['--ask', 'deny'], ['curl', '-s', 'http://example.com:81/']);
  await place.cordon([], ['sh', '-c', 'exit 3']);
  const all = await place.face(['log']);
  assert.equal(all.code, 0, all.stderr);
  assert.match(all.stdout, /run +curl -s http:\/\/example\.com:81\/  in /);
  assert.match(all.stdout, /asked +curl wants to reach example\.com:81 /);
  assert.match(all.stdout, /denied +request 1, by default \(noInterface\)/);
  assert.match(all.stdout, /end +exited with 3/);
  const last = all.stdout.trimEnd().split('\n').at(-1) ?? '';
  const run = /Z  ([0-9a-f]{8})  /.exec(last)?.[1] ?? '';
  const one = await place.face(['log', '--run', run, '--json']);
  const kinds = one.stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { kind: string }).kind)
    .filter((kind) => kind !== 'gap');
  assert.deepEqual(kinds, ['run', 'exit']);
});

test('log tells when the record was changed', async (t) => {
  const place = createPlace(t);
  await place.cordon([], ['true']);
  const { stdout } = await place.host(['sh', '-c', 'ls ~/.local/state/cordon/audit/*.jsonl']);
  const file = stdout.trim();
  writeFileSync(file, readFileSync(file, 'utf8').replace('"true"', '"false"'));
  const { code, stderr } = await place.face(['log']);
  assert.equal(code, 1);
  assert.match(stderr, /cordon: .*\.jsonl: line \d+ does not follow the one before it/);
});

test('log never shows a secret of the command line', async (t) => {
  const place = createPlace(t);
  await place.cordon(
    [],
    ['true', '--token=hunter2hunter2', 'https://me:hunter2hunter2@example.com'],
  );
  const { stdout } = await place.host(['sh', '-c', 'cat ~/.local/state/cordon/audit/*']);
  assert.match(stdout, /--token/);
  assert.doesNotMatch(stdout, /hunter2/);
});

test('--ask editor runs under the window that has the folder open, or refuses in one line', async (t) => {
  const place = createPlace(t);
  const none = await place.cordon(['--ask', 'editor'], ['touch', 'ran']);
  assert.deepEqual({ code: none.code, stdout: none.stdout }, { code: 125, stdout: '' });
  assert.match(none.stderr, /^cordon: [^\n]+\n$/);
  const mixed = await place.cordon(['--ask', 'editor', '--network', 'on'], ['touch', 'ran']);
  assert.equal(mixed.code, 125);
  assert.match(mixed.stderr, /--ask editor .*--network/);
  assert.equal((await place.host(['ls'])).stdout, '');
});

test('warnings about settings without effect are lines on standard error, and the command runs', async (t) => {
  const place = createPlace(t);
  writeFileSync(
    path.join(place.workspace, '.cordon.json'),
    JSON.stringify({ network: { allow: ['example.com'] } }),
  );
  const { code, stdout, stderr } = await place.cordon([], ['echo', 'ran']);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'ran\n' });
  assert.match(stderr, /^cordon: .*network\.allow\[0\] has no effect[^\n]*\n$/);
});

test('--events appends, and is written for its owner alone', async (t) => {
  const place = createPlace(t);
  const file = path.join(place.folder, 'events.jsonl');
  await place.cordon(['--events', file], ['true']);
  const first = readFileSync(file, 'utf8');
  await place.cordon(['--events', file], ['true']);
  assert.ok(readFileSync(file, 'utf8').startsWith(first));
  assert.equal((await place.host(['stat', '-c', '%a', file])).stdout, '600\n');
});
