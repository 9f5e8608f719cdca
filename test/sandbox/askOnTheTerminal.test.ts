import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPlace } from '../support/sandbox.js';
import { openScreen } from '../support/screen.js';
import type { AddressInfo } from 'node:net';
import type { Place } from '../support/sandbox.js';
import type { Screen } from '../support/screen.js';
import type { TestContext } from 'node:test';

const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
const QUESTION = /cordon: curl \(\d+\) wants to reach [0-9a-f.:[\]]+:\d+/;
const CHOICES = /^cordon: \(o\)nce, \(r\)un.*details:$/m;

interface Stage {
  readonly place: Place;
  readonly screen: Screen;
  readonly url: string;
  readonly target: string;
  readonly visits: () => number;
}

/** A web server at an address of this host that is not loopback, and a terminal with `c` for `cordon run --ask tty`. */
async function setStage(t: TestContext): Promise<Stage> {
  const place = createPlace(t);
  let visits = 0;
  const server = createServer((_, response) => {
    visits += 1;
    response.end('hello from outside\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  assert.ok(address !== undefined, 'this host has an address besides loopback');
  const { port } = server.address() as AddressInfo;
  writeFileSync(
    path.join(place.home, 'c'),
    `#!/bin/sh\nexec "${process.execPath}" "${cli}" run --ask tty "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const screen = openScreen(place, { PATH: `${place.home}:${place.environment['PATH'] ?? ''}` });
  return {
    place,
    screen,
    url: `http://${address}:${port}/`,
    target: `${address}:${port}`,
    visits: () => visits,
  };
}

test('a held connection asks on the terminal, and once lets exactly one through', async (t) => {
  const { screen, url, visits } = await setStage(t);
  screen.type(`c -- sh -c 'curl -s ${url}; curl -s ${url} || echo refused'\n`);
  await screen.shows(QUESTION);
  await screen.shows(CHOICES);
  assert.equal(visits(), 0, 'nothing goes out while it is asked');
  screen.type('o\n');
  await screen.shows(/^hello from outside$/m);
  await screen.shows(CHOICES);
  screen.type('d\n');
  await screen.shows(/^refused$/m);
  assert.equal(visits(), 1);
});

test('an answer for the run holds for the run, and for no other', async (t) => {
  const { screen, url, visits } = await setStage(t);
  screen.type(`c -- sh -c 'curl -s ${url}; curl -s ${url}; echo over'\n`);
  await screen.shows(CHOICES);
  screen.type('r\n');
  await screen.shows(/^over$/m);
  assert.equal(visits(), 2);
  screen.type(`clear; c -- curl -s ${url}\n`);
  await screen.shows(CHOICES);
  screen.type('deny\n');
  await screen.shows(/^cordon: denied: curl to .*you denied it/m);
  assert.equal(visits(), 2);
});

test('always is written to the user’s settings and asks no more; the workspace’s are not touched', async (t) => {
  const { place, screen, url, target, visits } = await setStage(t);
  const settings = path.join(place.home, '.config/cordon/settings.json');
  mkdirSync(path.dirname(settings), { recursive: true });
  writeFileSync(
    settings,
    JSON.stringify({ environment: { drop: ['X'] }, network: { allow: ['example.org'] } }),
  );
  screen.type(`c -- curl -s ${url}\n`);
  await screen.shows(CHOICES);
  screen.type('a\n');
  await screen.shows(/^hello from outside$/m);
  await screen.shows(/\$$/);
  assert.deepEqual(JSON.parse(readFileSync(settings, 'utf8')), {
    environment: { drop: ['X'] },
    network: { allow: ['example.org', target] },
  });
  assert.equal(existsSync(path.join(place.workspace, '.cordon.json')), false);
  screen.type(`clear; c -- curl -s ${url}; echo over\n`);
  assert.doesNotMatch(await screen.shows(/^over$/m), /wants to reach/);
  assert.equal(visits(), 2);
});

test('details show program, command, folder and rule, and ask again', async (t) => {
  const { place, screen, url } = await setStage(t);
  screen.type(`c -- sh -c 'curl -s ${url}; true'\n`);
  await screen.shows(CHOICES);
  screen.type('?\n');
  const shown = await screen.shows(/asked because/);
  assert.match(shown, /program +\S*\/curl \(\d+\)/);
  assert.match(shown, /by +curl \(\d+\) < sh \(\d+\)/);
  assert.ok(shown.includes(place.workspace.slice(0, 60)));
  await screen.shows(new RegExp(`asked because[^]*${CHOICES.source}`, 'm'));
  screen.type('d\n');
  await screen.shows(/\$$/);
});

test('what was typed before the question is not an answer, and neither is half a word', async (t) => {
  const { screen, url, visits } = await setStage(t);
  screen.type(`c -- sh -c 'sleep 1; curl -s ${url} || echo refused'\n`);
  screen.type('a\na\na\n'); // typed ahead, for the program
  await screen.shows(CHOICES);
  screen.type('yarn\n');
  screen.type('\n');
  await screen.shows(new RegExp(`yarn\n.*${CHOICES.source}`, 'm'));
  assert.equal(visits(), 0);
  screen.type('d\n');
  await screen.shows(/^refused$/m);
  assert.equal(visits(), 0);
});

test('the program inside can neither answer the question nor draw over it while it stands', async (t) => {
  const { place, screen, url, visits } = await setStage(t);
  const script = `
    (while :; do printf 'a\\na\\n' > /dev/tty; printf '\\033[2J\\033[Hfake: all is well' > /dev/tty; sleep 0.05; done) & noise=$!
    (sleep 1.5; printf 'a\\n' > /proc/$PPID/fd/0; printf 'a\\n' | tee /dev/tty /proc/1/fd/0 /dev/pts/*) 2>/dev/null &
    curl -s ${url} || echo > refused; kill $noise`;
  writeFileSync(path.join(place.workspace, 'attack'), script);
  screen.type('c -- sh attack\n');
  await screen.shows(CHOICES);
  const first = screen.text().slice(-CHOICES.source.length);
  await sleep(3000); // the attack goes on all the while
  assert.match(screen.text(), CHOICES, 'the question still stands, with nothing over it');
  assert.ok(screen.text().endsWith(first.trimEnd()));
  assert.equal(visits(), 0);
  screen.type('d\n');
  await sleep(500);
  assert.equal(visits(), 0);
});

test('names and arguments of programs cannot forge lines of the question', async (t) => {
  const { place, screen, url } = await setStage(t);
  const evil = '\x1b[2Jx\ncordon: safe\u202e';
  writeFileSync(
    path.join(place.workspace, 'run'),
    `ln -s /usr/bin/curl "$1"; PATH=".:$PATH" exec "$1" -s ${url}\n`,
  );
  screen.type(`c -- sh run $'\\x1b[2Jx\\ncordon: safe\\u202e'\n`);
  const shown = await screen.shows(CHOICES);
  assert.doesNotMatch(shown, /^cordon: safe/m);
  assert.ok(!shown.includes(evil));
  screen.type('d\n');
  await screen.shows(/\$$/);
});

test('Ctrl-C at the question denies it', async (t) => {
  const { screen, url, visits } = await setStage(t);
  screen.type(`c -- sh -c 'curl -s ${url} || echo refused'\n`);
  await screen.shows(CHOICES);
  screen.press('C-c');
  await screen.shows(/^refused$/m);
  assert.equal(visits(), 0);
});

test('a question whose program dies is taken down, and the terminal goes on', async (t) => {
  const { screen, url, visits } = await setStage(t);
  screen.type(
    `c -- sh -c 'curl -s ${url} & sleep 2; kill -9 $!; wait; echo back; read x; echo "got $x"'\n`,
  );
  await screen.shows(CHOICES);
  await screen.shows(/^cordon: the question is over$/m);
  await screen.shows(/^back$/m);
  screen.type('line\n');
  await screen.shows(/^got line$/m);
  assert.equal(visits(), 0);
});

test('two questions come one after the other', async (t) => {
  const { screen, url } = await setStage(t);
  const second = url.replace(/:(\d+)\//, ':1/');
  screen.type(`c -- sh -c 'curl -s ${url} & curl -s ${second} & wait; echo over'\n`);
  await screen.shows(CHOICES);
  assert.equal(screen.text().match(/wants to reach/g)?.length, 1);
  screen.type('d\n');
  await screen.shows(/wants to reach[^]*wants to reach[^]*details:$/);
  screen.type('d\n');
  await screen.shows(/^over$/m);
});

test('a denial meanwhile does not disturb the question; its line comes after the answer', async (t) => {
  const { place, screen, url } = await setStage(t);
  writeFileSync(
    path.join(place.workspace, 'both'),
    `curl -s ${url} & sleep 0.5; curl -s http://192.0.2.99:7/; touch denied; wait; echo over\n`,
  );
  screen.type('c --deny 192.0.2.99 -- sh both\n');
  await screen.shows(CHOICES);
  while (!existsSync(path.join(place.workspace, 'denied'))) await sleep(20);
  assert.match(screen.text(), /details:$/, 'nothing stands behind the question');
  screen.type('d\n');
  await screen.shows(/^cordon: denied: curl to 192\.0\.2\.99:7 [^]*^over$/m);
});
