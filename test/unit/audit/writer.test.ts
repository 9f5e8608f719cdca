import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { followAudit, listAudit, readAudit } from '../../../src/audit/reader.js';
import type { AuditEntry, AuditLine, Recorded } from '../../../src/audit/schema.js';
import type { AuditWriter } from '../../../src/audit/writer.js';
import { createAuditWriter } from '../../../src/audit/writer.js';
import type { AbsolutePath } from '../../../src/policy/paths.js';
import { createFakeClock } from '../../support/fakeClock.js';
import { createTempTree } from '../../support/tempTree.js';

const subject = {
  pid: 7,
  executable: '/usr/bin/curl',
  arguments: ['curl', 'https://example.com/'],
  directory: '/ws/\udcff',
  chain: [{ pid: 7, name: 'curl' }],
};
const target = { host: 'example.com', port: 443 };
const grant = {
  id: 'g',
  session: 's',
  target,
  origin: { run: 'r', program: 'curl', command: ['sh', 'x'] },
  privateAddresses: [],
  written: [],
  at: 0,
};
const at = (path: string): AbsolutePath => path as AbsolutePath;
const about = { run: 'r', subject, because: null, rule: 'mode ask' };
const change = { sha256: '0'.repeat(64), bytes: 3 };
const write = {
  path: at('/home/ada/x'),
  call: 'create',
  to: null,
  folder: at('/home/ada'),
  protected: false,
  change,
} as const;
const open = { access: 'write', path: at('/home/ada/\udcff') } as const;

/** One request for each action. */
const wanted: readonly Recorded[] = [
  { action: 'connect', object: target },
  { action: 'lookup', object: { host: 'example.com' } },
  { action: 'write', object: write },
  {
    action: 'write',
    object: { ...write, call: 'rename', to: at('/b'), folder: null, change: null },
  },
  {
    action: 'git',
    object: { repository: at('/ws/.git'), path: at('/ws/.git/HEAD'), call: 'open' },
  },
  { action: 'read', object: { path: at('/home/ada/.netrc'), folder: null } },
  { action: 'socket', object: { path: at('/run/docker.sock'), call: 'connect' } },
  { action: 'sign', object: { agent: 'ssh', key: 'SHA256:x', purpose: '' } },
  { action: 'publish', object: { port: 5173 } },
];

/** One of each kind. */
const entries: readonly AuditEntry[] = [
  { kind: 'run', run: 'r', session: 's', again: false, pid: 3, directory: '/ws', command: ['sh'] },
  { kind: 'gap', run: 'r', promise: 'network', reason: 'no nf_tables' },
  ...wanted.map((each, request) => ({ kind: 'request', request, ...about, ...each }) as const),
  { kind: 'grant', run: 'r', grant: { ...grant, scope: 'run', run: 'r' } },
  { kind: 'grant', run: 'r', grant: { ...grant, scope: 'session' } },
  {
    kind: 'grant',
    run: 'r',
    grant: { ...grant, scope: 'session', target: { ...open, protected: true } },
  },
  {
    kind: 'grant',
    run: 'r',
    grant: { ...grant, scope: 'session', target: { agent: 'gpg', key: 'k' } },
  },
  {
    kind: 'grant',
    run: 'r',
    grant: {
      ...grant,
      scope: 'always',
      target: { publish: 5173 },
      written: [{ effect: 'allow', setting: 'network.publish', entry: 5173 }],
    },
  },
  { kind: 'opened', run: 'r', opens: [{ ...open, error: null }] },
  { kind: 'revoked', run: 'r', opens: [{ ...open, busy: true }] },
  { kind: 'published', run: 'r', port: 5173, hostPort: 5174, address: '127.0.0.1' },
  { kind: 'unpublished', run: 'r', port: 5173, reason: 'closed' },
  {
    kind: 'answer',
    run: 'r',
    request: 1,
    effect: 'allow',
    by: 'user',
    reason: 'user',
    grant: 'g',
    addresses: ['::1'],
    opens: [open],
  },
  {
    kind: 'denial',
    run: 'r',
    subject,
    action: 'connect',
    object: { address: '::1', port: 1 },
    reason: 'rule',
    rule: 'deny *',
  },
  {
    kind: 'denial',
    run: 'r',
    subject,
    action: 'socket',
    object: { path: at('/run/x'), call: 'connect' },
    reason: 'rule',
    rule: 'mode',
  },
  { kind: 'revoke', run: 'r', grant: 'g' },
  { kind: 'exit', run: 'r', outcome: 'exited', exitCode: 0, reason: null },
];

