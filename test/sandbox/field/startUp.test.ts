// Reported failures of other sandboxes at their start, each with the outcome that is right. Ids are of the field notes.

import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { cordonCommand, createPlace } from '../../support/sandbox.js';
import type { Place } from '../../support/sandbox.js';

const REPOSITORY = path.resolve(import.meta.dirname, '../../..');
/** Exit code of a run whose boundary could not be set up. */
const REFUSED = 125;

/** Writes inside and outside the workspace; `confined` only when exactly the first worked. */
const CONFINED = [
  'sh',
  '-c',
  '(echo x > inside && ! echo x > "$0/written") 2>/dev/null && echo confined',
];

function confined(place: Place): readonly string[] {
  return [...CONFINED, place.outside];
}

function assertNothingWritten(place: Place): void {
  assert.equal(existsSync(path.join(place.outside, 'written')), false);
}

test('C003 starts and confines with empty capability sets and no_new_privs', async (t) => {
  const place = createPlace(t);
  const { uid, gid } = os.userInfo();
  const { stdout, stderr } = await place.host([
    ...['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--keep-caps', '--'],
    ...[
      'setpriv',
      '--no-new-privs',
      '--bounding-set=-all',
      '--inh-caps=-all',
      '--ambient-caps=-all',
    ],
    ...cordonCommand([], confined(place)),
  ]);
  assert.equal(stdout, 'confined\n', stderr);
  assertNothingWritten(place);
});

test('C004 nothing has to be installed: the first command runs confined with an empty PATH', async (t) => {
  const place = createPlace(t);
  const [shell, ...words] = confined(place);
  const { stdout, stderr } = await place.cordon([], [`/bin/${shell ?? ''}`, ...words], {
    environment: { PATH: '' },
  });
  assert.equal(stdout, 'confined\n', stderr);
  assertNothingWritten(place);
});

describe('C006 a start that cannot work ends within five seconds with the reason:', () => {
  test('where user namespaces are used up', async (t) => {
    const place = createPlace(t);
    const begun = Date.now();
    const { code, stdout, stderr } = await place.host([
      ...['unshare', '--user', '--map-root-user', '--', 'sh', '-c'],
      ...['echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'],
      ...cordonCommand([], confined(place)),
    ]);
    assert.ok(Date.now() - begun < 5000);
    assert.deepEqual({ code, stdout }, { code: REFUSED, stdout: '' });
    assert.match(stderr, /user namespace/u);
    assertNothingWritten(place);
  });

  test('inside another run of Cordon', async (t) => {
    const place = createPlace(t);
    const begun = Date.now();
    const { code, stdout, stderr } = await place.cordon([], cordonCommand([], confined(place)));
    assert.ok(Date.now() - begun < 5000);
    assert.ok(stdout === 'confined\n' || (code === REFUSED && stderr !== ''), stderr);
    assertNothingWritten(place);
  });
});

describe('C008 the working directory is kept:', () => {
  const inside = async (place: Place, cwd: string, flags: readonly string[] = []) => {
    const { stdout, stderr } = await place.cordon(
      flags,
      ['sh', '-c', 'pwd -P; git rev-parse --show-toplevel'],
      { cwd },
    );
    assert.equal(stderr, '');
    return stdout.split('\n').slice(0, 2);
  };

  test('a sub-folder, on a path with spaces', async (t) => {
    const place = createPlace(t);
    const folder = path.join(place.workspace, 'a folder', 'with  spaces ');
    mkdirSync(folder, { recursive: true });
    assert.deepEqual(await inside(place, folder, ['--root', place.workspace]), [
      folder,
      place.workspace,
    ]);
  });

  test('a directory reached through a symbolic link', async (t) => {
    const place = createPlace(t);
    const link = path.join(place.home, 'link');
    symlinkSync(place.workspace, link);
    assert.deepEqual(await inside(place, link), [place.workspace, place.workspace]);
  });
});

test('C009 works when it is itself started inside user namespaces, two deep', async (t) => {
  const place = createPlace(t);
  const namespace = ['unshare', '--user', '--map-root-user', '--mount', '--'];
  const { stdout, stderr } = await place.host([
    ...namespace,
    ...namespace,
    ...cordonCommand([], confined(place)),
  ]);
  assert.equal(stdout, 'confined\n', stderr);
  assertNothingWritten(place);
});

