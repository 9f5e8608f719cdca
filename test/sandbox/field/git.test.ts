// Reported damage that other sandboxes did to repositories. What needs no answer is tried with the command line as it
// is; what does, with a launcher whose questions are answered as the test says.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { createGitPlace, openGit, runInside } from '../../support/gitRuns.js';
import { createPlace, snapshot } from '../../support/sandbox.js';
import type { AddressInfo } from 'node:net';
import type { Asked } from '../../support/gitRuns.js';
import type { Place } from '../../support/sandbox.js';

const STATUS = ['git', 'status', '--porcelain', '--ignored', '--untracked-files=all'];

/** Waits inside until the test ends its input, so that the host can be looked at meanwhile. */
const WAIT = ['sh', '-c', 'echo up; sleep 60'];

async function whileRunning(place: Place, look: () => Promise<void> | void): Promise<void> {
  const started = place.start([], WAIT);
  await started.said('up');
  try {
    await look();
  } finally {
    started.child.kill('SIGKILL');
    await started.finished;
  }
}

test('C015 git status is empty inside, on the host during a run, and afterwards', async (t) => {
  const place = createPlace(t);
  const inside = await place.cordon([], STATUS);
  assert.deepEqual({ code: inside.code, stdout: inside.stdout }, { code: 0, stdout: '' });
  await whileRunning(place, async () => {
    assert.equal((await place.host(STATUS)).stdout, '');
  });
  assert.equal((await place.host(STATUS)).stdout, '');
});

test('C017 after SIGKILL of the launcher the workspace and the temporary folder are as before', async (t) => {
  const place = createPlace(t);
  const temporary = () =>
    readdirSync('/tmp').filter((name) => /^(\.git|\.agents|\.codex|cordon)/u.test(name));
  const before = { tree: snapshot(place.workspace), temporary: temporary() };
  const started = place.start([], WAIT);
  await started.said('up');
  const launchers = await place.host([
    'pgrep',
    '-f',
    '-P',
    `${started.child.pid ?? 0}`,
    'cordon-launch',
  ]);
  const pids = launchers.stdout.trim().split('\n').map(Number);
  assert.ok(pids.length > 0 && pids.every((pid) => pid > 0), 'the launcher is a child of the CLI');
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  const { code } = await started.finished;
  assert.notEqual(code, 0);
  assert.deepEqual({ tree: snapshot(place.workspace), temporary: temporary() }, before);
});

test('C018 no name appears in a folder that is no repository, neither during nor after a run', async (t) => {
  const place = createPlace(t);
  const plain = path.join(place.home, 'plain');
  mkdirSync(plain);
  const started = place.start(['--root', plain], WAIT, { cwd: plain });
  await started.said('up');
  assert.deepEqual(readdirSync(plain), []);
  started.child.kill('SIGKILL');
  await started.finished;
  assert.deepEqual(readdirSync(plain), []);
});

const COMMIT = 'echo a > a; git add a; git commit -qm a';
const REPOSITORY = `git init -q; ${COMMIT}`;

test('C016 git add -A stages exactly what it stages outside', async (t) => {
  const files =
    'mkdir d; echo a > a; echo b > d/b; echo h > d/.hidden; echo s > "with space"; ln -s a link';
  const inside = createGitPlace(t);
  const outside = createGitPlace(t);
  inside.host(`git init -q; ${files}`);
  outside.host(`git init -q; ${files}; git add -A`);
  const run = await runInside(inside, 'git add -A');
  assert.deepEqual({ code: run.code, stderr: run.stderr }, { code: 0, stderr: '' });
  assert.equal(inside.host('git ls-files --stage'), outside.host('git ls-files --stage'));
});

test('C019 after one answer a normal checkout takes commits; hooks and config stay as they are', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const before = snapshot(place.at('.git/hooks'));
  const config = readFileSync(place.at('.git/config'), 'utf8');
  const run = await runInside(
    place,
    `echo b > b; git add b; git commit -qm b; git switch -qc c; git switch -q main; git tag v1; git gc -q
     echo x > .git/hooks/post-commit || true; echo x >> .git/config || true; git config alias.x '!id' || true`,
  );
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    {
      code: 0,
      questions: ['git ws/.git', 'protected ws/.git/hooks', 'protected ws/.git/config'],
    },
    run.stderr,
  );
  assert.equal(place.host('git log --format=%s; git status --porcelain'), 'b\na\n');
  assert.deepEqual(snapshot(place.at('.git/hooks')), before);
  assert.equal(readFileSync(place.at('.git/config'), 'utf8'), config);
});

