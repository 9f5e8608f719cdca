// Attempts to get out of a boundary, as data: what the escape suite tries inside, and what the benchmark tries in other
// sandboxes. Each is a shell script with the world of escapeWorld.ts in its variables:
//   $WS workspace   $FREE a folder in it that may change   $OUT a folder beside it   $HIDDEN a file in ~/.ssh
//   $B, $E the programs breach and escape   $SOCK, $ABSTRACT, $PORT servers on the host   $VICTIM a process on the host
// An attempt is a breach when the host shows it: a changed tree, the secret's text, bytes at a server, a dead victim, or a
// marker made by what runs outside later (git, with `victims`). `refused`: the call itself must not succeed.

export interface Escape {
  readonly name: string;
  readonly script: string;
  /** Flags of `cordon run`, besides the usual ones. */
  readonly flags?: readonly string[];
  /** What the user does on the host afterwards; only the marker counts then, since the repository may change. */
  readonly victims?: readonly string[];
  /** `done` in the output is the breach: the kernel gives nothing else away. */
  readonly refused?: true;
}

/** Seconds that each race takes. */
export function escapes(seconds: number): readonly Escape[] {
  return [
    ...writes(),
    ...marks(),
    ...oldCalls(),
    ...viaNames(),
    ...mounts(),
    ...protectedNames(),
    ...namespaces(),
    ...secrets(),
    ...sockets(),
    ...processes(),
    ...kernel(),
    ...git(),
    ...races(seconds),
  ];
}

function attempts(
  group: string,
  scripts: Readonly<Record<string, string>>,
  more: Omit<Escape, 'name' | 'script'> = {},
): readonly Escape[] {
  return Object.entries(scripts).map(([name, script]) => ({
    name: `${group}: ${name}`,
    script,
    ...more,
  }));
}

function writes(): readonly Escape[] {
  return attempts('write outside', {
    'create a file': '$B write $OUT/new',
    'append to a file': '$B append $OUT/file',
    'truncate by creat': '$B creat $OUT/file',
    'create by openat2': '$B openat2 $OUT/new',
    'create by openat2 in a root': '$E openat2-in-root $OUT/new',
    'a file without a name, linked': '$E tmpfile-link $OUT $OUT/new',
    'a file without a name, from the workspace': '$E tmpfile-link $FREE $OUT/new',
    truncate: '$B truncate $OUT/file',
    mkdir: '$B mkdir $OUT/new',
    rmdir: '$B rmdir $OUT/folder',
    unlink: '$B unlink $OUT/file',
    rename: '$B rename $OUT/file $OUT/moved',
    'rename out of the workspace': 'touch $FREE/f; $B rename $FREE/f $OUT/new',
    'rename into the workspace': '$B rename $OUT/file $FREE/taken',
    'exchange with the workspace': 'touch $FREE/f; $B exchange $FREE/f $OUT/file',
    'link out of the workspace': 'touch $FREE/f; $B link $FREE/f $OUT/new',
    'link into the workspace and write': '$E link-and-write $OUT/file $FREE/f',
    'link by descriptor and write': '$E link-opened-and-write $OUT/file $FREE/f',
    symlink: '$B symlink /etc/passwd $OUT/new',
    'through a symbolic link to a file': 'ln -s $OUT/file $FREE/l; $B append $FREE/l',
    'through a dangling symbolic link': 'ln -s $OUT/new $FREE/l; $B write $FREE/l',
    'through a symbolic link to a folder': 'ln -s $OUT $FREE/l; $B write $FREE/l/new',
    'through a chain of links': 'ln -s $OUT $FREE/a; ln -s a $FREE/b; $B mkdir $FREE/b/new',
    fifo: '$B fifo $OUT/new',
    chmod: '$B chmod $OUT/file',
    fchmod: '$B fchmod $OUT/file',
    fchmodat2: '$B fchmodat2 $OUT/file',
    'shared mapping': '$B shared-mapping $OUT/file',
    'open again for writing': '$B reopen $OUT/file',
    'open again by /proc/PID/fd': '$E reopen-for-writing $OUT/file',
    'truncate what is open for reading': '$E truncate-opened $OUT/file',
    'send a file into what is open for reading': '$E send-file $WS/file $OUT/file',
    'copy a range into what is open for reading': '$E copy-range $WS/file $OUT/file',
    'punch a hole': '$E punch-hole $OUT/file',
    'by /proc/self/root': '$B write /proc/self/root$OUT/new',
    'by /proc/self/cwd': 'cd $OUT; $B write /proc/self/cwd/new',
    'by dots': 'cd $FREE; $B write ../../outside/new',
    'in a folder given by descriptor': '$E create-at $OUT new',
    'a socket': '$B unix-bind $OUT/new',
    'from a removed working directory': '$E from-deleted $FREE/d $OUT/new',
    'the shell start-up file': 'echo touch >> ~/.bashrc',
    'a program in PATH': 'mkdir -p ~/bin; $B write ~/bin/ls',
    'a program that starts with the session':
      'mkdir -p ~/.config/autostart; $B write ~/.config/autostart/x',
    'temporary files of the host': '$B append $HOSTTMP; echo x > $HOSTTMP',
    'shared memory of the host': '$B append $HOSTSHM; echo x > $HOSTSHM',
    'kernel settings': '$B append /proc/sys/kernel/core_pattern; $B append /proc/sysrq-trigger',
    'control groups': '$B mkdir /sys/fs/cgroup/breach',
  });
}

