// Git as people use it: after one answer for a repository its objects, refs and index are git's to change; what would
// run later outside is a question of its own, which shows what would be written.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createGitPlace, openGit, runInside } from '../support/gitRuns.js';
import { snapshot } from '../support/sandbox.js';
import type { Answer, Asked } from '../support/gitRuns.js';

const COMMIT = 'echo a > a; git add a; git commit -qm a';
const REPOSITORY = `git init -q; ${COMMIT}`;
/** A bare repository with one commit on main, beside the workspace. */
const UPSTREAM = `git init -q --bare ../up.git; git init -q ../maker; cd ../maker; ${COMMIT};
  git push -q ../up.git main; cd ../ws`;

const STATUS = 'git status --porcelain --ignored --untracked-files=all';

test('init, add and commit in an empty folder take one answer, and the host sees a clean tree', async (t) => {
  const place = createGitPlace(t);
  const run = await runInside(place, 'echo a > a; git init -q && git add -A && git commit -qm a');
  assert.deepEqual(
    { code: run.code, stderr: run.stderr, questions: run.questions, times: run.asked.length },
    { code: 0, stderr: '', questions: ['git ws/.git'], times: 1 },
  );
  assert.equal(place.host(STATUS), '');
  assert.equal(place.host('git log --format=%s'), 'a\n');
  assert.deepEqual(readdirSync(place.workspace).sort(), ['.git', 'a']);
});

test('without an answer git changes nothing, and says that it may not', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const before = snapshot(place.workspace);
  const run = await runInside(place, 'git status --porcelain; git add -A; git commit -qm b', {
    answer: () => 'deny',
  });
  assert.notEqual(run.code, 0);
  assert.match(run.stderr, /index\.lock.*Permission denied/);
  assert.deepEqual(run.questions, ['git ws/.git']);
  assert.deepEqual(snapshot(place.workspace), before);
});

describe('one answer is enough for', () => {
  const rows: readonly (readonly [
    what: string,
    before: string,
    script: string,
    questions?: readonly string[],
  ])[] = [
    [
      'branches and tags',
      REPOSITORY,
      'git switch -qc b; git branch -m b c; git switch -q main; git tag v1; git branch -qD c',
    ],
    [
      'rebase, also an interactive one',
      `${REPOSITORY}; git switch -qc b; echo b > b; git add b; git commit -qm b; git switch -q main;
       echo c > c; git add c; git commit -qm c`,
      'git switch -q b; git rebase -q main; git rebase -qi HEAD~2',
    ],
    [
      'stash, cherry-pick, revert, merge, notes and bisect',
      `${REPOSITORY}; git switch -qc b; echo b > b; git add b; git commit -qm b; git switch -q main;
       echo c > c; git add c; git commit -qm c`,
      `echo d >> a; git stash -q; git stash pop -q; git checkout -q a; git cherry-pick b;
       git revert --no-edit HEAD; git merge -q --no-edit b; git notes add -m x;
       git bisect start HEAD HEAD~1; git bisect reset`,
    ],
    [
      'mail patches',
      `${REPOSITORY}; echo b > b; git add b; git commit -qm b; git format-patch -qo ../patches -1;
       git reset -q --hard HEAD~1`,
      'git am -q ../patches/*.patch; test -e b',
    ],
    ['gc and prune', REPOSITORY, 'git reflog expire --expire=now --all; git gc -q --prune=now'],
    [
      'fetch, pull and push, with the tracking that they write',
      `${UPSTREAM}; git clone -q ../up.git .`,
      `git fetch -q; git switch -qc b --track origin/main; git pull -q --rebase;
       git remote add other https://example.com/other.git; git remote rename other third;
       git remote remove third; git config branch.b.description x`,
    ],
    [
      'a linked work tree in the workspace',
      REPOSITORY,
      `git worktree add -q w; cd w; echo b > b; git add b; git commit -qm b; cd ..;
       git worktree move w x; git worktree remove x; git worktree prune`,
    ],
    [
      'submodules',
      `${UPSTREAM}; ${REPOSITORY}`,
      `git submodule --quiet add "$PWD/../up.git" lib; git commit -qm lib; (cd lib; echo z > z; git add z; git commit -qm z);
       git submodule --quiet sync; git submodule --quiet deinit -f lib; git submodule --quiet update --init`,
    ],
    [
      'sparse checkouts',
      `${REPOSITORY}; mkdir d e; echo d > d/d; echo e > e/e; git add d e; git commit -qm d`,
      'git sparse-checkout set d; test ! -e e; git sparse-checkout disable; test -e e',
    ],
    [
      'a clone in a sub-folder, with submodules',
      `${UPSTREAM}; git init -q ../with; cd ../with; git submodule --quiet add "$PWD/../up.git" lib;
       git commit -qm lib; cd ../ws`,
      'git clone -q --recurse-submodules ../with sub; cd sub; test -e lib/a; git status --porcelain',
      ['git ws/sub/.git'],
    ],
    [
      'a bare repository under any name',
      '',
      'git init -q --bare some; git -C some config core.logallrefupdates true',
      ['git ws/some'],
    ],
  ];
  for (const [what, before, script, questions = ['git ws/.git']] of rows) {
    test(what, async (t) => {
      const place = createGitPlace(t);
      place.host(before);
      const run = await runInside(place, script);
      assert.deepEqual(
        { code: run.code, questions: run.questions },
        { code: 0, questions },
        run.stderr,
      );
      place.host(
        'for r in .git sub/.git some; do test ! -d $r || git --git-dir=$r fsck --strict; done',
      );
    });
  }
});

