import assert from 'node:assert/strict';
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { attemptInside, attemptOutside } from '../support/breaches.js';
import { createPlace } from '../support/sandbox.js';
import type { Attempt } from '../support/breaches.js';
import type { Place } from '../support/sandbox.js';

/** One file for each place that the policy must know without being told. */
const SECRETS = [
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.gnupg/private-keys-v1.d/key',
  '.config/gcloud/credentials.db',
  '.azure/accessTokens.json',
  '.kube/config',
  '.docker/config.json',
  '.netrc',
  '.pypirc',
  '.git-credentials',
  '.config/gh/hosts.yml',
  '.mozilla/firefox/x.default/logins.json',
  '.config/google-chrome/Default/Login Data',
  '.config/chromium/Default/Cookies',
];

function writeSecrets(place: Place): void {
  for (const name of SECRETS) {
    const file = path.join(place.home, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'SECRET\n');
  }
}

test('secrets in the home folder are not readable, on no way to them', async (t) => {
  const place = createPlace(t);
  writeSecrets(place);
  symlinkSync(path.join(place.home, '.ssh'), path.join(place.workspace, 'link'));
  const attempts: readonly Attempt[] = [
    ...SECRETS.flatMap((name): readonly Attempt[] => [
      ['read', path.join(place.home, name)],
      ['read', `/proc/self/root${path.join(place.home, name)}`],
      ['link', path.join(place.home, name), path.join(place.workspace, 'hard')],
    ]),
    ['read', path.join(place.workspace, 'link/id_ed25519')],
    ['read', '../.ssh/id_ed25519'],
    ['write', path.join(place.home, '.ssh/authorized_keys')],
    ['rename', path.join(place.home, '.ssh'), path.join(place.workspace, 'taken')],
  ];
  const outcomes = await attemptInside(place, [], attempts);
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
  const outside = await attemptOutside(
    place,
    SECRETS.map((name): Attempt => ['read', path.join(place.home, name)]),
  );
  assert.deepEqual(
    Object.values(outside).filter((outcome) => outcome !== 'done'),
    [],
    'they can be read on the host',
  );
});

test('names in closed places are seen, and hidden when the user wants that', async (t) => {
  const place = createPlace(t);
  writeSecrets(place);
  const list = ['sh', '-c', 'ls ~/.ssh ~/.aws; stat -c %s ~/.ssh/id_ed25519; exit 0'];
  const shown = await place.cordon([], list);
  assert.equal(
    shown.stdout.replaceAll(place.home, '~'),
    '~/.aws:\ncredentials\n\n~/.ssh:\nid_ed25519\n7\n',
  );
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ filesystem: { hideNames: true } }),
  );
  const hidden = await place.cordon([], list);
  assert.doesNotMatch(hidden.stdout, /id_ed25519|credentials|7/);
});

test('an exception of the user’s opens one file of a closed place and no other', async (t) => {
  const place = createPlace(t);
  writeSecrets(place);
  writeFileSync(path.join(place.home, '.ssh/config'), 'Host x\n');
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ filesystem: { denyRead: ['!~/.ssh/config'] } }),
  );
  const { stdout, stderr } = await place.cordon(
    [],
    ['sh', '-c', 'cat ~/.ssh/config ~/.ssh/id_ed25519; echo x > ~/.ssh/config; exit 0'],
  );
  assert.equal(stdout, 'Host x\n', stderr);
  assert.equal(readFileSync(path.join(place.home, '.ssh/config'), 'utf8'), 'Host x\n');
});

test('with --read roots nothing is read but roots, the system and tool chains', async (t) => {
  const place = createPlace(t);
  writeSecrets(place);
  writeFileSync(path.join(place.home, 'notes'), 'SECRET\n');
  writeFileSync(path.join(place.workspace, 'mine'), 'mine\n');
  writeFileSync(path.join(place.home, '.gitconfig'), '[user]\n\tname = Somebody\n');
  const script = [
    'cat mine; git config user.name; head -c 4 /etc/hostname >/dev/null && echo system',
    'cat ~/notes ../outside/file ~/.ssh/id_ed25519; echo made > new; cat new; exit 0',
  ].join('; ');
  const { stdout, stderr } = await place.cordon(['--read', 'roots'], ['sh', '-c', script]);
  assert.equal(stdout, 'mine\nSomebody\nsystem\nmade\n', stderr);
});

test('git works although its credentials are hidden, and other files of the home are readable', async (t) => {
  const place = createPlace(t);
  writeSecrets(place);
  writeFileSync(path.join(place.home, '.gitconfig'), '[user]\n\tname = Somebody\n');
  writeFileSync(path.join(place.home, 'notes'), 'notes\n');
  const result = await place.cordon(
    [],
    ['sh', '-c', 'git config user.name; cat ~/notes; cat ../outside/file'],
  );
  assert.deepEqual(
    { code: result.code, stdout: result.stdout },
    { code: 0, stdout: 'Somebody\nnotes\noriginal\n' },
  );
});