test('C010 start time depends neither on the number of closed places nor on the number of files', async (t) => {
  const place = createPlace(t);
  for (let folder = 0; folder < 30; folder += 1) {
    const at = path.join(place.workspace, `folder${folder}`);
    mkdirSync(at);
    for (let file = 0; file < 1000; file += 1) writeFileSync(path.join(at, `${file}.env`), '');
  }
  const closed = Array.from({ length: 40 }, (_, at) => `folder${at}/${at}.env`);
  const policy = path.join(place.folder, 'policy.json');
  writeFileSync(policy, JSON.stringify({ filesystem: { denyRead: closed } }));

  /** Milliseconds of processor time, own and of the kernel: other work on this machine does not count. */
  const cost = async (flags: readonly string[], cwd: string) => {
    const { code, stdout } = await place.host(
      [
        'bash',
        '-c',
        '"$@"; status=$?; times; exit $status',
        'bash',
        ...cordonCommand(flags, ['true']),
      ],
      { cwd },
    );
    assert.equal(code, 0);
    const [user = 0, system = 0] = [
      ...(stdout.split('\n')[1] ?? '').matchAll(/(\d+)m([\d.]+)s/gu),
    ].map(([, minutes, seconds]) => Number(minutes) * 60_000 + Number(seconds) * 1000);
    return user + system;
  };
  const costs = { empty: Infinity, full: Infinity, closed: Infinity };
  for (let round = 0; round < 8; round += 1) {
    costs.empty = Math.min(costs.empty, await cost([], place.outside));
    costs.full = Math.min(costs.full, await cost([], place.workspace));
    costs.closed = Math.min(costs.closed, await cost(['--policy', policy], place.workspace));
  }
  // 20 ms is what they may cost, 10 what the clock is worth; where it went wrong it was a second and more for each place
  assert.ok(costs.full - costs.empty < 30, `30,000 files: ${JSON.stringify(costs)}`);
  assert.ok(costs.closed - costs.full < 30, `40 closed places: ${JSON.stringify(costs)}`);
});

describe('C011 TMPDIR is there, writable and private:', () => {
  const TRY =
    'test -d "${TMPDIR:-/tmp}" && file=$(mktemp) && echo mine > "$file" && cat "$file" && echo "$file"';

  for (const [name, TMPDIR] of [
    ['unset', undefined],
    ['set to a folder that is not there', '/nowhere/at/all'],
    ['set to a folder that is read-only inside', '/usr'],
  ] as const) {
    test(name, async (t) => {
      const place = createPlace(t);
      const { stdout, stderr } = await place.cordon([], ['sh', '-c', TRY], {
        environment: { TMPDIR },
      });
      const [said, file = ''] = stdout.split('\n');
      assert.equal(said, 'mine', stderr);
      assert.equal(existsSync(file), false);
    });
  }
});

test('C012 an alias of the root file system stops no start and opens no closed place', async (t) => {
  const place = createPlace(t);
  const alias = path.join(place.folder, 'alias');
  mkdirSync(alias);
  mkdirSync(path.join(place.home, '.ssh'));
  writeFileSync(path.join(place.home, '.ssh/id_ed25519'), 'SECRET\n');
  writeFileSync(path.join(place.workspace, '.envrc'), 'original\n');
  const through = (name: string) => path.join(alias, name);
  const script = `
    cat "${through(path.join(place.home, '.ssh/id_ed25519'))}"
    echo written > "${through(path.join(place.outside, 'file'))}"
    echo written > "${through(path.join(place.workspace, '.envrc'))}"
    echo started`;
  const { stdout, stderr } = await place.host([
    ...['unshare', '--user', '--map-root-user', '--mount', '--', 'sh', '-c'],
    ...['mount --rbind / "$0" && exec "$@"', alias],
    ...cordonCommand([], ['sh', '-c', script]),
  ]);
  assert.equal(stdout, 'started\n', stderr);
  const { stdout: kept } = await place.host(['cat', '../outside/file', '.envrc']);
  assert.equal(kept, 'original\noriginal\n');
});

describe('C014 a missing or broken part of its own is a refusal, never a run without limits:', () => {
  /** A copy of what is installed, for damage. */
  function copy(place: Place): { readonly cli: string; readonly launcher: string } {
    const dist = path.join(place.folder, 'dist');
    cpSync(path.join(REPOSITORY, 'dist'), dist, { recursive: true });
    chmodSync(dist, 0o755);
    return {
      cli: path.join(dist, 'cli.js'),
      launcher: path.join(dist, `native/linux-${process.arch}/cordon-launch`),
    };
  }
  const cases: readonly (readonly [name: string, damage: (launcher: string) => void])[] = [
    ['missing', (launcher) => rmSync(launcher)],
    ['not executable', (launcher) => chmodSync(launcher, 0o644)],
    ['empty', (launcher) => truncateSync(launcher, 0)],
    ['cut short', (launcher) => truncateSync(launcher, 20_000)],
    ['another program', (launcher) => {
      rmSync(launcher);
      cpSync('/bin/true', launcher);
    }],
    ['a script that runs its arguments', (launcher) => {
      rmSync(launcher);
      writeFileSync(launcher, '#!/bin/sh\nshift; exec "$@"\n', { mode: 0o755 });
    }],
  ]; // prettier-ignore
  for (const [name, damage] of cases) {
    test(name, async (t) => {
      const place = createPlace(t);
      const { cli, launcher } = copy(place);
      damage(launcher);
      const { code, stdout, stderr } = await place.host([
        process.execPath, cli, 'run', '--', 'sh', '-c', 'echo ran; echo x > ran',
      ]); // prettier-ignore
      assert.deepEqual({ code, stdout }, { code: REFUSED, stdout: '' });
      assert.match(stderr, /cordon: /u);
      assert.equal(existsSync(path.join(place.workspace, 'ran')), false);
    });
  }
});