/** What shows in no listing. */
function marks(): readonly Escape[] {
  return attempts(
    'write outside, refused',
    {
      'extended attribute': '$B setxattr $OUT/file',
      'extended attribute by setxattrat': '$E setxattrat $OUT/file',
      'file attributes': '$E file-setattr $OUT/file',
      times: '$B utimes $OUT/file',
      'times by descriptor': '$B futimes $OUT/file',
      'times by the old call': '$E old-utime $OUT/file',
      owner: '$B chown $OUT/file',
    },
    { refused: true },
  );
}

/** The calls that today's libraries no longer make. */
function oldCalls(): readonly Escape[] {
  return attempts('old system calls', {
    open: '$E old-open $OUT/new; $E old-open $WS/.envrc',
    creat: '$E old-creat $OUT/new; $E old-creat $WS/.envrc',
    mkdir: '$E old-mkdir $OUT/new; $E old-mkdir $WS/.idea',
    rename: 'touch $FREE/f; $E old-rename $OUT/file $OUT/g; $E old-rename $FREE/f $WS/.envrc',
    link: 'touch $FREE/f; $E old-link $OUT/file $OUT/g; $E old-link $FREE/f $WS/.envrc',
    symlink: '$E old-symlink x $OUT/new; $E old-symlink free $WS/.idea',
    unlink: '$E old-unlink $OUT/file; $E old-unlink $WS/.vscode/settings.json',
    rmdir: '$E old-rmdir $OUT/folder',
    chmod: '$E old-chmod $OUT/file; $E old-chmod $WS/.git/hooks/off',
    mknod: '$E old-mknod $OUT/new; $E old-mknod $WS/.envrc',
    'by a tracer': '$E traced $WS/.idea; $E traced $OUT/new',
  });
}