test('push -u to a repository in the workspace is asked for each of the two, and sets the tracking', async (t) => {
  const place = createGitPlace(t);
  place.host(`git init -q one; cd one; ${COMMIT}; git init -q --bare ../two.git`);
  const run = await runInside(
    place,
    'cd one; git remote add two ../two.git; git push -qu two main',
  );
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git ws/one/.git', 'git ws/two.git'] },
    run.stderr,
  );
  assert.equal(place.host('git -C one rev-parse --abbrev-ref main@{u}'), 'two/main\n');
  assert.equal(place.host('git -C two.git log --format=%s main'), 'a\n');
});

test('a linked work tree whose repository lies outside takes commits with the same answer', async (t) => {
  const place = createGitPlace(t);
  place.host(
    `git init -q ../main; cd ../main; ${COMMIT}; rmdir ../ws; git worktree add -q ../ws -b w`,
  );
  const common = `${place.folder}/main/.git`;
  const run = await runInside(place, 'echo b > b; git add b; git commit -qm b; git gc -q', {
    files: { repositories: [{ directory: `${common}/worktrees/ws`, common }] },
  });
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git main/.git'] },
    run.stderr,
  );
  assert.equal(place.host('git log --format=%s'), 'b\na\n');
  assert.equal(place.host('git -C ../main log --format=%s w; git status --porcelain'), 'b\na\n');
});

test('the repository outside keeps its hooks and settings, whatever was answered', async (t) => {
  const place = createGitPlace(t);
  place.host(
    `git init -q ../main; cd ../main; ${COMMIT}; rmdir ../ws; git worktree add -q ../ws -b w`,
  );
  const common = `${place.folder}/main/.git`;
  const before = snapshot(common).filter((line) => /^(?:config|hooks)/.test(line));
  const run = await runInside(
    place,
    `git branch b; c=${common}; for f in config hooks/post-commit info/attributes worktrees/ws/config.worktree; do
       echo '[alias] x = !id' > $c/$f || true; done; git config core.fsmonitor ./x || true`,
    { files: { repositories: [{ directory: `${common}/worktrees/ws`, common }] } },
  );
  assert.deepEqual(
    snapshot(common).filter((line) => /^(?:config|hooks)/.test(line)),
    before,
  );
  assert.equal(existsSync(`${common}/info/attributes`), false);
  assert.equal(existsSync(`${common}/worktrees/ws/config.worktree`), false);
  assert.deepEqual(run.questions, [
    'git main/.git',
    'protected main/.git/config',
    'protected main/.git/hooks',
    'protected main/.git/info/attributes',
    'protected main/.git/worktrees/ws/config.worktree',
  ]);
});

