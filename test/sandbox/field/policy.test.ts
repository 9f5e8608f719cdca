// Reported failures of settings and rules: without effect, swallowed, or depending on who asks. And secrets that were open.

import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createWorld } from '../../support/netns.js';
import { createPlace } from '../../support/sandbox.js';
import type { World } from '../../support/netns.js';
import type { Place } from '../../support/sandbox.js';

const REFUSED = 125;

function writeHome(place: Place, name: string, text: string): void {
  const file = path.join(place.home, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const userSettings = (place: Place, settings: unknown) => {
  writeHome(place, '.config/cordon/settings.json', JSON.stringify(settings, undefined, 2));
};

describe('C054 credentials are closed although almost everything can be read:', () => {
  const closed = [
    '.ssh/id_ed25519',
    '.gnupg/private-keys-v1.d/k',
    '.aws/credentials',
    '.config/gcloud/c.db',
    '.kube/config',
    '.netrc',
    '.mozilla/firefox/p/logins.json',
    '.config/chromium/Default/Cookies',
    '.docker/config.json',
  ];
  for (const name of closed) {
    test(name, async (t) => {
      const place = createPlace(t);
      writeHome(place, name, 'SECRET\n');
      writeHome(place, '.config/other/settings', 'open\n');
      const { stdout } = await place.cordon([], [
        'sh', '-c', 'cat "$HOME/.config/other/settings" "$HOME/$0"; cp "$HOME/$0" copy; cat copy; true', name,
      ]); // prettier-ignore
      assert.equal(stdout, 'open\n');
    });
  }
});

describe('C057 variables that look like secrets', () => {
  const secrets = {
    API_KEY: 'value-1',
    GITHUB_TOKEN: 'value-2',
    AWS_SECRET_ACCESS_KEY: 'value-3',
    DB_PASSWORD: 'value-4',
  };
  const harmless = { EDITOR: 'vi', KEYBOARD: 'de', TOKENIZERS_PARALLELISM: 'false' };
  const environment = { ...secrets, ...harmless };
  const names = (stdout: string) => stdout.split('\n').map((line) => line.split('=')[0]);

  test('do not reach the command; others do', async (t) => {
    const place = createPlace(t);
    const { stdout } = await place.cordon([], ['env'], { environment });
    assert.doesNotMatch(stdout, /value-\d/u);
    for (const name of Object.keys(harmless)) assert.ok(names(stdout).includes(name), name);
  });

  test('are let in one by one', async (t) => {
    const place = createPlace(t);
    userSettings(place, { environment: { keep: ['GITHUB_TOKEN'] } });
    const { stdout } = await place.cordon([], ['env'], { environment });
    assert.deepEqual(stdout.match(/value-\d/gu), ['value-2']);
  });

  test('are listed by name, never by value', async (t) => {
    const place = createPlace(t);
    const { stdout, stderr } = await place.face(['plan'], { environment });
    assert.doesNotMatch(stdout + stderr, /value-\d/u);
    assert.match(stdout, /GITHUB_TOKEN|\*_?TOKEN/u);
  });
});

describe('C058 every rule is shown with where it comes from:', () => {
  test('a host', async (t) => {
    const place = createPlace(t);
    userSettings(place, { network: { deny: ['*.example.org'] } });
    const { stdout } = await place.face(['explain', 'web.example.org:443']);
    assert.match(stdout, /\*\.example\.org/u);
    assert.match(stdout, /settings\.json/u);
  });

  test('a path', async (t) => {
    const place = createPlace(t);
    userSettings(place, { filesystem: { denyRead: ['~/notes'] } });
    writeHome(place, 'notes/file', 'private\n');
    const { stdout } = await place.face(['explain', path.join(place.home, 'notes/file')]);
    assert.match(stdout, /notes/u);
    assert.match(stdout, /settings\.json/u);
    assert.equal((await place.cordon([], ['cat', path.join(place.home, 'notes/file')])).stdout, '');
  });

  test('one that cannot be enforced is an error', async (t) => {
    const place = createPlace(t);
    userSettings(place, { filesystem: { denyRead: ['**/*.env'] } });
    const { code, stdout, stderr } = await place.cordon([], ['echo', 'ran']);
    assert.deepEqual({ code, stdout }, { code: REFUSED, stdout: '' });
    assert.match(stderr, /\*\*\/\*\.env/u);
  });
});

describe('C059 a key that does not exist is an error with file, line and suggestion', () => {
  const cases = [
    {
      text: '{\n  "network": {\n    "alow": ["example.com"]\n  }\n}\n',
      key: 'alow',
      meant: 'allow',
      line: 3,
    },
    { text: '{\n  "filesytem": {}\n}\n', key: 'filesytem', meant: 'filesystem', line: 2 },
  ];
  for (const [where, write] of [
    [
      'in the settings of the user',
      (place: Place, text: string) => writeHome(place, '.config/cordon/settings.json', text),
    ],
    [
      'in the file of the workspace',
      (place: Place, text: string) =>
        writeFileSync(path.join(place.workspace, '.cordon.json'), text),
    ],
  ] as const) {
    for (const { text, key, meant, line } of cases) {
      test(`${where}: ${key}`, async (t) => {
        const place = createPlace(t);
        write(place, text);
        const { code, stdout, stderr } = await place.cordon([], ['echo', 'ran']);
        assert.deepEqual({ code, stdout }, { code: REFUSED, stdout: '' });
        assert.match(stderr, new RegExp(`${key}.*${meant}`, 'u'));
        assert.match(stderr, new RegExp(`\\.json:${line}\\b`, 'u'));
      });
    }
  }
});

test('C060 the same access has the same answer, whichever program, wrapper or spelling makes it', async (t) => {
  const place = createPlace(t);
  writeHome(place, '.ssh/id_ed25519', 'SECRET\n');
  symlinkSync(path.join(place.home, '.ssh'), path.join(place.workspace, 'link'));
  mkdirSync(path.join(place.workspace, 'bin'));
  symlinkSync('/usr/bin/cat', path.join(place.workspace, 'bin/git'));
  const secret = '$HOME/.ssh/id_ed25519';
  const ways = [
    `cat "${secret}"`,
    `./bin/git "${secret}"`,
    `env cat "${secret}"`,
    `python3 -c "print(open('${secret}').read())"`,
    `env python3 -c "print(open('${secret}').read())"`,
    `perl -pe1 "${secret}"`,
    `node -p "require('fs').readFileSync('${secret}', 'utf8')"`,
    `read -r line < "${secret}" && echo "$line"`,
    'cat link/id_ed25519',
    'cat ../.ssh/id_ed25519',
    'cat ./../workspace/../.ssh//id_ed25519',
    `cd "$HOME/.ssh" && cat id_ed25519`,
    `git diff --no-index /dev/null "${secret}"`,
    `tar cf - "${secret}" | tar xOf -`,
    `busybox cat "${secret}"`,
    `grep -r . "$HOME/.ssh"`,
  ];
  for (const way of ways) {
    const { stdout } = await place.cordon([], ['bash', '-c', way]);
    assert.doesNotMatch(stdout, /SECRET/u, way);
    assert.match(
      (await place.host(['bash', '-c', way])).stdout,
      /SECRET/u,
      `without the sandbox: ${way}`,
    );
  }
});

describe('C061 an approval opens what was approved and nothing else', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  test('while deny rules stand', async () => {
    const policy = path.join(world.folder, 'policy.json');
    writeFileSync(path.join(world.home, 'notes'), 'private\n');
    writeFileSync(
      policy,
      JSON.stringify({ filesystem: { denyRead: [path.join(world.home, 'notes')] } }),
    );
    const { stdout, questions } = await world.answering(
      'r', 0,
      ['--policy', policy, '--deny', 'api.example.com'],
      ['sh', '-c', 'for host in web api; do curl -sS "http://$host.example.com/hello" && echo "reached $host"; done; cat "$HOME/notes"'],
    ); // prettier-ignore
    assert.match(stdout, /^reached web\r?$/mu);
    assert.doesNotMatch(stdout, /reached api/u);
    assert.equal(questions, 2, 'the closed file is asked about by itself');
  });
});

describe('C062 what the settings accept is in force, all else is rejected:', () => {
  for (const [key, settings] of [
    ['limits', { limits: { memory: '1G' } }],
    ['network.listen', { network: { listen: 'sometimes' } }],
    ['filesystem.read', { filesystem: { read: 'root' } }],
    ['network.allow', { network: { allow: 'example.com' } }],
    ['network.mode', { network: { mode: 'maybe' } }],
    ['network.allow', { network: { allow: ['http://example.com/'] } }],
    ['approvals.timeout', { approvals: { timeout: 'soon' } }],
  ] as const) {
    test(`${key} as ${JSON.stringify(settings)}`, async (t) => {
      const place = createPlace(t);
      userSettings(place, settings);
      const { code, stdout, stderr } = await place.cordon([], ['echo', 'ran']);
      assert.deepEqual({ code, stdout }, { code: REFUSED, stdout: '' });
      assert.match(stderr, new RegExp(key.replace('.', '.*'), 'u'));
    });
  }
});