/** Ways to name a protected place that are not its name. */
function viaNames(): readonly Escape[] {
  return attempts('another name for a protected place', {
    'trailing slashes and dots': '$B mkdir $WS/./.idea/; $B mkdir $WS//.idea/.',
    'up from below': 'mkdir $FREE/d; $B mkdir $FREE/d/../../.idea',
    'a symbolic link to the workspace': 'ln -s .. $FREE/up; $B mkdir $FREE/up/.idea',
    'an absolute symbolic link': 'ln -s $WS $FREE/up; $B write $FREE/up/.envrc',
    'a dangling symbolic link': 'ln -s ../.envrc $FREE/l; echo x > $FREE/l',
    '/proc/self/cwd': 'cd $WS; $B mkdir /proc/self/cwd/.idea',
    '/proc/self/root': '$B mkdir /proc/self/root$WS/.idea',
    '/proc/self/fd': 'cd $WS; exec 9<.; $B mkdir /proc/self/fd/9/.idea',
    '/dev/fd': 'cd $WS; exec 9<.; $B write /dev/fd/9/.envrc',
    'a descriptor of the folder': '$E mkdir-at $WS .idea; $E create-at $WS .envrc',
    'a removed working directory':
      '$E from-deleted $FREE/d $WS/.envrc; $E from-deleted $FREE/e ../.envrc',
    'a moved working directory':
      'mkdir $FREE/a $FREE/a/b; $E from-moved $FREE/a/b/c $FREE/c ../../.envrc',
    'a path longer than PATH_MAX': '$E from-deep $FREE ../.envrc; rm -rf $FREE/d*',
    'other case': '$B mkdir $WS/.IDEA; $B mkdir $WS/plain/.GIT; $B mkdir $WS/.Idea',
    'letters that fold': '$B mkdir "$WS/.vſcode"; $B mkdir "$WS/.huſKy"',
    'a short name of FAT': '$B mkdir $WS/plain/git~1',
  });
}

function mounts(): readonly Escape[] {
  const scripts: Readonly<Record<string, string>> = {
    'remount /': '$N remount /',
    'remount .git': '$N remount $WS/.git',
    'remount the secrets': '$N remount $HOME/.ssh',
    'make / writable': '$N set-writable /',
    'make everything writable': '$N set-writable-recursive /',
    'make .git writable': '$N set-writable $WS/.git',
    'unmount .git': '$N unmount $WS/.git',
    'unmount .vscode': '$N unmount $WS/.vscode',
    'unmount the workspace': '$N unmount $WS',
    'unmount the secrets': '$N unmount $HOME/.ssh',
    'unmount /tmp': '$N unmount /tmp',
    'unmount /dev': '$N unmount /dev',
    'unmount /proc': '$N unmount /proc',
    'move .git away': '$N move-mount $WS/.git /dev/shm',
    'move .vscode away': '$N move-mount $WS/.vscode /dev/shm',
    'move the workspace away': '$N move-mount $WS /dev/shm',
    'bind the workspace without what covers it': '$N bind-without-children $WS /dev/shm',
    'bind / without what covers it': '$N bind-without-children / /dev/shm',
    'bind the home folder without what covers it': '$N bind-without-children $HOME /dev/shm',
    'bind and write a hook': '$N bind-and-write $WS /dev/shm .git/hooks/pre-commit',
    'bind and write outside': '$N bind-and-write / /dev/shm ${OUT#/}/new',
    'bind and read the secret': '$N bind-and-read / /dev/shm ${HIDDEN#/}',
    'clone / and write': '$N clone-and-write / ${OUT#/}/new',
    'clone everything and write': '$N clone-all-and-write / ${OUT#/}/new',
    'clone the folder and write': '$N clone-and-write $OUT new',
    'clone the home folder and write': '$N clone-all-and-write $HOME outside/new',
    'clone .git and write': '$N clone-and-write $WS/.git hooks/pre-commit',
    'clone the workspace and write': '$N clone-and-write $WS .git/hooks/pre-commit',
    'change the root': '$N pivot-root $WS',
    'enter the mounts of pid 1': '$N setns /proc/1/ns/mnt',
    'enter the user namespace of pid 1': '$N setns /proc/1/ns/user',
    'enter the network of pid 1': '$N setns /proc/1/ns/net',
  };
  // A mount that could be undone shows itself in what is tried next.
  const then = `; $B write $OUT/new; $B write $WS/.git/hooks/pre-commit; cat $HIDDEN /dev/shm/id 2>&1`;
  const called = (how: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(scripts).map(([name, script]) => [name, script.replaceAll('$N', how) + then]),
    );
  return [
    ...attempts('mounts', called('$B')),
    ...attempts('mounts, from a namespace of its own', called('$B nested')),
  ];
}