describe('whatever was answered for git, a question of its own shows', () => {
  const rows: readonly (readonly [
    what: string,
    script: string,
    question: string,
    change: string | null,
    path: string,
  ])[] = [
    [
      'a setting that runs something',
      "git config core.fsmonitor './watch me'",
      'protected ws/.git/config',
      '+ core.fsmonitor = ./watch me\n',
      'config',
    ],
    [
      'another place for hooks',
      'git config core.hooksPath hooks',
      'protected ws/.git/config',
      '+ core.hookspath = hooks\n',
      'config',
    ],
    [
      'an alias',
      "git config alias.st '!id'",
      'protected ws/.git/config',
      '+ alias.st = !id\n',
      'config',
    ],
    [
      'a remote that is a program',
      "git remote add x 'ext::sh -c id'",
      'protected ws/.git/config',
      '+ remote.x.url = ext::sh -c id\n',
      'config',
    ],
    [
      'a hook that is moved into place',
      "printf '#!/bin/sh\\nid\\n' > h; mv h .git/hooks/post-commit",
      'protected ws/.git/hooks',
      '#!/bin/sh\nid\n',
      'hooks/post-commit',
    ],
    [
      'a hook that is written in place',
      'echo id > .git/hooks/post-commit',
      'protected ws/.git/hooks',
      null,
      'hooks/post-commit',
    ],
    [
      'a hook that is a link',
      'ln -s ../../a .git/hooks/post-commit',
      'protected ws/.git/hooks',
      '-> ../../a\n',
      'hooks/post-commit',
    ],
    [
      'a sample that becomes a hook',
      'mv .git/hooks/pre-commit.sample .git/hooks/pre-commit',
      'protected ws/.git/hooks',
      'SAMPLE',
      'hooks/pre-commit',
    ],
    [
      'attributes',
      "echo '* filter=x' > f; mv f .git/info/attributes",
      'protected ws/.git/info/attributes',
      '* filter=x\n',
      'info/attributes',
    ],
    [
      'settings of a work tree',
      "printf '[core]\\nsshCommand = id\\n' > f; mv f .git/config.worktree",
      'protected ws/.git/config.worktree',
      '+ core.sshcommand = id\n',
      'config.worktree',
    ],
  ];
  for (const [what, script, question, change, file] of rows) {
    test(what, async (t) => {
      const place = createGitPlace(t);
      place.host(REPOSITORY);
      const sample = readFileSync(place.at('.git/hooks/pre-commit.sample'), 'utf8');
      const before = snapshot(place.at('.git/hooks')).concat(snapshot(place.at('.git/info')));
      const config = readFileSync(place.at('.git/config'), 'utf8');
      const refused = await runInside(place, `${script} || echo refused`);
      const [asked] = refused.asked.filter((one) => one.what === question);
      assert.deepEqual(
        { ...asked, call: '' },
        {
          what: question,
          path: `ws/.git/${file}`,
          call: '',
          change: change === 'SAMPLE' ? sample : change,
        },
      );
      assert.match(refused.stdout, /refused/);
      assert.deepEqual(
        snapshot(place.at('.git/hooks')).concat(snapshot(place.at('.git/info'))),
        before,
      );
      assert.equal(readFileSync(place.at('.git/config'), 'utf8'), config);
      assert.equal(existsSync(place.at('.git/config.worktree')), false);
      assert.equal(existsSync(place.at('.git/config.lock')), false, 'nothing is left behind');

      const allowed = await runInside(place, script, {
        answer: (one) => (one.what === question ? 'once' : openGit(one)),
      });
      assert.equal(allowed.code, 0, allowed.stderr);
      assert.equal(existsSync(place.at(`.git/${file}`)) || what === 'a hook that is a link', true);
    });
  }
});

