import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { compiled, cordonCommand, createPlace } from '../support/sandbox.js';
import { openScreen } from '../support/screen.js';
import type { Place } from '../support/sandbox.js';

const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');

/** Both ways to a terminal: the person's own, and the relay that `--ask tty` brings. */
const WAYS = ['deny', 'tty'] as const;

/** A short name for what is typed, so that the screen holds it on one line. */
function aliases(place: Place): Readonly<Record<string, string>> {
  const file = path.join(place.home, 'c');
  writeFileSync(
    file,
    `#!/bin/sh\nask=$1; shift; exec "${process.execPath}" "${cli}" run --ask "$ask" -- "$@"\n`,
    {
      mode: 0o755,
    },
  );
  return { PATH: `${place.home}:${place.environment['PATH'] ?? ''}` };
}

for (const ask of WAYS) {
  test(`Ctrl-C ends the command and not the shell around it (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(`c ${ask} sh -c 'echo started; sleep 100'; echo "code $?"\n`);
    await screen.shows(/^started$/m);
    screen.press('C-c');
    await screen.shows(/^\^?C?\s*code 130$/m);
    screen.type('echo alive\n');
    await screen.shows(/^alive$/m);
  });

  test(`a command that handles Ctrl-C goes on (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(`c ${ask} bash -c 'trap "echo caught" INT; echo started; read x; echo "got $x"'\n`);
    await screen.shows(/^started$/m);
    screen.press('C-c');
    await screen.shows(/^(\^C)?caught$/m);
    screen.type('line\n');
    await screen.shows(/^got (line)?$/m);
  });

  test(`Ctrl-\\ quits the command with code 131 (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(`ulimit -c 0; c ${ask} sh -c 'echo started; exec sleep 100'; echo "code $?"\n`);
    await screen.shows(/^started$/m);
    screen.press('C-\\');
    await screen.shows(/code 131$/m);
  });

  test(`Ctrl-Z stops the run, the shell gets its terminal back, fg goes on (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(`c ${ask} sh -c 'echo started; read x; echo "got $x"'\n`);
    await screen.shows(/^started$/m);
    screen.press('C-z');
    await screen.shows(/Stopped/);
    screen.type('echo between; stty -a | grep -c " icanon"\n');
    await screen.shows(/^between\n1$/m);
    screen.type('fg\n');
    await screen.shows(/^c .*read x/m);
    screen.type('line\n');
    await screen.shows(/^got line$/m);
  });

  test(`an interactive shell inside has job control of its own (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(`c ${ask} bash --noprofile --norc -i\n`);
    await screen.shows(/^bash-[\d.]+\$$/m);
    screen.type('PS1="inside> "\n');
    await screen.shows(/^inside>$/m);
    assert.doesNotMatch(screen.text(), /no job control|cannot set terminal process group/);
    screen.type("sh -c 'echo going; exec sleep 100'\n");
    await screen.shows(/^going$/m);
    screen.press('C-z');
    await screen.shows(/^\[1\]\+ +Stopped/m);
    screen.type('bg; jobs; kill %1; wait; echo over\n');
    await screen.shows(/^over$/m);
    screen.type("sh -c 'echo again; exec cat'\n");
    await screen.shows(/^again$/m);
    screen.press('C-c');
    await screen.shows(/\ninside>$/); // before that the terminal may still drop what is typed
    screen.type('tty; exit 5\n');
    await screen.shows(/^\/dev\/(pts\/\d+|console)$/m);
    screen.type('echo "code $?"\n');
    await screen.shows(/^code 5$/m);
  });

  test(`the window’s size arrives, at the start and after a change (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(
      `c ${ask} bash -c 'stty size; trap "stty size" WINCH; echo started; while [ ! -e stop ]; do sleep 0.1; done'\n`,
    );
    await screen.shows(/^30 100\nstarted$/m);
    screen.resize(90, 20);
    await screen.shows(/^20 90$/m);
    writeFileSync(path.join(place.workspace, 'stop'), '');
    await screen.shows(/\$$/);
  });

  test(`vim and less work, and leave the terminal as it was (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    const settings = async (): Promise<string> => {
      screen.type('clear; stty -a | tail -n +2; echo end\n');
      return screen.shows(/^end$/m);
    };
    const before = await settings();
    screen.type(`clear; c ${ask} vi -u NONE text\n`);
    await screen.shows(/^~$/m);
    screen.type('ihello');
    screen.press('Escape');
    screen.type(':wq\n');
    await screen.shows(/\$$/);
    assert.equal(readFileSync(path.join(place.workspace, 'text'), 'utf8'), 'hello\n');
    screen.type(`clear; seq 200 | c ${ask} less\n`);
    await screen.shows(/^29\n:$/m);
    screen.press('Space');
    await screen.shows(/^58\n:$/m);
    screen.resize(80, 24);
    screen.type('g');
    await screen.shows(/^1\n/);
    screen.type('q');
    await screen.shows(/\$$/);
    screen.resize(100, 30);
    assert.equal(await settings(), before);
  });

  test(`/dev/tty opens, and is a terminal of the run’s own view (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    screen.type(
      `c ${ask} sh -c 'echo asked > /dev/tty; read x < /dev/tty; echo "got $x"' < /dev/null\n`,
    );
    await screen.shows(/^asked$/m);
    screen.type('line\n');
    await screen.shows(/^got line$/m);
  });

  test(`no program inside can type into the person’s terminal (--ask ${ask})`, async (t) => {
    const place = createPlace(t);
    const screen = openScreen(place, aliases(place));
    for (const attempt of ['tiocsti', 'tiocsti-high-bits', 'tioclinux']) {
      screen.type(`clear; c ${ask} ${compiled('breach')} ${attempt}; echo end\n`);
      const shown = await screen.shows(/^end$/m);
      assert.match(shown, /^(EPERM|EIO|ENOTTY)$/m);
    }
  });
}

test('a run in the background that reads the terminal stops, as any job does', async (t) => {
  const place = createPlace(t);
  const screen = openScreen(place, aliases(place));
  screen.type(`c deny sh -c 'read x; echo "got $x"' &\n`);
  await screen.shows(/^\[1\] \d+$/m);
  screen.type('sleep 1; jobs\n');
  await screen.shows(/Stopped/);
  screen.type('fg\n');
  screen.type('line\n');
  await screen.shows(/^got line$/m);
});

test('without a terminal nothing changes: no session of its own, no relay', async (t) => {
  const place = createPlace(t);
  const command = cordonCommand(['--ask', 'tty'], [compiled('breach'), 'open', '/dev/tty']);
  const { stdout, stderr } = await place.host(['setsid', '-w', ...command]);
  assert.equal(stdout, 'ENXIO\n');
  assert.match(stderr, /^cordon: [^\n]*no terminal[^\n]*\n$/);
});