function protectedNames(): readonly Escape[] {
  return attempts('protected names', {
    'mkdir .idea': '$B mkdir $WS/.idea',
    'mkdir .git in a plain folder': '$B mkdir $WS/plain/.git',
    'a .git file in a plain folder': '$B write $WS/plain/.git',
    'mkdir .codex': '$B mkdir $WS/.codex',
    'mkdir .agents': '$B mkdir $WS/.agents',
    'mkdir .claude': '$B mkdir $WS/.claude',
    'mkdir .cursor': '$B mkdir $WS/.cursor',
    'mkdir .husky': '$B mkdir $WS/.husky',
    'mkdir .devcontainer': '$B mkdir $WS/.devcontainer',
    'write .envrc': '$B write $WS/.envrc',
    'write .mcp.json': '$B write $WS/.mcp.json',
    'write .pre-commit-config.yaml': '$B write $WS/.pre-commit-config.yaml',
    'write .cordon.json': '$B write $WS/.cordon.json',
    'mkdir .github/workflows': '$B mkdir $WS/.github/workflows',
    'rename a folder to .idea': 'mkdir $FREE/d; $B rename $FREE/d $WS/.idea',
    'rename a file to .envrc': 'touch $FREE/f; $B rename $FREE/f $WS/.envrc',
    'exchange a file with a protected one':
      'touch $FREE/f; $B exchange $FREE/f $WS/.vscode/settings.json',
    'exchange a folder with a protected one': 'mkdir $FREE/d; $B exchange $FREE/d $WS/.vscode',
    'link to .envrc': 'touch $FREE/f; $B link $FREE/f $WS/.envrc',
    'a symbolic link as .idea': '$B symlink free $WS/.idea',
    'a FIFO as .envrc': '$B fifo $WS/.envrc',
    'a socket as .envrc': '$B unix-bind $WS/.envrc',
    'a file without a name as .envrc': '$E tmpfile-link $FREE $WS/.envrc',
    'the same by an empty path': '$E tmpfile-link-empty $FREE $WS/.envrc',
    'write an existing one': '$B append $WS/.vscode/settings.json',
    'a second name for an existing one': '$E link-and-write $WS/.vscode/settings.json $FREE/f',
    'a second name by descriptor': '$E link-opened-and-write $WS/.vscode/settings.json $FREE/f',
    'a second name for a hook': '$E link-and-write $WS/.git/hooks/off $FREE/f',
    'remove an existing one': 'rm -rf $WS/.vscode',
    'rename an existing one away': '$B rename $WS/.vscode $FREE/v',
    'rename .git away': '$B rename $WS/.git $FREE/g',
    'rename the folder around one': '$B rename $WS/.github $FREE/g; mkdir -p $WS/.github/workflows',
    'a prepared folder into place':
      'mkdir -p $FREE/g/workflows; rm -rf $WS/.github; $B rename $FREE/g $WS/.github; mkdir -p $WS/.github',
    'a name of a repository further down': '$B mkdir $WS/pkg/.vscode; $B write $WS/pkg/.envrc',
    'the .git of a repository further down':
      '$B append $WS/pkg/.git/config; $B write $WS/pkg/.git/hooks/pre-commit',
    'a hook that becomes executable':
      '$E make-executable $WS/.git/hooks/off; $B chmod $WS/.git/hooks/off',
    'unpack an archive over it':
      'mkdir -p $FREE/a/.idea; tar -cf $FREE/a.tar -C $FREE/a .idea; tar -xf $FREE/a.tar -C $WS',
    'copy a tree over it': 'mkdir -p $FREE/a; cp -r $WS/.vscode $FREE/a/.idea; cp -rT $FREE/a $WS',
  });
}

/** Writes to an overlay go to its upper directory; the kernel leaves a folder that nobody may list. */
function overlay(attempt: string, upper: string, rest: string): string {
  const folders = 'mkdir $FREE/l $FREE/w $FREE/m';
  return `${folders}; $E nested ${attempt} $FREE/l ${upper} $FREE/w ${rest}; chmod -R u+rwx $FREE/w`;
}

