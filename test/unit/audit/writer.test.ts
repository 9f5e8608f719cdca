import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { followAudit, listAudit, readAudit } from '../../../src/audit/reader.js';
import type { AuditEntry, AuditLine } from '../../../src/audit/schema.js';
import type { AuditWriter } from '../../../src/audit/writer.js';
import { createAuditWriter } from '../../../src/audit/writer.js';
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
const grant = { id: 'g', session: 's', target, privateAddresses: [], patterns: [], at: 0 };

/** One of each kind. */
const entries: readonly AuditEntry[] = [
  { kind: 'run', run: 'r', session: 's', again: false, pid: 3, directory: '/ws', command: ['sh'] },
  { kind: 'gap', run: 'r', promise: 'network', reason: 'no nf_tables' },
  {
    kind: 'request',
    run: 'r',
    request: 1,
    subject,
    action: 'connect',
    object: target,
    rule: 'mode ask',
  },
  { kind: 'grant', run: 'r', grant: { ...grant, scope: 'run', run: 'r' } },
  { kind: 'grant', run: 'r', grant: { ...grant, scope: 'session' } },
  {
    kind: 'answer',
    run: 'r',
    request: 1,
    effect: 'allow',
    by: 'user',
    reason: 'user',
    grant: 'g',
    addresses: ['::1'],
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
    action: 'connect',
    object: { path: '/run/x' },
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

function write(t: { after(call: () => void): void }, maxPartBytes?: number): Written {
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
  const { folder, writer, told } = write(t);
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
  const { folder, writer } = write(t);
  assert.equal(fs.statSync(writer.file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
});

test('a line that is changed, removed, added or moved is noticed', (t) => {
  const { writer } = write(t);
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
  const { writer } = write(t);
  for (const entry of entries) writer.append(entry);
  const whole = readAudit(writer.file).lines;
  fs.truncateSync(writer.file, fs.statSync(writer.file).size - 10);
  const { lines, problems } = readAudit(writer.file);
  assert.deepEqual([lines, problems], [whole.slice(0, -1), ['line 11 is unfinished']]);
});

test('a part that has grown is followed by another that carries its last hash on', (t) => {
  const { folder, writer, told } = write(t, 300);
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
  const { folder, writer } = write(t, 100);
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
  const { writer } = write(t);
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
  const { writer } = write(t);
  writer.dispose();
  writer.dispose();
  assert.throws(() => writer.append({ kind: 'revoke', run: 'r', grant: 'g' }), {
    code: 'auditFailed',
  });
});

test('flushing settles, also when the record ends meanwhile', async (t) => {
  const { writer } = write(t);
  writer.append({ kind: 'revoke', run: 'r', grant: 'g' });
  await writer.flush();
  const late = writer.flush();
  writer.dispose();
  await late;
});

test('a record can be followed while it is written', async (t) => {
  const { writer, told } = write(t);
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