test('C020 a linked work tree takes commits, and its common directory keeps hooks and config', async (t) => {
  const place = createGitPlace(t);
  place.host(`git init -q ../main; cd ../main; ${COMMIT}; rmdir ../ws; git worktree add -q ../ws`);
  const common = path.join(place.folder, 'main/.git');
  const run = await runInside(
    place,
    `echo b > b; git add b; git commit -qm b; echo x > ${common}/hooks/post-commit || true
     git config core.fsmonitor ./x || true`,
    { files: { repositories: [{ directory: path.join(common, 'worktrees/ws'), common }] } },
  );
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    {
      code: 0,
      questions: ['git main/.git', 'protected main/.git/hooks', 'protected main/.git/config'],
    },
    run.stderr,
  );
  assert.equal(place.host('git log --format=%s; git status --porcelain'), 'b\na\n');
  assert.equal(existsSync(path.join(common, 'hooks/post-commit')), false);
  assert.doesNotMatch(readFileSync(path.join(common, 'config'), 'utf8'), /fsmonitor/u);
});

test('C020 the repository of a linked work tree is found without any path setting', async (t) => {
  const place = createPlace(t);
  const linked = path.join(place.home, 'linked');
  await place.host(['git', 'worktree', 'add', '-q', linked]);
  const hook = path.join(place.workspace, '.git/hooks/post-commit');
  const script = `echo b > b; git add b; git commit -qm b; echo x > ${hook} || echo refused`;
  const run = await place.cordon(['--git', 'allow'], ['bash', '-ec', script], { cwd: linked });
  assert.deepEqual(
    { code: run.code, stdout: run.stdout },
    { code: 0, stdout: 'refused\n' },
    run.stderr,
  );
  const log = await place.host(['git', '-C', linked, 'log', '--format=%s']);
  assert.equal(log.stdout, 'b\nBegin\n');
  assert.equal(existsSync(hook), false);
});

test('C021 hooks and config of every repository below the workspace need an answer', async (t) => {
  const place = createGitPlace(t);
  place.host(`${REPOSITORY}; git init -q vendor/lib; (cd vendor/lib; ${COMMIT}); git init -q --bare deep/er/bare
    git submodule --quiet add "$PWD/vendor/lib" sub`);
  const directories = ['vendor/lib/.git', '.git/modules/sub', 'deep/er/bare', 'sub/.git'];
  const before = snapshot(place.workspace);
  const run = await runInside(
    place,
    `for d in ${directories.join(' ')}; do
       for f in hooks/post-checkout config info/attributes; do echo x > $d/$f && echo "wrote $d/$f"; done
     done; for d in vendor/lib deep/er/bare sub; do git -C $d config core.fsmonitor ./x && echo "set in $d"; done; true`,
  );
  assert.equal(run.stdout, '');
  assert.deepEqual(snapshot(place.workspace), before);
  assert.ok(run.questions.includes('protected ws/vendor/lib/.git/hooks'), run.questions.join());
  assert.ok(run.questions.includes('protected ws/.git/modules/sub/hooks'), run.questions.join());
  assert.ok(run.questions.includes('protected ws/deep/er/bare/hooks'), run.questions.join());
});

test('C022 init, clone and submodule add below the workspace work, each with one answer', async (t) => {
  const place = createGitPlace(t);
  place.host(`git init -q ../other; cd ../other; ${COMMIT}`);
  const run = await runInside(
    place,
    `git init -q one; git clone -q ../other two; cd two; git submodule --quiet add "$PWD/../../other" sub
     git commit -qm sub`,
  );
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git ws/one/.git', 'git ws/two/.git'] },
    run.stderr,
  );
  assert.equal(place.host('git -C two status --porcelain; ls two/sub'), 'a\n');
  assert.ok(existsSync(place.at('one/.git/hooks/pre-commit.sample')));
});

test('C023 a rebase runs to its end; refused at a step, --abort brings the branch back', async (t) => {
  const place = createGitPlace(t);
  place.host(`${REPOSITORY}; git switch -qc b; for i in 1 2 3; do echo $i > $i; git add $i; git commit -qm $i; done
    git switch -q main; echo c > c; git add c; git commit -qm c; git switch -q b`);
  const before = place.host('git rev-parse HEAD');
  const todo = (asked: Asked): boolean => asked.path.includes('rebase-merge');
  const refused = await runInside(
    place,
    'git rebase -q -x "touch ran" main || git rebase --abort',
    {
      answer: (asked) => (todo(asked) ? 'deny' : openGit(asked)),
    },
  );
  assert.ok(refused.asked.some(todo));
  assert.equal(place.host('git rev-parse HEAD; git status --porcelain'), before);
  assert.equal(existsSync(place.at('ran')), false);

  const run = await runInside(place, 'git rebase -q main');
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git ws/.git'] },
    run.stderr,
  );
  assert.equal(place.host('git log --format=%s; git status --porcelain'), '3\n2\n1\nc\na\n');
});