/** Path rules must not be got round where paths are the program's own. */
function namespaces(): readonly Escape[] {
  return attempts('namespaces of its own', {
    'the workspace under another path': '$E nested bind-and-mkdir $WS /dev/shm .idea',
    'a folder of it under another path': '$E nested bind-and-mkdir $WS/.github /dev/shm workflows',
    'renamed under another path':
      'touch $FREE/f; $E nested bind-and-rename $WS /dev/shm free/f .envrc',
    'the workspace as root': '$E nested chroot-and-create $WS /.envrc',
    'a folder of it as root': '$E nested chroot-and-create $WS/.github /workflows',
    'an overlay on a folder of the workspace': overlay(
      'overlay-and-create',
      '$WS/.github',
      '$FREE/m workflows',
    ),
    'an overlay on a repository': overlay(
      'overlay-and-create',
      '$WS/pkg/.git/hooks',
      '$FREE/m pre-commit',
    ),
    'an overlay by fsopen': overlay('overlay-by-fsopen', '$WS/.github', 'workflows'),
    'an overlay whose type is exchanged': overlay(
      'overlay-swapped',
      '$WS/.github',
      '$FREE/m workflows',
    ),
    'a descriptor of a mount of its own': '$E passed-folder $WS /dev/shm .envrc',
    'bubblewrap inside': 'bwrap --bind / / --bind $WS /mnt mkdir /mnt/.idea',
    'bubblewrap inside, everything writable': 'bwrap --dev-bind / / touch $OUT/new $WS/.envrc',
    'unshare and remount': `unshare -Urm sh -c 'mount -o remount,rw /; touch $OUT/new'`,
  });
}

function secrets(): readonly Escape[] {
  return attempts('secrets', {
    read: 'cat $HIDDEN',
    'by a symbolic link': 'ln -s $HIDDEN $FREE/l; cat $FREE/l',
    'by a hard link': 'ln $HIDDEN $FREE/l; cat $FREE/l',
    'by a link of the folder': 'ln -s ~/.ssh $FREE/l; cat $FREE/l/id',
    'moved away': 'mv ~/.ssh $FREE/s; cat $FREE/s/id',
    'by /proc/self/root': 'cat /proc/self/root$HIDDEN',
    'by /proc/1/root': 'cat /proc/1/root$HIDDEN',
    'from its folder': 'cd ~/.ssh && cat id',
    'by find': 'find ~ -name id -exec cat {} +',
    'by a recursive search': 'grep -r . ~/.ssh',
    'as a program': '. $HIDDEN; sh $HIDDEN',
    'as a list of files': 'tar -c -f - ~/.ssh | cat',
    'copied by the kernel': 'touch $FREE/c; cp --reflink=auto $HIDDEN $FREE/c; cat $FREE/c',
    'by git':
      'git -C $FREE diff --no-index /dev/null $HIDDEN; git hash-object --stdin-paths <<< $HIDDEN',
    'bound in a namespace of its own':
      'mkdir $FREE/m; unshare -Urm sh -c "mount --rbind $HOME $FREE/m && cat $FREE/m/.ssh/id"',
    'below an overlay':
      'mkdir $FREE/m; unshare -Urm sh -c "mount -t overlay -o lowerdir=$HOME/.ssh:$FREE x $FREE/m && cat $FREE/m/id"',
    'by handle': '$B open-by-handle $HOME/.ssh id && cat $HIDDEN',
    'of a process of the host': 'cat /proc/$VICTIM/environ; cat /proc/$VICTIM/root$HIDDEN',
  });
}

function sockets(): readonly Escape[] {
  return attempts('sockets', {
    'a server by path': '$B unix-stream $SOCK',
    'by a relative path': 'cd $(dirname $SOCK); $B unix-stream ./$(basename $SOCK)',
    'by a symbolic link': 'ln -s $SOCK $FREE/l; $B unix-stream $FREE/l',
    'by a hard link': 'ln $SOCK $FREE/l; $B unix-stream $FREE/l',
    'by /proc/self/root': '$B unix-stream /proc/self/root$SOCK',
    'an abstract name': '$B unix-stream $ABSTRACT',
    'address and descriptor exchanged': '$B unix-race $SOCK',
    'from a network of its own': '$B nested unix-stream $SOCK; $B nested unix-stream $ABSTRACT',
    'a port of the host': '$B tcp 127.0.0.1 $PORT',
    'a port of the host by IPv6': '$B tcp ::ffff:127.0.0.1 $PORT; $B tcp ::1 $PORT',
    'a port of the host in the first packet': '$B tcp-fast-open 127.0.0.1 $PORT',
    'a port of the host by 0.0.0.0': '$B tcp 0.0.0.0 $PORT',
    'a port of the host by datagram': '$B udp 127.0.0.1 $PORT; $B udp-connected 127.0.0.1 $PORT',
    'a port of the host from a namespace of its own': '$B nested tcp 127.0.0.1 $PORT',
  });
}