test('denyRead hides what the user names, inside writable roots too', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ filesystem: { denyRead: ['~/notes', '.env'] } }),
  );
  writeFileSync(path.join(place.home, 'notes'), 'SECRET\n');
  writeFileSync(path.join(place.workspace, '.env'), 'SECRET\n');
  const outcomes = await attemptInside(
    place,
    [],
    [
      ['read', path.join(place.home, 'notes')],
      ['read', path.join(place.workspace, '.env')],
      ['unlink', path.join(place.workspace, '.env')],
      ['rename', path.join(place.workspace, '.env'), path.join(place.workspace, 'moved')],
    ],
  );
  assert.deepEqual(
    Object.entries(outcomes).filter(([, outcome]) => outcome === 'done'),
    [],
  );
});

test('a closed file that appears while a command runs can be neither read nor moved to where it could', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ filesystem: { denyRead: ['.env'] } }),
  );
  const wait = 'until [ "$(stat -f -c %T .env 2>/dev/null)" = fuseblk ]; do sleep 0.1; done';
  const script = `echo ready; ${wait}; cat .env; mv .env moved; ln .env linked; cat moved linked; exit 0`;
  const running = place.start([], ['sh', '-c', script]);
  await running.said('ready');
  writeFileSync(path.join(place.workspace, 'draft'), 'SECRET\n');
  renameSync(path.join(place.workspace, 'draft'), path.join(place.workspace, '.env'));
  const { code, stdout } = await running.finished;
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'ready\n' });
  assert.deepEqual(readdirSync(place.workspace).sort(), ['.env', '.git']);
});

test('tokens and agents leave the environment, everything else stays as it is', async (t) => {
  const place = createPlace(t);
  const secret = {
    GITHUB_TOKEN: 's3cret',
    NPM_TOKEN: 's3cret',
    AWS_SECRET_ACCESS_KEY: 's3cret',
    AWS_SESSION_TOKEN: 's3cret',
    OPENAI_API_KEY: 's3cret',
    ANTHROPIC_API_KEY: 's3cret',
    DATABASE_PASSWORD: 's3cret',
    MY_SECRET: 's3cret',
    GPG_AGENT_INFO: '/s3cret',
    DOCKER_HOST: 'unix:///s3cret',
  };
  const plain = { EDITOR: 'vi', TERM: 'xterm', ODD: 'a=b c\n"d"', EMPTY: '', KEYBOARD: 'de' };
  const result = await place.cordon([], ['env', '-0'], { environment: { ...secret, ...plain } });
  const inside = Object.fromEntries(
    result.stdout
      .split('\0')
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
  assert.equal(result.code, 0, result.stderr);
  assert.deepEqual(
    Object.keys(secret).filter((name) => name in inside),
    [],
  );
  assert.ok(!result.stdout.includes('s3cret'));
  for (const [name, value] of Object.entries(plain)) assert.equal(inside[name], value, name);
  assert.equal(inside['HOME'], place.home);
  assert.equal('CORDON_BROKER' in inside, false);
  const memory = await place.cordon([], ['sh', '-c', 'cat /proc/*/environ | grep -c s3cret'], {
    environment: secret,
  });
  assert.equal(memory.stdout, '0\n', 'no process in sight holds them either');
});

test('the ssh-agent’s variable stays, unless agents are off', async (t) => {
  const place = createPlace(t);
  const environment = { SSH_AUTH_SOCK: '/run/nobody/agent' };
  const say = ['sh', '-c', 'echo "[$SSH_AUTH_SOCK]"'];
  assert.equal((await place.cordon([], say, { environment })).stdout, '[/run/nobody/agent]\n');
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ sockets: { agents: 'off' } }),
  );
  assert.equal((await place.cordon([], say, { environment })).stdout, '[]\n');
});

test('a variable that the user keeps is kept', async (t) => {
  const place = createPlace(t);
  mkdirSync(path.join(place.home, '.config/cordon'), { recursive: true });
  writeFileSync(
    path.join(place.home, '.config/cordon/settings.json'),
    JSON.stringify({ environment: { keep: ['NPM_TOKEN'], drop: ['EDITOR'] } }),
  );
  const { stdout } = await place.cordon(
    [],
    ['sh', '-c', 'echo "$NPM_TOKEN,$EDITOR,$GITHUB_TOKEN"'],
    {
      environment: { NPM_TOKEN: 'n', EDITOR: 'vi', GITHUB_TOKEN: 'g' },
    },
  );
  assert.equal(stdout, 'n,,\n');
});