test('what was shown is what is written: a lock file that is still open cannot change it', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const run = await runInside(
    place,
    `cp .git/config .git/config.lock; printf '[pull]\\n\\tff = only\\n' >> .git/config.lock
     exec 3>> .git/config.lock; mv .git/config.lock .git/config
     printf '[core]\\n\\tfsmonitor = ./evil\\n' >&3`,
  );
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git ws/.git'] },
  );
  const config = readFileSync(place.at('.git/config'), 'utf8');
  assert.match(config, /ff = only/);
  assert.doesNotMatch(config, /evil/);
});

test('a rebase with a command in its todo is held before it is written', async (t) => {
  const place = createGitPlace(t);
  place.host(`${REPOSITORY}; echo b > b; git add b; git commit -qm b`);
  const script = 'git rebase -q -x "touch ran" HEAD~1 && echo done';
  const refused = await runInside(place, script);
  assert.notEqual(refused.code, 0);
  assert.equal(existsSync(place.at('ran')), false);
  const asked = refused.asked.find(({ path }) => path.endsWith('git-rebase-todo'));
  assert.equal(asked?.change, 'exec touch ran\n');
  place.host('git rebase --abort 2>/dev/null || git rebase --quit 2>/dev/null || true');
  assert.equal(place.host(`git log --format=%s; ${STATUS}`), 'b\na\n');

  const allowed = await runInside(place, script, {
    answer: (one) => (one.path.includes('rebase-merge') ? 'open' : openGit(one)),
  });
  assert.equal(allowed.stdout, 'done\n', allowed.stderr);
  assert.equal(existsSync(place.at('ran')), true);
});

test('git lfs install asks for its hooks alone, with one answer for all of them', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const run = await runInside(place, 'git lfs install --local; git lfs track "*.bin"; git add -A', {
    answer: () => 'open',
  });
  assert.deepEqual(
    { code: run.code, questions: run.questions },
    { code: 0, questions: ['git ws/.git', 'protected ws/.git/hooks'] },
    run.stderr,
  );
  assert.equal(place.host('git config filter.lfs.clean'), 'git-lfs clean -- %f\n');
});

describe('a folder that becomes a repository without git is looked into:', () => {
  const rows: readonly (readonly [what: string, script: string, change: RegExp])[] = [
    [
      'settings that run something',
      "mkdir -p x/refs; printf '[core]\\nfsmonitor = ./evil\\n' > x/config; echo 'ref: refs/heads/main' > x/HEAD; mkdir x/objects",
      /^config has:\n\+ core\.fsmonitor = \.\/evil\n$/,
    ],
    [
      'hooks',
      'mkdir -p x/refs x/hooks; echo id > x/hooks/post-checkout; mkdir x/objects',
      /^hooks\/post-checkout:\nid\n$/,
    ],
    [
      'settings that another name can change later',
      'mkdir -p x/refs; : > x/config; ln x/config y; mkdir x/objects',
      /^config is open for writing, or has another name\n$/,
    ],
    [
      'settings that are open for writing',
      'mkdir -p x/refs; exec 3> x/config; mkdir x/objects',
      /^config is open for writing, or has another name\n$/,
    ],
    [
      'a layout that is moved together',
      "mkdir -p x/refs y; printf '[alias]\\nx = !id\\n' > x/config; mv y x/objects",
      /^config has:\n\+ alias\.x = !id\n$/,
    ],
    [
      'a folder that becomes .git',
      'mkdir -p x/hooks; echo id > x/hooks/update; mv x .git',
      /^hooks\/update:\nid\n$/,
    ],
  ];
  for (const [what, script, change] of rows) {
    test(what, async (t) => {
      const place = createGitPlace(t);
      const run = await runInside(place, `${script} && echo made || echo refused`);
      assert.equal(run.stdout, 'refused\n', run.stderr);
      assert.match(run.asked.at(-1)?.change ?? '', change);
      assert.equal(existsSync(place.at('x/objects')), false);
      assert.equal(existsSync(place.at('.git')), false);
    });
  }
});