function processes(): readonly Escape[] {
  return [
    ...attempts('processes', {
      'kill one of the host': '$B signal $VICTIM 9; kill -9 $VICTIM',
      'stop one of the host': '$B signal $VICTIM 19; kill -STOP -1',
      'kill everything': 'trap "" TERM HUP INT; kill -TERM -1; kill -9 -1',
      'trace one of the host': '$B attach $VICTIM && $B signal $VICTIM 9',
    }),
    ...attempts(
      'processes, refused',
      {
        'trace pid 1': '$B attach 1; $B seize 1',
        'memory of pid 1': '$B open-writable /proc/1/mem; $B open /proc/1/mem',
        'folders of pid 1': '$B list /proc/1/root; $B list /proc/1/fd; $B list /proc/1/cwd',
        'descriptors of pid 1': '$B take-descriptor 1 0; $B take-descriptor 1 3',
        'pid 1 from a namespace of its own': '$B nested attach 1; $B nested list /proc/1/root',
        'inherited descriptors': '$B inherited',
        'more rights by exec': '$B gain-by-exec',
      },
      { refused: true },
    ),
  ];
}

function kernel(): readonly Escape[] {
  return attempts(
    'kernel',
    {
      'type into the terminal': '$B tiocsti; $B tiocsti-high-bits; $B tioclinux',
      'keys of the user': '$B keyctl; $B add-key; $B request-key',
      io_uring: '$B io-uring',
      userfaultfd: '$B userfaultfd',
      bpf: '$B bpf',
      perf: '$B perf',
      'open by handle': '$B open-by-handle /etc passwd',
      fanotify: '$B fanotify',
      quotas: '$B quotactl',
      'set the clock': '$B clock',
      'the 32-bit table': '$B i386',
      'the x32 table': '$B x32',
      'numbers nobody knows': '$B unknown-call 9999; $B unknown-call 480',
      'vsock to the hypervisor': '$B socket 40 1 0',
      'crypto sockets': '$B socket 38 5 0',
      'packet sockets': '$B socket 17 3 0; $B nested socket 17 3 0',
      'audit and events of the host': '$B socket 16 3 9; $B socket 16 3 15',
    },
    { refused: true },
  );
}