test('C024 a push whose credential helper is refused what it needs fails with the reason, and ends', async (t) => {
  const place = createGitPlace(t);
  const server = createServer((_, response) => {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  place.host(`${REPOSITORY}; git remote add origin http://127.0.0.1:${port}/x.git
    git config --global credential.helper '!f() { echo x > ~/note && echo username=u && echo password=p; }; f'`);
  const run = await runInside(place, 'git push -q origin main', {
    answer: () => 'deny',
    network: { mode: 'off', rules: [], hostPorts: [port] },
  });
  assert.notEqual(run.code, 0);
  assert.match(run.stderr, /note: (?:Permission denied|Read-only file system)/u);
  assert.match(run.stderr, /could not read Username|Authentication failed/u);
  assert.ok(run.questions.includes('write .'), run.questions.join());
  assert.equal(existsSync(path.join(place.folder, 'note')), false);
});

test('C027 a refused git config is an ordinary error, leaves no lock and can be allowed', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const refused = await runInside(
    place,
    'git config core.pager ./x || echo refused; git config core.bare; git remote add o https://example.com/o.git',
  );
  assert.deepEqual(
    { code: refused.code, stdout: refused.stdout },
    { code: 0, stdout: 'refused\nfalse\n' },
    refused.stderr,
  );
  assert.match(refused.stderr, /could not write config file .*: Permission denied/u);
  assert.equal(existsSync(place.at('.git/config.lock')), false);
  assert.equal(place.host('git config remote.o.url'), 'https://example.com/o.git\n');
  const allowed = await runInside(place, 'git config core.pager ./x', { answer: () => 'once' });
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.equal(place.host('git config core.pager'), './x\n');
});

test('C028 removing or moving a repository is a question of its own; refused, the repository is whole', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const before = snapshot(place.workspace);
  // The first file that goes could be git's own doing; what makes the repository one could not.
  const rows = [
    ['rm -rf .git', 'git ws/.git', 'protected ws/.git'],
    ['mv .git gone', 'protected ws/.git'],
  ] as const;
  for (const [command, ...questions] of rows) {
    const refused = await runInside(place, `${command} 2>/dev/null || echo refused`, {
      answer: () => 'deny',
    });
    assert.deepEqual(
      { stdout: refused.stdout, questions: refused.questions },
      { stdout: 'refused\n', questions },
    );
    assert.deepEqual(snapshot(place.workspace), before);
  }
  place.host('git fsck --strict');
  const allowed = await runInside(place, 'mv .git gone', { answer: () => 'once' });
  assert.deepEqual(
    { code: allowed.code, questions: allowed.questions },
    { code: 0, questions: ['protected ws/.git'] },
  );
  place.host('git --git-dir=gone fsck --strict');
});

test('C029 the first write to what runs later outside is held, with a view of the change', async (t) => {
  const place = createGitPlace(t);
  place.host('mkdir -p .vscode .github/hooks; echo old > .vscode/tasks.json; echo old > .envrc');
  const before = snapshot(place.workspace);
  const run = await runInside(
    place,
    `echo new > new; for f in .vscode/tasks.json .envrc .github/hooks/h.json .husky; do
       cp new t; mv t $f || rm t; done; rm new`,
  );
  assert.deepEqual(
    run.asked.map(({ path: changed, change }) => [changed, change]),
    [
      ['ws/.vscode/tasks.json', 'new\n'],
      ['ws/.envrc', 'new\n'],
      ['ws/.github/hooks/h.json', 'new\n'],
      ['ws/.husky', 'new\n'],
    ],
  );
  assert.deepEqual(snapshot(place.workspace), before);
});

test('C030 packages with editor folders and repositories with them in packages install', async (t) => {
  const place = createGitPlace(t);
  const run = await runInside(
    place,
    `mkdir -p node_modules/p/.vscode vendor/q/.idea; echo x > node_modules/p/.vscode/settings.json
     echo x > vendor/q/.envrc; git init -q node_modules/r; mkdir node_modules/r/.vscode`,
  );
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git ws/node_modules/r/.git'] },
    run.stderr,
  );
  assert.ok(existsSync(place.at('node_modules/p/.vscode/settings.json')));
});