interface Written {
  readonly folder: string;
  readonly writer: AuditWriter;
  readonly told: AuditLine[];
}

function record(t: { after(call: () => void): void }, maxPartBytes?: number): Written {
  const folder = path.join(createTempTree(t), 'state', 'audit');
  const told: AuditLine[] = [];
  const writer = createAuditWriter({
    folder,
    session: 's',
    clock: createFakeClock(),
    onLine: (line) => told.push(line),
    ...(maxPartBytes === undefined ? {} : { maxPartBytes }),
  });
  t.after(() => {
    writer.dispose();
  });
  return { folder, writer, told };
}

test('every kind of line is read back as it was written, after the line of its session', (t) => {
  const { folder, writer, told } = record(t);
  for (const entry of entries) writer.append(entry);
  const [file] = listAudit(folder);
  const { lines, problems } = readAudit(file ?? '');
  assert.deepEqual(problems, []);
  assert.deepEqual(lines, told);
  const expected = [{ kind: 'session', session: 's', previous: null }, ...entries];
  assert.deepEqual(
    lines,
    expected.map((entry, index) => ({ ...entry, t: lines[index]?.t, hash: lines[index]?.hash })),
  );
});

test('the record is the user’s alone', (t) => {
  const { folder, writer } = record(t);
  assert.equal(fs.statSync(writer.file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
});

test('a line that is changed, removed, added or moved is noticed', (t) => {
  const { writer } = record(t);
  for (const entry of entries) writer.append(entry);
  const text = fs.readFileSync(writer.file, 'utf8');
  const lines = text.split('\n');
  const [first = '', second = '', third = '', ...rest] = lines;
  const forgeries: Readonly<Record<string, readonly string[]>> = {
    changed: [first, second.replace('"/ws"', '"/w2"'), third, ...rest],
    removed: [first, third, ...rest],
    added: [first, second, second, third, ...rest],
    moved: [first, third, second, ...rest],
    'without its beginning': [second, third, ...rest],
    'changed without a hash': [first, second.replace(/,"hash":"\w+"/u, ''), third, ...rest],
    'no JSON': [first, 'x', second, third, ...rest],
    'of an unknown kind': [first, second.replace('"kind":"run"', '"kind":"ran"'), third, ...rest],
  };
  for (const [name, forged] of Object.entries(forgeries)) {
    fs.writeFileSync(writer.file, forged.join('\n'));
    assert.notDeepEqual(readAudit(writer.file).problems, [], name);
  }
  fs.writeFileSync(writer.file, text);
  assert.deepEqual(readAudit(writer.file).problems, []);
});

test('a last line without its end is said to be unfinished, and the others stand', (t) => {
  const { writer } = record(t);
  for (const entry of entries) writer.append(entry);
  const whole = readAudit(writer.file).lines;
  fs.truncateSync(writer.file, fs.statSync(writer.file).size - 10);
  const { lines, problems } = readAudit(writer.file);
  assert.deepEqual([lines, problems], [whole.slice(0, -1), [`line ${whole.length} is unfinished`]]);
});

test('a part that has grown is followed by another that carries its last hash on', (t) => {
  const { folder, writer, told } = record(t, 300);
  for (let times = 0; times < 20; times += 1)
    writer.append({ kind: 'gap', run: 'r', promise: 'p', reason: `${times}` });
  const parts = listAudit(folder).map((file) => readAudit(file));
  assert.ok(parts.length > 3);
  assert.deepEqual(
    parts.flatMap(({ problems }) => problems),
    [],
  );
  assert.deepEqual(
    parts.flatMap(({ lines }) => lines),
    told,
  );
  const [one, two] = parts;
  assert.deepEqual(
    two?.lines[0]?.kind === 'session' ? two.lines[0].previous : undefined,
    one?.lines.at(-1)?.hash,
  );
});

test('more than ten parts stay in their order', (t) => {
  const { folder, writer } = record(t, 100);
  for (let times = 0; times < 30; times += 1)
    writer.append({ kind: 'gap', run: 'r', promise: 'p', reason: `${times}` });
  const reasons = listAudit(folder)
    .flatMap((file) => readAudit(file).lines)
    .flatMap((line) => (line.kind === 'gap' ? [line.reason] : []));
  assert.deepEqual(
    reasons,
    Array.from({ length: 30 }, (_, index) => String(index)),
  );
});

test('a record that cannot be written throws auditFailed, and never leaves half a line', (t) => {
  const { writer } = record(t);
  writer.append({ kind: 'revoke', run: 'r', grant: 'g' });
  const before = fs.readFileSync(writer.file, 'utf8');
  t.mock.method(fs, 'writeSync', (fd: number, bytes: Buffer, at: number) => {
    if (at > 0)
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    return fs.writevSync(fd, [bytes.subarray(0, 5)]);
  });
  assert.throws(() => writer.append({ kind: 'revoke', run: 'r', grant: 'h' }), {
    code: 'auditFailed',
  });
  t.mock.restoreAll();
  assert.equal(fs.readFileSync(writer.file, 'utf8'), before);
  writer.append({ kind: 'revoke', run: 'r', grant: 'i' });
  assert.deepEqual(readAudit(writer.file).problems, []);
});

test('a folder that cannot be made is auditFailed', (t) => {
  const root = createTempTree(t);
  fs.writeFileSync(path.join(root, 'state'), '');
  const options = {
    folder: path.join(root, 'state', 'audit'),
    session: 's',
    clock: createFakeClock(),
  };
  assert.throws(() => createAuditWriter(options), { code: 'auditFailed' });
});

test('an existing file is never written on, nor a link followed', (t) => {
  const root = createTempTree(t);
  const options = { folder: root, session: 's', clock: createFakeClock() };
  const name = `${new Date(options.clock.now()).toISOString().replaceAll(/[:.]/gu, '-')}-s-0000.jsonl`;
  fs.symlinkSync(path.join(root, 'elsewhere'), path.join(root, name));
  assert.throws(() => createAuditWriter(options), { code: 'auditFailed' });
  assert.equal(fs.existsSync(path.join(root, 'elsewhere')), false);
});

test('after its end nothing can be appended', (t) => {
  const { writer } = record(t);
  writer.dispose();
  writer.dispose();
  assert.throws(() => writer.append({ kind: 'revoke', run: 'r', grant: 'g' }), {
    code: 'auditFailed',
  });
});

test('flushing settles, also when the record ends meanwhile', async (t) => {
  const { writer } = record(t);
  writer.append({ kind: 'revoke', run: 'r', grant: 'g' });
  await writer.flush();
  const late = writer.flush();
  writer.dispose();
  await late;
});

test('a record can be followed while it is written', async (t) => {
  const { writer, told } = record(t);
  const controller = new AbortController();
  const seen: AuditLine[] = [];
  const following = (async () => {
    for await (const line of followAudit(writer.file, controller.signal)) {
      seen.push(line);
      if (seen.length === entries.length + 1) controller.abort();
    }
  })();
  for (const entry of entries) {
    writer.append(entry);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await following;
  assert.deepEqual(seen, told);
});

test('a folder without a record has no parts', (t) => {
  assert.deepEqual(listAudit(path.join(createTempTree(t), 'nothing')), []);
});