/** With the answer for git given: what would run outside later stays protected. */
function git(): readonly Escape[] {
  const status = 'git -C $WS status';
  const commit = 'git -C $WS commit -q --allow-empty -m outside';
  const evil = 'for d in $FREE $FREE/*/; do git -C "$d" status; done';
  const submodule = 'test -e $WS/.git/modules/m/hooks/pre-commit && touch "$MARKER"';
  const rebase = 'grep -q exec $WS/.git/rebase-merge/git-rebase-todo && touch "$MARKER"';
  const hook = `printf '#!/bin/sh\\ntouch "$MARKER"\\n' > $FREE/hook; chmod +x $FREE/hook`;
  const config = `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch \\"$MARKER\\"\\n\\tworktree = %s\\n' "$FREE" > $FREE/config`;
  const scripts: Readonly<Record<string, string>> = {
    'write a hook': `${hook}; cat $FREE/hook > $WS/.git/hooks/pre-commit; chmod +x $WS/.git/hooks/pre-commit`,
    'rename onto a hook': `${hook}; mv $FREE/hook $WS/.git/hooks/pre-commit`,
    'link to a hook': `${hook}; ln $FREE/hook $WS/.git/hooks/pre-commit`,
    'symbolic link to a hook': `${hook}; ln -s $FREE/hook $WS/.git/hooks/pre-commit`,
    'a file without a name as hook': '$E tmpfile-link $FREE $WS/.git/hooks/pre-commit',
    'hooks of its own': `${hook}; mkdir $FREE/h; cp $FREE/hook $FREE/h/pre-commit; mv $WS/.git/hooks $WS/.git/off; mv $FREE/h $WS/.git/hooks`,
    'hooks by a symbolic link': `${hook}; mkdir $FREE/h; cp $FREE/hook $FREE/h/pre-commit; mv $WS/.git/hooks $WS/.git/off; ln -s $FREE/h $WS/.git/hooks`,
    'a sample that becomes a hook': `${hook}; cp $FREE/hook $WS/.git/hooks/pre-commit.sample; mv $WS/.git/hooks/pre-commit.sample $WS/.git/hooks/pre-commit`,
    'a sample that becomes a hook by a link': `${hook}; cp $FREE/hook $WS/.git/hooks/pre-commit.sample; ln $WS/.git/hooks/pre-commit.sample $WS/.git/hooks/pre-commit`,
    'a hook that is there, executable':
      '$E make-executable $WS/.git/hooks/post-commit; chmod +x $WS/.git/hooks/*',
    'core.fsmonitor': `git -C $WS config core.fsmonitor 'touch "$MARKER"'`,
    'core.hooksPath': `${hook}; cp $FREE/hook $FREE/pre-commit; git -C $WS config core.hooksPath $FREE`,
    'include.path': `${config}; git -C $WS config include.path $FREE/config`,
    'an alias of a command that exists not': `git -C $WS config alias.outside '!touch "$MARKER"'`,
    'config in place': `${config}; cat $FREE/config >> $WS/.git/config`,
    'config by rename': `${config}; cp $FREE/config $WS/.git/config.lock; mv $WS/.git/config.lock $WS/.git/config`,
    'config by link': `${config}; rm $WS/.git/config; ln $FREE/config $WS/.git/config`,
    'config by a symbolic link': `${config}; rm $WS/.git/config; ln -s $FREE/config $WS/.git/config`,
    'config by exchange': `${config}; cp $FREE/config $WS/.git/config.lock; $B exchange $WS/.git/config.lock $WS/.git/config`,
    'config kept open over the rename': '$E keep-open $WS/.git/config.lock $WS/.git/config',
    'config kept mapped over the rename': '$E keep-mapped $WS/.git/config.lock $WS/.git/config',
    'config kept under another name':
      '$E keep-linked $WS/.git/config.lock $WS/.git/config $WS/.git/other',
    'config.worktree': `git -C $WS config extensions.worktreeConfig true; ${config}; cp $FREE/config $WS/.git/config.worktree; mv $FREE/config $WS/.git/config.worktree`,
    'attributes and a filter': `git -C $WS config filter.x.clean 'touch "$MARKER"; cat'; echo '* filter=x' > $WS/.git/info/attributes`,
    'another directory by commondir': `mkdir -p $FREE/c/objects $FREE/c/refs; ${config}; cp $FREE/config $FREE/c/config; printf '%s\\n' $FREE/c > $WS/.git/commondir`,
    'a bare layout, config first': `mkdir $FREE/e; ${config}; mv $FREE/config $FREE/e/config; echo 'ref: refs/heads/main' > $FREE/e/HEAD; mkdir $FREE/e/objects $FREE/e/refs`,
    'a bare layout, config last': `mkdir -p $FREE/e/objects $FREE/e/refs; echo 'ref: refs/heads/main' > $FREE/e/HEAD; ${config}; mv $FREE/config $FREE/e/config`,
    'a bare layout, put together by renames': `mkdir -p $FREE/e $FREE/1 $FREE/2; ${config}; mv $FREE/config $FREE/e/config; echo 'ref: refs/heads/main' > $FREE/e/HEAD; mv $FREE/1 $FREE/e/objects; mv $FREE/2 $FREE/e/refs`,
    'a bare layout by symbolic links': `mkdir -p $FREE/e $FREE/1; ${config}; mv $FREE/config $FREE/e/config; echo 'ref: refs/heads/main' > $FREE/e/HEAD; ln -s ../1 $FREE/e/objects; ln -s ../1 $FREE/e/refs`,
    'a bare layout from an archive': `mkdir -p $FREE/a/e; ${config}; mv $FREE/config $FREE/a/e/config; echo 'ref: refs/heads/main' > $FREE/a/e/HEAD; tar -cf $FREE/a.tar -C $FREE/a e --transform 's,x,x,'; mkdir -p $FREE/e; tar -xf $FREE/a.tar -C $FREE; mkdir $FREE/e/objects $FREE/e/refs`,
    'a .git file that leads elsewhere': `mkdir -p $FREE/d $FREE/e; ${config}; mv $FREE/config $FREE/e/config; echo 'ref: refs/heads/main' > $FREE/e/HEAD; mkdir $FREE/e/objects $FREE/e/refs; echo "gitdir: $FREE/e" > $FREE/d/.git`,
    'a prepared folder as .git': `mkdir -p $FREE/d/g/refs; ${config}; mv $FREE/config $FREE/d/g/config; echo 'ref: refs/heads/main' > $FREE/d/g/HEAD; mkdir $FREE/d/g/objects; mv $FREE/d/g $FREE/d/.git`,
    'a prepared folder instead of .git': `mkdir -p $FREE/g/refs $FREE/g/hooks; ${config}; mv $FREE/config $FREE/g/config; echo 'ref: refs/heads/main' > $FREE/g/HEAD; mv $WS/.git $FREE/old; mkdir $FREE/g/objects; mv $FREE/g $WS/.git`,
    'a submodule with a hook': `${hook}; mkdir -p $WS/.git/modules/m/hooks; cp $FREE/hook $WS/.git/modules/m/hooks/pre-commit; cp $FREE/hook $WS/.git/hooks/post-commit`,
    'commands in a todo list': `mkdir $WS/.git/rebase-merge; printf 'exec touch "$MARKER"\\n' > $WS/.git/rebase-merge/git-rebase-todo.lock; mv $WS/.git/rebase-merge/git-rebase-todo.lock $WS/.git/rebase-merge/git-rebase-todo`,
    'a folder of the repository as a root': `${hook}; $E nested bind-and-rename $WS /dev/shm free/hook .git/hooks/pre-commit`,
  };
  return attempts('git, after its answer', scripts, {
    flags: ['--git', 'allow'],
    victims: [status, commit, evil, submodule, rebase, 'git -C $WS outside', 'git -C $WS add -A'],
  });
}

