// The user's ssh-agent and gpg-agent from inside: anybody may connect and list, each use of a key is a question that
// says what it is for, and nothing changes the agent. The agents are real ones of the test's own.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { gpg, gpgAgent, sshAgent } from '../support/agents.js';
import { answerAll, asked } from '../support/asked.js';

const sign = (namespace: string): readonly string[] => [
  'sh', '-c', `echo text >text; ssh-keygen -q -Y sign -f key.pub -n ${namespace} text 2>&1; ls`,
]; // prettier-ignore

describe('ssh-agent', () => {
  test('keys are listed without a question', async (t) => {
    const scene = await sshAgent(t);
    const { stdout, stderr, frames } = await scene.inside(['ssh-add', '-l'], answerAll('deny'));
    assert.equal(stdout, `256 ${scene.fingerprint} ada@here (ED25519)\n`, stderr);
    assert.deepEqual(asked(frames), []);
  });

  test('a signature is a question that names key and purpose; allowed, it is a valid one', async (t) => {
    const scene = await sshAgent(t);
    const { stdout, frames } = await scene.inside(sign('git'), answerAll('allow'));
    assert.equal(stdout, 'key.pub\ntext\ntext.sig\n');
    assert.deepEqual(asked(frames), [
      ['sign', { agent: 'ssh', key: `${scene.fingerprint} ada@here`, purpose: 'sign for git' }],
    ]);
    const key = readFileSync(path.join(scene.workspace, 'key.pub'), 'utf8');
    writeFileSync(path.join(scene.workspace, 'signers'), `ada ${key}`);
    const verified = scene.host(['ssh-keygen', '-Y', 'verify', '-f', 'signers', '-I', 'ada', '-n', 'git', '-s', 'text.sig'], 'text\n'); // prettier-ignore
    assert.match(verified, /^Good "git" signature for ada/u);
  });

  test('refused, there is none, and the program hears it from the agent', async (t) => {
    const scene = await sshAgent(t);
    const { stdout, frames } = await scene.inside(sign('file'), answerAll('deny'));
    assert.equal(asked(frames).length, 1);
    assert.match(stdout, /agent refused operation/u);
    assert.doesNotMatch(stdout, /text\.sig/u);
  });

  test('nothing inside adds, removes or locks keys', async (t) => {
    const scene = await sshAgent(t);
    const before = scene.host(['ssh-add', '-L']);
    const script = `
      ssh-keygen -q -t ed25519 -N '' -f own; ssh-add own; ssh-add -D; ssh-add -d key.pub
      printf 'x\\nx\\n' | setsid ssh-add -x </dev/null; exit 0`;
    const { frames } = await scene.inside(['sh', '-c', script], answerAll('allow'));
    assert.deepEqual(asked(frames), []);
    assert.equal(scene.host(['ssh-add', '-L']), before);
  });

  test('raw messages that are no request of the protocol reach no agent', async (t) => {
    const scene = await sshAgent(t);
    const script = `
import os, socket, struct
def say(data, whole=True):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.environ['SSH_AUTH_SOCK'])
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    return s.makefile('rb').read().hex() or 'end'
frame = lambda body: struct.pack('>I', len(body)) + body
text = lambda bytes: struct.pack('>I', len(bytes)) + bytes
print(say(b''), say(b'\\0\\0'), say(struct.pack('>I', 0)), say(struct.pack('>I', 1 << 30)))
print(say(frame(b'\\x13')), say(frame(b'\\x16' + text(b'x'))), say(frame(b'\\x1b' + text(b'query'))), say(frame(b'\\x0d')))
`;
    const { stdout, stderr, frames } = await scene.inside(
      ['/usr/bin/python3', '-c', script],
      answerAll('allow'),
    );
    assert.equal(
      stdout,
      `end end end end\n${Array.from({ length: 4 }, () => '0000000105').join(' ')}\n`,
      stderr,
    );
    assert.deepEqual(asked(frames), []);
  });
});

describe('gpg-agent', () => {
  test('a signature is a question that names the key; allowed, it is a valid one', async (t) => {
    const scene = gpgAgent(t);
    writeFileSync(path.join(scene.workspace, 'text'), 'text\n');
    const { code, stderr, frames } = await scene.inside(
      gpg('gpg', '--batch', '-q', '--detach-sign', '-o', 'text.sig', 'text'),
      answerAll('allow'),
    );
    assert.equal(code, 0, stderr);
    const [[action, object] = [], ...others] = asked(frames);
    assert.deepEqual([action, others], ['sign', []]);
    const { purpose, ...rest } = object as Readonly<Record<string, string>>;
    assert.deepEqual(rest, { agent: 'gpg', key: scene.keygrip });
    assert.match(purpose ?? '', /Ada <ada@example\.com>/u);
    scene.host(['gpg', '--batch', '--verify', 'text.sig', 'text']);
  });

  test('refused, there is none', async (t) => {
    const scene = gpgAgent(t);
    writeFileSync(path.join(scene.workspace, 'text'), 'text\n');
    const { code, stderr, frames } = await scene.inside(
      gpg('gpg', '--batch', '-q', '--detach-sign', '-o', 'text.sig', 'text'),
      answerAll('deny'),
    );
    assert.notEqual(code, 0);
    assert.equal(asked(frames).length, 1);
    assert.match(stderr, /cancel/iu);
  });

  test('what changes the agent, its keys or its display is not passed on', async (t) => {
    const scene = gpgAgent(t);
    const script = `
import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect(os.environ['GNUPGHOME'] + '/S.gpg-agent')
lines = s.makefile('rw', newline='\\n')
print(lines.readline()[:2])
for command in ['KILLAGENT', 'RELOADAGENT', 'DELETE_KEY ${scene.keygrip}', 'EXPORT_KEY ${scene.keygrip}', 'GENKEY',
                'PRESET_PASSPHRASE ${scene.keygrip} -1 00', 'GET_PASSPHRASE x', 'SCD SERIALNO', 'PKSIGN',
                'OPTION display=192.0.2.1:0', 'GETINFO version', 'HAVEKEY ${scene.keygrip}']:
    lines.write(command + '\\n')
    lines.flush()
    answer = lines.readline()
    while not answer.startswith(('OK', 'ERR')):
        answer = lines.readline()
    print(command.split(' ')[0], ' '.join(answer.split(' ')[:2]).strip())
`;
    const { stdout, stderr, frames } = await scene.inside(
      ['/usr/bin/python3', '-c', script],
      answerAll('allow'),
    );
    const refused = ['KILLAGENT', 'RELOADAGENT', 'DELETE_KEY', 'EXPORT_KEY', 'GENKEY', 'PRESET_PASSPHRASE', 'GET_PASSPHRASE', 'SCD', 'PKSIGN']; // prettier-ignore
    assert.deepEqual(
      stdout.trimEnd().split('\n'),
      [
        'OK',
        ...refused.map((name) => `${name} ERR 67109115`),
        ...['OPTION', 'GETINFO', 'HAVEKEY'].map((name) => `${name} OK`),
      ],
      stderr,
    );
    assert.deepEqual(asked(frames), []);
    assert.match(scene.host(['gpg', '-K', '--with-colons']), /^sec:/mu);
  });
});
