// What the test servers serve: a CA and a certificate, an npm package, a Python wheel and a git repository, all real.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Content {
  readonly authority: string;
  readonly key: Buffer;
  readonly certificate: Buffer;
  readonly repositories: string;
  /** URL path → body. */
  readonly files: ReadonlyMap<string, { readonly type: string; readonly body: Buffer }>;
}

const SUBJECT_NAMES =
  'subjectAltName=DNS:example.com,DNS:*.example.com,DNS:*.example.net,IP:93.184.216.34,IP:2606:2800:220:1::34';

async function makeCertificates(folder: string): Promise<void> {
  const openssl = (...words: string[]) => run('openssl', words, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '30',
    '-subj',
    '/CN=Cordon tests',
  );
  await openssl(
    'req',
    ...newKey,
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
    '-subj',
    '/CN=example.com',
  );
  await writeFile(path.join(folder, 'extensions'), `${SUBJECT_NAMES}\n`);
  await openssl(
    'x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial',
    '-days', '30', '-out', 'server.pem', '-extfile', 'extensions',
  ); // prettier-ignore
}

async function npmPackage(folder: string): Promise<{ tarball: Buffer; document: Buffer }> {
  const manifest = { name: 'cordon-fixture', version: '1.2.3', main: 'index.js' };
  const source = path.join(folder, 'package');
  await mkdir(source, { recursive: true });
  await writeFile(path.join(source, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(source, 'index.js'), "module.exports = 'hello';\n");
  await run('tar', ['czf', 'package.tgz', 'package'], { cwd: folder });
  const tarball = await readFile(path.join(folder, 'package.tgz'));
  const hash = (algorithm: string, encoding: 'hex' | 'base64') =>
    createHash(algorithm).update(tarball).digest(encoding);
  const dist = {
    tarball: 'https://npm.example.com/cordon-fixture/-/cordon-fixture-1.2.3.tgz',
    shasum: hash('sha1', 'hex'),
    integrity: `sha512-${hash('sha512', 'base64')}`,
  };
  const document = {
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    versions: { [manifest.version]: { ...manifest, dist } },
  };
  return { tarball, document: Buffer.from(JSON.stringify(document)) };
}

const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    info = 'cordon_fixture-1.2.3.dist-info/'
    wheel.writestr('cordon_fixture/__init__.py', "greeting = 'hello'\\n")
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: cordon-fixture\\nVersion: 1.2.3\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: cordon\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    names = ['cordon_fixture/__init__.py', info + 'METADATA', info + 'WHEEL', info + 'RECORD']
    wheel.writestr(info + 'RECORD', ''.join(name + ',,\\n' for name in names))
`;

async function wheel(folder: string): Promise<Buffer> {
  const file = path.join(folder, 'cordon_fixture-1.2.3-py3-none-any.whl');
  await run('/usr/bin/python3', ['-c', MAKE_WHEEL, file]);
  return readFile(file);
}

async function repository(folder: string): Promise<string> {
  const tree = path.join(folder, 'tree');
  const repositories = path.join(folder, 'repositories');
  const git = (...words: string[]) =>
    run('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-C', tree, ...words]);
  await mkdir(tree);
  await mkdir(repositories);
  await git('init', '-q', '-b', 'main');
  for (let file = 0; file < 30; file += 1) {
    await writeFile(path.join(tree, `file${file}`), `hello ${file}\n`);
  }
  await git('add', '.');
  await git('commit', '-q', '-m', 'first');
  await run('git', ['clone', '-q', '--bare', tree, path.join(repositories, 'fixture.git')]);
  return repositories;
}

/** Makes everything below `folder`, which must exist and be empty. */
export async function makeContent(folder: string): Promise<Content> {
  const [, npm, python, repositories] = await Promise.all([
    makeCertificates(folder),
    npmPackage(folder),
    wheel(folder),
    repository(folder),
  ]);
  const wheelName = 'cordon_fixture-1.2.3-py3-none-any.whl';
  const binary = 'application/octet-stream';
  return {
    authority: path.join(folder, 'ca.pem'),
    key: await readFile(path.join(folder, 'server.key')),
    certificate: await readFile(path.join(folder, 'server.pem')),
    repositories,
    files: new Map([
      ['/hello', { type: 'text/plain', body: Buffer.from('hello\n') }],
      ['/cordon-fixture', { type: 'application/json', body: npm.document }],
      ['/cordon-fixture/-/cordon-fixture-1.2.3.tgz', { type: binary, body: npm.tarball }],
      [
        '/simple/cordon-fixture/',
        { type: 'text/html', body: Buffer.from(`<a href="/${wheelName}">${wheelName}</a>`) },
      ],
      [`/${wheelName}`, { type: binary, body: python }],
    ]),
  };
}