/** Names that are exchanged differ in one byte, so that no third one is ever seen. */
function races(seconds: number): readonly Escape[] {
  return attempts(
    'races',
    {
      'the path of a mkdir': `$E race-path-mkdir $WS/.idea $WS/xidea ${seconds}; rm -rf $WS/xidea`,
      'the path of a mkdir outside': `$E race-path-mkdir $OUT/new $OUT/../workspace/free/decoy ${seconds}`,
      'the path of a create': `$E race-path-create $WS/.envrc $WS/xenvrc ${seconds}; rm -f $WS/xenvrc`,
      'the target of a rename': `$E race-path-rename $WS/.envrc $WS/xenvrc ${seconds} $FREE/source; rm -f $WS/xenvrc`,
      'the flags of an openat2': `$E race-openat2 $WS/.envrc ${seconds}`,
      'the descriptor of a folder': `mkdir $FREE/d; $E race-dirfd $WS/.idea $WS $FREE/d .idea ${seconds}`,
      'the folder around a name': `rm -rf $WS/.github; $E race-move $WS/.github/workflows $WS/.github $FREE/g workflows ${seconds}; mkdir -p $WS/.github`,
      'a symbolic link on the way': `mkdir $FREE/d; ln -s .. $FREE/l; $E race-link $WS/.idea $FREE/l $FREE/d .idea ${seconds}`,
      'two halves of a repository': `mkdir $FREE/e; printf '[core]\\n\\tfsmonitor = x\\n' > $FREE/e/config; $E race-layout $OUT/new $FREE/e/objects $FREE/e/refs ${seconds}`,
    },
    { refused: true },
  );
}
