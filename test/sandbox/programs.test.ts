// Real programs at their real work, inside and beside it on the host: what they leave behind, and what they print, is the
// same. With every call that changes a file held and performed by the supervisor.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createPlace, snapshot } from '../support/sandbox.js';
import type { Finished, Place } from '../support/sandbox.js';

const pnpm = path.resolve(import.meta.dirname, '../../node_modules/pnpm/bin/pnpm.cjs');

interface Work {
  /** Bash, in a folder of its own; the same text in both places. */
  readonly script: string;
  /** So that it is known to have worked; nothing when left out. */
  readonly prints?: string;
  /** What is not the same twice, even without a boundary: lines of the listing that match are left out. */
  readonly unlike?: RegExp;
  readonly flags?: readonly string[];
  /** What it tries besides, and does without. */
  readonly refused?: RegExp;
}

const works: Readonly<Record<string, Work>> = {
  'the shell’s redirections': {
    script: `set -C; echo one > a; echo two >> a; ! echo three > a; set +C; echo four >| b
      cat <<< here > c; cat > d << 'END'
text
END
      exec 3<> e; echo five >&3; exec 3>&-; tee f < a > g; cat <(echo sub) > h; echo x > >(cat > i); wait
      umask 077; echo private > j; mkdir k; umask 000; echo open > l; mkdir m`,
  },
  coreutils: {
    prints: 'y\n15\n',
    script: `mkdir -p a/b/c; echo x > a/b/f; cp -a a d; cp -l a/b/f hard; ln -s moved/f soft; ln -s nowhere dangling
      mv a/b moved; touch -d @1000 old; truncate -s 5000 big; dd if=/dev/zero of=zero bs=1k count=4 status=none
      install -m 750 old new; split -b 2000 big part.; chmod -R g-w d; mkdir -m 1777 sticky; mkfifo pipe; rm -rf d/b
      rmdir a; sed -i s/x/y/ moved/f; sort -o sorted moved/f; cat soft; ls | wc -l; find . -name 'part.*' -delete`,
  },
  'a named pipe': {
    prints: 'through\nagain\n',
    script: `mkfifo p; (cat p > out) & echo through > p; wait; (sleep 0.2; cat p > late) & echo again > p; wait; cat out late`,
  },
  'locks and atomic replacement': {
    prints: '40\n',
    script: `echo 0 > n; for i in 1 2 3 4 5 6 7 8; do (for k in 1 2 3 4 5; do flock lock sh -c 'v=$(cat n); echo $((v+1)) > n.tmp; mv n.tmp n'; done) & done; wait; cat n`,
  },
  tar: {
    script: `mkdir -p t/s; echo 1 > t/a; ln t/a t/hard; ln -s a t/soft; mkfifo t/pipe; chmod 640 t/a; chmod 2755 t/s; touch -d @5 t/s
      tar -czf t.tgz t; mkdir out; tar -xzpf t.tgz -C out; diff <(cd t; ls -lR --time-style=+%s | grep -v total) <(cd out/t; ls -lR --time-style=+%s | grep -v total)`,
    unlike: /t\.tgz/u,
  },
  'tar over what is there': {
    prints: 'new\n',
    script: `mkdir -p p/d; echo new > p/d/f; tar -cf p.tar -C p d; mkdir d; echo old > d/f; ln -s /nowhere d/l; tar -xf p.tar; cat d/f; tar -xf p.tar --strip-components=1`,
    unlike: /p\.tar/u,
  },
  'zip and unzip': {
    prints: 'two\n',
    script: `mkdir z; echo one > z/a; echo two > z/b; zip -qr z.zip z; rm -r z; unzip -q z.zip; zip -q z.zip -d z/a; unzip -qo z.zip -d again; cat again/z/b`,
    unlike: /z\.zip/u,
  },
  rsync: {
    prints: '1\n3\n',
    script: `mkdir -p s/d; echo 1 > s/a; echo 2 > s/d/b; ln -s a s/l; chmod 600 s/a; rsync -a s/ t/; echo 3 >> s/a; rm s/d/b; rsync -a --delete --inplace s/ t/; rsync -aH --link-dest=../s s/ u/; cat t/a`,
  },
  patch: {
    prints: 'a\nb\n',
    script: `printf 'a\\nb\\n' > f; printf -- '--- f\\n+++ f\\n@@ -1,2 +1,2 @@\\n a\\n-b\\n+c\\n' > p; patch -s f p; patch -s -R -b f p; cat f`,
  },
  sqlite: {
    prints: 'wal\n5\nok\n0|0|0\ndelete\n',
    script: `sqlite3 x.db 'pragma journal_mode=wal; create table t(n); insert into t values(1)'
      for i in 1 2 3 4; do sqlite3 -cmd '.timeout 20000' x.db 'begin immediate; insert into t select max(n)+1 from t; commit' & done; wait
      sqlite3 x.db 'select count(*) from t; pragma integrity_check; pragma wal_checkpoint(truncate); pragma journal_mode=delete; vacuum'`,
    unlike: /x\.db/u,
  },
  'gcc and make': {
    prints: '42\n',
    script: `printf 'int f(void){return 42;}\\n' > f.c; printf '#include <stdio.h>\\nint f(void);int main(void){printf("%%d\\\\n",f());}\\n' > m.c
      printf 'p: m.o f.o\\n\\tcc -o $@ $^\\nlib.a: f.o\\n\\tar rcsD $@ $^\\n' > Makefile; make -s -j4 p lib.a; ./p; strip p; make -s -j2; touch f.c; make -s p`,
  },
  python: {
    prints:
      "fork [0, 1, 4, 9, 16]\nspawn [0, 1, 4, 9, 16]\nforkserver [0, 1, 4, 9, 16]\n{'a': 1}\nb'child\\n' 49\nTrue\n",
    script: `cat > w.py << 'END'
import asyncio, multiprocessing as mp, os, shutil, tempfile, pathlib
def square(n): return n * n
if __name__ == '__main__':
    for method in ('fork', 'spawn', 'forkserver'):
        with mp.get_context(method).Pool(2) as pool: print(method, pool.map(square, range(5)))
    with mp.Manager() as manager:
        shared = manager.dict(); shared['a'] = 1; print(dict(shared))
    async def main():
        process = await asyncio.create_subprocess_exec('sh', '-c', 'echo child', stdout=-1)
        print((await process.communicate())[0], await asyncio.to_thread(square, 7))
    asyncio.run(main())
    with tempfile.TemporaryDirectory(dir='.') as folder: pathlib.Path(folder, 'f').write_text('x')
    with tempfile.NamedTemporaryFile(dir='.') as file: file.write(b'x'); print(os.path.exists(file.name))
    with tempfile.TemporaryFile(dir='.') as file: file.write(b'x')
    pathlib.Path('d/e').mkdir(parents=True); pathlib.Path('d/e/f').write_text('y'); shutil.copytree('d', 'c'); shutil.move('c', 'm')
    os.replace('d/e/f', 'g'); os.symlink('g', 's'); os.chmod('g', 0o600); os.utime('g', (1, 2)); shutil.rmtree('d')
    shutil.make_archive('a', 'gztar', 'm'); shutil.unpack_archive('a.tar.gz', 'u')
END
      python3 w.py`,
    unlike: /a\.tar\.gz/u,
  },
  'a Python module, compiled and imported': {
    prints: '3\n1\n',
    script: `mkdir -p p/q; echo 'x = 1' > p/__init__.py; echo 'y = 2' > p/q/__init__.py; python3 -c 'import p.q; print(p.x + p.q.y)'; python3 -m compileall -q p; ls p/__pycache__ | wc -l`,
    unlike: /\.pyc/u,
  },
  pip: {
    prints: '5\n',
    script: `mkdir -p s/m; echo 'def f(): return 5' > s/m/__init__.py; printf '[metadata]\\nname=m\\nversion=1\\n[options]\\npackages=m\\n' > s/setup.cfg; echo 'import setuptools; setuptools.setup()' > s/setup.py
      python3 -m pip install -q --no-index --no-build-isolation --no-compile --target t ./s > /dev/null 2>&1; PYTHONPATH=t python3 -c 'import m; print(m.f())'; rm -rf s t`,
  },
  'node: files, workers, children': {
    prints: 'from a worker\nfrom a child\nfrom a shell\n\n',
    script: `cat > w.mjs << 'END'
import { execFileSync, fork } from 'node:child_process';
import fs from 'node:fs/promises';
import { Worker, isMainThread, parentPort } from 'node:worker_threads';
if (process.argv[2] === 'child') { process.send('from a child'); process.exit(); }
if (!isMainThread) { await fs.writeFile('worker', 'w'); parentPort.postMessage('from a worker'); }
else {
  console.log(await new Promise((done) => new Worker(new URL(import.meta.url)).once('message', done)));
  console.log(await new Promise((done) => fork('w.mjs', ['child']).once('message', done)));
  console.log(execFileSync('sh', ['-c', 'echo from a shell']).toString());
  await fs.mkdir('a/b/c', { recursive: true }); await fs.writeFile('a/b/f', 'x', { mode: 0o640, flag: 'wx' }); await fs.appendFile('a/b/f', 'y');
  await fs.cp('a', 'd', { recursive: true }); await fs.rename('d/b/f', 'g'); await fs.symlink('g', 's'); await fs.link('g', 'h'); await fs.chmod('g', 0o600);
  await fs.truncate('g', 1); await fs.utimes('g', 1, 2); await fs.rm('d', { recursive: true }); await fs.copyFile('g', 'i'); await fs.mkdtemp('t-').then(fs.rmdir);
  await Promise.all(Array.from({ length: 200 }, (_, n) => fs.writeFile('many-' + n, String(n))));
}
END
      node w.mjs`,
  },
  npm: {
    prints: 'bin runs\n{}\nbuilt\n',
    script: `mkdir -p s/package/.vscode s/package/.idea; echo '{"name":"dep","version":"1.0.0","bin":"b.js","scripts":{"postinstall":"echo built > built"}}' > s/package/package.json; printf '#!/usr/bin/env node\\nconsole.log("bin runs")\\n' > s/package/b.js; echo '{}' > s/package/.vscode/settings.json; touch s/package/.idea/x
      tar -czf dep.tgz -C s package; rm -r s; echo '{"name":"p","version":"1.0.0","dependencies":{"dep":"file:dep.tgz"},"scripts":{"go":"dep"}}' > package.json
      npm install --offline --no-audit --no-fund --silent --foreground-scripts=false && npm run --silent go && npm ci --offline --no-audit --no-fund --silent && cat node_modules/dep/.vscode/settings.json node_modules/dep/built`,
    unlike: /dep\.tgz|package-lock\.json/u,
  },
  pnpm: {
    prints: '6\n',
    script: `mkdir -p dep/.vscode; echo '{"name":"dep","version":"1.0.0","main":"i.js"}' > dep/package.json; echo 'module.exports = 6' > dep/i.js; touch dep/.vscode/x
      echo '{"name":"p","version":"1.0.0","dependencies":{"dep":"file:dep"}}' > package.json; node ${pnpm} install --offline --silent --ignore-workspace > /dev/null; node -p "require('dep')"; rm -rf node_modules pnpm-lock.yaml`,
  },
  go: {
    prints: 'go runs\nm.go\n',
    script: `printf 'module m\\n\\ngo 1.19\\n' > go.mod; printf 'package main\\nimport ("fmt";"os")\\nfunc main(){os.WriteFile("made",[]byte("go"),0600);fmt.Println("go runs")}\\n' > m.go; GOFLAGS=-mod=mod go build -trimpath -o prog . && ./prog && go vet . && gofmt -l -w m.go; rm prog`,
  },
  cargo: {
    prints: 'rust runs\n1\n',
    script: `cargo init -q --vcs none --name m . && echo 'fn main(){std::fs::write("made","rust").unwrap();println!("rust runs")} #[test] fn t(){assert_eq!(1,1)}' > src/main.rs && cargo -q build --offline && ./target/debug/m && cargo -q test --offline 2>&1 | grep -c passed; rm -rf target`,
  },
  java: {
    prints: 'java runs\n',
    script: `printf 'public class M{public static void main(String[] a)throws Exception{java.nio.file.Files.writeString(java.nio.file.Path.of("made"),"java");System.out.println("java runs");}}' > M.java; javac M.java && java -Xshare:off M; jar cf m.jar M.class; rm M.class m.jar`,
  },
  git: {
    prints: 'three\ntwo\none\n',
    script: `git init -q -b main r; cd r; echo 1 > f; git add -A; git commit -qm one; git switch -qc b; echo 2 >> f; git commit -qam two; git switch -q main; git merge -q --no-edit b; git mv f g; git commit -qm three
      git stash -q 2>/dev/null; git tag v1; git gc -q; git clone -q . ../c; cd ../c; git log --format=%s; git status --short; git fsck 2>&1 | grep -v notice; true`,
    unlike: /\.git/u,
    flags: ['--git', 'allow'],
  },
  vim: {
    prints: 'helloworld\nhelloworld\n',
    script: `vim -es -u NONE -N -c 'set backup backupdir=. undofile undodir=. directory=.' -c 'normal ihello' -c 'wq' f; vim -es -u NONE -N -c 'normal Aworld' -c 'w' -c 'saveas g' -c 'q' f; cat f g; rm -f .*.un~ *~`,
  },
  tmux: {
    prints: 'from tmux\n',
    script: `tmux -S $PWD/socket -f /dev/null new-session -d -x 80 -y 24 'sh'; tmux -S $PWD/socket send-keys 'echo from tmux > made' Enter; for i in $(seq 100); do [ -s made ] && break; sleep 0.05; done; cat made; tmux -S $PWD/socket kill-server; rm -f socket`,
  },
  'Chromium with a sandbox of its own': {
    prints: 'rendered\n',
    refused: /google|gvt1|Crash Reports/u,
    script: `echo '<title>t</title><p id=p>old<script>document.getElementById("p").textContent="rendered"</script>' > p.html
      mkdir run; export XDG_RUNTIME_DIR=$PWD/run; chromium --headless --disable-gpu --disable-component-update --disable-sync --disable-quic --no-first-run --disable-background-networking --user-data-dir=$PWD/profile --dump-dom file://$PWD/p.html 2> /dev/null | grep -o rendered; rm -rf profile run`,
  },
  'a sandbox inside': {
    prints: 'inner\n',
    script: `bwrap --ro-bind / / --dev /dev --proc /proc --bind $PWD $PWD --unshare-all --chdir $PWD sh -c 'echo inner > made; mkdir d; mv made d; cat d/made'`,
  },
  openssl: {
    prints: 'subject=CN = x\n600\n',
    script: `openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 1 -subj /CN=x 2> /dev/null; openssl x509 -in cert -noout -subject; stat -c %a key; rm key cert`,
  },
  perl: {
    prints: 'z',
    script: `perl -e 'open F,">","a" or die; print F "x"; close F; rename "a","b"; mkdir "d",0700; chmod 0640,"b"; symlink "b","s"; utime 1,2,"b"; unlink "s"; open G,"+<","b"; print G "y"; truncate G,1'; perl -i.bak -pe 's/y/z/' b; cat b`,
  },
};