test('what runs is protected in a bare repository under any name, once it is one', async (t) => {
  const place = createGitPlace(t);
  place.host('git init -q --bare some');
  const before = snapshot(place.at('some'));
  const run = await runInside(
    place,
    `for f in hooks/update config info/attributes commondir; do echo x > some/$f && echo "wrote $f"; done
     git -C some config core.fsmonitor x; mv some/hooks old; ln -s . some/modules; true`,
    { answer: (one): Answer => (one.what.startsWith('git ') ? 'once' : 'deny') },
  );
  assert.equal(run.stdout, '');
  assert.deepEqual(snapshot(place.at('some')), before);
});

const removal = (one: Asked): Answer => (one.what === 'protected ws/.git' ? 'deny' : openGit(one));

test('a repository is neither moved nor removed without a question of its own', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const run = await runInside(
    place,
    'mv .git gone; rm -f .git/HEAD; rm -f .git/config; mv .git/objects o; mv .git/refs r; true',
    { answer: removal },
  );
  assert.ok(run.questions.includes('protected ws/.git'));
  place.host('git fsck --strict');
  const allowed = await runInside(place, 'rm -rf .git && echo removed', { answer: () => 'open' });
  assert.equal(allowed.stdout, 'removed\n', allowed.stderr);
  assert.equal(existsSync(place.at('.git')), false);
});

test('git: protect refuses at once, and asks nobody', async (t) => {
  const place = createGitPlace(t);
  place.host(REPOSITORY);
  const before = snapshot(place.workspace);
  const run = await runInside(
    place,
    'git add -A; echo x > .git/hooks/update; mkdir sub/.git; git init -q sub; true',
    {
      files: { git: 'protect' },
      answer: () => 'open',
    },
  );
  assert.deepEqual(run.questions, []);
  assert.deepEqual(
    snapshot(place.workspace).filter((line) => !line.startsWith('sub')),
    before,
  );
  assert.equal(existsSync(place.at('sub/.git')), false);
});

test('git: allow asks for what runs later alone', async (t) => {
  const place = createGitPlace(t);
  const run = await runInside(
    place,
    `${REPOSITORY}; git clone -q . sub; echo x > .git/hooks/update || echo refused`,
    { files: { git: 'allow' }, answer: () => 'deny' },
  );
  assert.deepEqual(
    { code: run.code, stdout: run.stdout, questions: run.questions },
    { code: 0, stdout: 'refused\n', questions: ['protected ws/.git/hooks'] },
    run.stderr,
  );
});

test('an archive with .git and .vscode in it unpacks but for these, and in packages but for .git', async (t) => {
  const place = createGitPlace(t);
  place.host(`mkdir ../from; cd ../from; ${REPOSITORY}; mkdir .vscode node_modules node_modules/p; echo t > .vscode/t;
    cp -r .vscode node_modules/p; tar cf ../archive.tar .; rm -rf ../from`);
  const run = await runInside(place, 'tar xf ../archive.tar || true', { answer: () => 'deny' });
  assert.deepEqual([...run.questions].sort(), ['git ws/.git', 'protected ws/.vscode']);
  assert.deepEqual(readdirSync(place.workspace).sort(), ['a', 'node_modules']);
  assert.equal(readFileSync(place.at('node_modules/p/.vscode/t'), 'utf8'), 't\n');
});

test('an editor replaces a file of the workspace by rename, and a protected one by a question that shows it', async (t) => {
  const place = createGitPlace(t);
  place.host('mkdir .vscode; echo old > .vscode/tasks.json; echo old > a');
  writeFileSync(place.at('new'), 'new\n');
  const run = await runInside(place, 'cp new t; mv t a; cp new t; mv t .vscode/tasks.json', {
    answer: () => 'once',
  });
  assert.deepEqual(run.asked, [
    {
      what: 'protected ws/.vscode',
      path: 'ws/.vscode/tasks.json',
      call: 'rename',
      change: 'new\n',
    },
  ]);
  assert.equal(place.host('cat a .vscode/tasks.json'), 'new\nnew\n');
  assert.equal(existsSync(place.at('t')), false);
});