function work(place: Place, name: string): { readonly inside: string; readonly outside: string } {
  const inside = path.join(place.workspace, 'work', name);
  const outside = path.join(place.folder, 'work', name);
  for (const folder of [inside, outside]) mkdirSync(folder, { recursive: true });
  return { inside, outside };
}

function left(folder: string, unlike: RegExp | undefined): readonly string[] {
  return snapshot(folder).filter((line) => unlike === undefined || !unlike.test(line));
}

function result({ code, signal, stdout }: Finished, folder: string): object {
  return { code, signal, stdout: stdout.replaceAll(folder, 'FOLDER') };
}

for (const [name, { script, prints = '', unlike, flags = [], refused }] of Object.entries(works)) {
  test(`${name}: the same inside as on the host`, async (t) => {
    const place = createPlace(t);
    const { inside, outside } = work(place, 'w');
    const command = ['bash', '-c', script] as const;
    const options = { environment: { GIT_CONFIG_GLOBAL: '/dev/null' }, timeoutMs: 120_000 };
    const there = await place.host(command, { ...options, cwd: outside });
    const here = await place.cordon(
      ['--ask', 'deny', '--root', place.workspace, ...flags],
      command,
      {
        ...options,
        cwd: inside,
      },
    );
    assert.deepEqual(result(here, inside), result(there, outside), here.stderr + there.stderr);
    assert.deepEqual(left(inside, unlike), left(outside, unlike));
    assert.deepEqual([there.code, there.stdout], [0, prints], there.stderr);
    const lines = here.stderr.split('\n').filter((line) => line.startsWith('cordon:'));
    assert.deepEqual(
      lines.filter((line) => refused?.test(line) !== true),
      [],
      'nothing that it needs was refused',
    );
  });
}
