/*
 * escape - attempts to get out of a boundary that take several calls: what a
 * single call cannot do, a descriptor, a second thread or another name may.
 *
 * How it is called: attempts.h.
 */
#define _GNU_SOURCE
#include <linux/mount.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/user.h>
#include <time.h>

#include "attempts.h"

#define MS_BIND 4096
#define MS_REC 16384

/* Not from <sys/mount.h>, which does not get along with <linux/mount.h>. */
int mount(const char *source, const char *target, const char *type,
	  unsigned long flags, const void *data);

static const char evil[] = "#!/bin/sh\ntouch \"$MARKER\"\n";
static const char evil_config[] =
	"[core]\n\trepositoryformatversion = 0\n"
	"\tfsmonitor = touch \\\"$MARKER\\\"; false\n";

static int write_text(int fd, const char *text)
{
	if (fd < 0)
		return -1;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

/* -- one name for what has another -- */

static int link_descriptor(int fd, const char *target, int flags)
{
	char path[64];

	if (flags == AT_EMPTY_PATH)
		return linkat(fd, "", AT_FDCWD, target, AT_EMPTY_PATH);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, AT_FDCWD, target, AT_SYMLINK_FOLLOW);
}

static int try_tmpfile_link(char **a)
{
	int fd = open(a[0], O_TMPFILE | O_RDWR, 0755);

	return write_text(fd, evil)
		       ? -1
		       : link_descriptor(fd, a[1], AT_SYMLINK_FOLLOW);
}

static int try_tmpfile_link_empty(char **a)
{
	int fd = open(a[0], O_TMPFILE | O_RDWR, 0755);

	return write_text(fd, evil) ? -1
				    : link_descriptor(fd, a[1], AT_EMPTY_PATH);
}

/* A second name for a[0] at a[1], which is then written. */
static int try_link_and_write(char **a)
{
	if (link(a[0], a[1]) < 0)
		return -1;
	return write_and_close(open(a[1], O_WRONLY | O_TRUNC));
}

/* A read-only descriptor gets a second name, which is then written. */
static int try_link_opened_and_write(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	if (fd < 0 || link_descriptor(fd, a[1], AT_SYMLINK_FOLLOW) < 0)
		return -1;
	return write_and_close(open(a[1], O_WRONLY | O_TRUNC));
}

/* -- what stays open over a rename -- */

static const char harmless[] = "[core]\n\trepositoryformatversion = 0\n"
			       "\tfilemode = true\n\tbare = false\n";

/* Harmless when it is renamed, written to afterwards. */
static int try_keep_open(char **a)
{
	int fd = open(a[0], O_RDWR | O_CREAT | O_TRUNC, 0755);

	if (write_text(fd, harmless) || rename(a[0], a[1]) < 0 ||
	    ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return write_text(fd, evil_config);
}

static int try_keep_mapped(char **a)
{
	int fd = open(a[0], O_RDWR | O_CREAT | O_TRUNC, 0755);
	char *map;

	if (write_text(fd, harmless) || ftruncate(fd, 4096) < 0)
		return -1;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED || ftruncate(fd, sizeof(evil_config) - 1) < 0 ||
	    rename(a[0], a[1]) < 0)
		return -1;
	memcpy(map, evil_config, sizeof(evil_config) - 1);
	return 0;
}

/* Renamed while harmless; a second name of the same file is written to. */
static int try_keep_linked(char **a)
{
	int fd = open(a[0], O_RDWR | O_CREAT | O_TRUNC, 0755);

	if (write_text(fd, harmless) || link(a[0], a[2]) < 0 ||
	    rename(a[0], a[1]) < 0)
		return -1;
	close(fd);
	fd = open(a[2], O_WRONLY | O_TRUNC);
	return write_text(fd, evil_config);
}

/* A hook that exists without its bit becomes a program. */
static int try_make_executable(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : fchmod(fd, 0755);
}

/* -- by descriptors -- */

static int try_create_at(char **a)
{
	int dir = open(a[0], O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -1
		       : write_and_close(
				 openat(dir, a[1], O_WRONLY | O_CREAT, 0755));
}

static int try_mkdir_at(char **a)
{
	int dir = open(a[0], O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -1 : mkdirat(dir, a[1], 0755);
}

static int try_reopen_for_writing(char **a)
{
	char path[64];
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	return write_and_close(open(path, O_RDWR | O_TRUNC));
}

/* The kernel copies between descriptors; one may only be read. */
static int try_send_file(char **a)
{
	int from = open(a[0], O_RDONLY | O_CLOEXEC);
	int to = open(a[1], O_RDONLY | O_CLOEXEC);

	return from < 0 || to < 0 ? -1 : (int)sendfile(to, from, NULL, 4096);
}

static int try_copy_range(char **a)
{
	int from = open(a[0], O_RDONLY | O_CLOEXEC);
	int to = open(a[1], O_RDONLY | O_CLOEXEC);

	return from < 0 || to < 0
		       ? -1
		       : (int)copy_file_range(from, NULL, to, NULL, 4096, 0);
}

static int try_punch_hole(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1
		      : fallocate(fd,
				  FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				  4096);
}

static int try_truncate_opened(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : ftruncate(fd, 0);
}

/* -- working directories -- */

/* a[0] is removed while it is the working directory. */
static int try_from_deleted(char **a)
{
	if (mkdir(a[0], 0755) < 0 || chdir(a[0]) < 0 || rmdir(a[0]) < 0)
		return -1;
	return write_and_close(open(a[1], O_WRONLY | O_CREAT, 0755));
}

/* a[0] moves to a[1] while it is the working directory. */
static int try_from_moved(char **a)
{
	if (mkdir(a[0], 0755) < 0 || chdir(a[0]) < 0 || rename(a[0], a[1]) < 0)
		return -1;
	return write_and_close(open(a[2], O_WRONLY | O_CREAT, 0755));
}

/* Deeper than PATH_MAX, and up again by as many "..". */
static int try_from_deep(char **a)
{
	enum { DEPTH = 40 };
	char up[3 * DEPTH + 256] = "", name[201];

	memset(name, 'd', 200);
	name[200] = '\0';
	if (chdir(a[0]) < 0)
		return -1;
	for (int i = 0; i < DEPTH; i++) {
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			return -1;
		strcat(up, "../");
	}
	strcat(up, a[1]);
	return write_and_close(open(up, O_WRONLY | O_CREAT, 0755));
}

/* -- system calls by number -- */

#ifdef __x86_64__
static int try_old_open(char **a)
{
	return write_and_close(
		(int)syscall(SYS_open, a[0], O_WRONLY | O_CREAT, 0755));
}

static int try_old_creat(char **a)
{
	return write_and_close((int)syscall(SYS_creat, a[0], 0755));
}

static int try_old_mkdir(char **a)
{
	return (int)syscall(SYS_mkdir, a[0], 0755);
}

static int try_old_rename(char **a)
{
	return (int)syscall(SYS_rename, a[0], a[1]);
}

static int try_old_link(char **a)
{
	return (int)syscall(SYS_link, a[0], a[1]);
}

static int try_old_symlink(char **a)
{
	return (int)syscall(SYS_symlink, a[0], a[1]);
}

static int try_old_unlink(char **a)
{
	return (int)syscall(SYS_unlink, a[0]);
}

static int try_old_rmdir(char **a)
{
	return (int)syscall(SYS_rmdir, a[0]);
}

static int try_old_chmod(char **a)
{
	return (int)syscall(SYS_chmod, a[0], 0777);
}

static int try_old_mknod(char **a)
{
	return (int)syscall(SYS_mknod, a[0], S_IFREG | 0644, 0);
}

static int try_old_utime(char **a)
{
	return (int)syscall(SYS_utime, a[0], NULL);
}
#endif

static int try_setxattrat(char **a)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = { (uintptr_t) "x", 1, 0 };

	return (int)syscall(463, AT_FDCWD, a[0], 0, "user.breach", &args,
			    sizeof(args));
}

static int try_file_setattr(char **a)
{
	char attr[32] = { 0 };

	return (int)syscall(469, AT_FDCWD, a[0], attr, 24, 0);
}

static int try_openat2_in_root(char **a)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT,
				.mode = 0755,
				.resolve = RESOLVE_IN_ROOT };
	int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return write_and_close(
		(int)syscall(SYS_openat2, dir, a[0], &how, sizeof(how)));
}

/* The call is another one when the filter has it: set by a tracer. */
static int try_traced(char **a)
{
#ifdef __x86_64__
	struct user_regs_struct regs;
	pid_t child = fork();
	int status;

	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		syscall(SYS_getpid, a[0], 0755);
		_exit(0);
	}
	if (waitpid(child, &status, 0) < 0)
		return -1;
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) < 0 ||
		    waitpid(child, &status, 0) < 0 || WIFEXITED(status))
			return -1;
		ptrace(PTRACE_GETREGS, child, NULL, &regs);
		if (regs.orig_rax != SYS_getpid)
			continue;
		regs.orig_rax = SYS_mkdir;
		ptrace(PTRACE_SETREGS, child, NULL, &regs);
		ptrace(PTRACE_SYSCALL, child, NULL, NULL);
		waitpid(child, &status, 0);
		ptrace(PTRACE_GETREGS, child, NULL, &regs);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		errno = -(int)regs.rax;
		return regs.rax == 0 ? 0 : -1;
	}
#else
	(void)a;
	errno = ENOSYS;
	return -1;
#endif
}

/* -- mounts of a namespace of its own (run with `nested`) -- */

static int try_chroot_and_create(char **a)
{
	if (chroot(a[0]) < 0 || chdir("/") < 0)
		return -1;
	return write_and_close(open(a[1], O_WRONLY | O_CREAT, 0755));
}

/* The workspace under another path; a[2] is below it. */
static int try_bind_and_mkdir(char **a)
{
	char path[4096];

	if (mount(a[0], a[1], NULL, MS_BIND | MS_REC, NULL) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", a[1], a[2]);
	return mkdir(path, 0755);
}

static int try_bind_and_rename(char **a)
{
	char from[4096], to[4096];

	if (mount(a[0], a[1], NULL, MS_BIND | MS_REC, NULL) < 0)
		return -1;
	snprintf(from, sizeof(from), "%s/%s", a[1], a[2]);
	snprintf(to, sizeof(to), "%s/%s", a[1], a[3]);
	return rename(from, to);
}

/* Writes to an overlay go to its upper directory, past every path rule. */
static int overlay_by_mount(char **a)
{
	char options[16384];

	snprintf(options, sizeof(options),
		 "lowerdir=%s,upperdir=%s,workdir=%s,userxattr", a[0], a[1],
		 a[2]);
	return mount("overlay", a[3], "overlay", 0, options);
}

static int create_below(const char *folder, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return write_and_close(open(path, O_WRONLY | O_CREAT, 0755));
}

static int try_overlay_and_create(char **a)
{
	return overlay_by_mount(a) ? -1 : create_below(a[3], a[4]);
}

static int try_overlay_by_fsopen(char **a)
{
	int fs = (int)syscall(SYS_fsopen, "overlay", 0);
	int at;

	if (fs < 0)
		return -1;
	syscall(SYS_fsconfig, fs, 1, "lowerdir", a[0], 0);
	syscall(SYS_fsconfig, fs, 1, "upperdir", a[1], 0);
	syscall(SYS_fsconfig, fs, 1, "workdir", a[2], 0);
	syscall(SYS_fsconfig, fs, 0, "userxattr", NULL, 0);
	if (syscall(SYS_fsconfig, fs, 6, NULL, NULL, 0) < 0)
		return -1;
	at = (int)syscall(SYS_fsmount, fs, 0, 0);
	return at < 0 ? -1
		      : write_and_close(
				openat(at, a[3], O_WRONLY | O_CREAT, 0755));
}

struct swapped_type {
	char type[16];
	atomic_bool over;
};

static void *swap_type(void *argument)
{
	struct swapped_type *swapped = argument;

	while (!swapped->over) {
		strcpy(swapped->type, "tmpfs");
		strcpy(swapped->type, "overlay");
	}
	return NULL;
}

/* Another thread changes the type while the mount is looked at. */
static int try_overlay_swapped(char **a)
{
	struct swapped_type swapped = { .over = false };
	char options[16384];
	pthread_t thread;
	int won = -1;

	snprintf(options, sizeof(options),
		 "lowerdir=%s,upperdir=%s,workdir=%s,userxattr", a[0], a[1],
		 a[2]);
	if (pthread_create(&thread, NULL, swap_type, &swapped) != 0)
		return -1;
	for (int i = 0; i < 2000 && won; i++)
		if (mount("overlay", a[3], swapped.type, 0, options) == 0)
			won = create_below(a[3], a[4]);
	swapped.over = true;
	pthread_join(thread, NULL);
	return won;
}

static int send_descriptor(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

static int receive_descriptor(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(socket, &message, 0) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&message);
	if (c)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/*
 * A folder of a mount that only a nested namespace has comes by a socket to a
 * process outside of it, which creates a[2] there.
 */
static int try_passed_folder(char **a)
{
	int pair[2], fd;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		enter_nested();
		if (mount(a[0], a[1], NULL, MS_BIND | MS_REC, NULL) < 0)
			_exit(1);
		fd = open(a[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		_exit(fd < 0 || send_descriptor(pair[1], fd) ? 1 : 0);
	}
	close(pair[1]);
	fd = receive_descriptor(pair[0]);
	return fd < 0 ? -1
		      : write_and_close(
				openat(fd, a[2], O_WRONLY | O_CREAT, 0755));
}

/* -- races: several threads, a[...] seconds, `done` when one of them won -- */

struct contest {
	char **names;
	char path[4096];
	struct open_how how;
	int fd, folders[2];
	atomic_bool over;
};

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

typedef void (*step)(struct contest *contest);

struct runner {
	struct contest *contest;
	step step;
};

static void *run_steps(void *argument)
{
	struct runner *runner = argument;

	while (!runner->contest->over)
		runner->step(runner->contest);
	return NULL;
}

/* Four threads, the steps in turn, until `prize` exists or time is over. */
static int hold_contest(struct contest *contest, const step *steps,
			size_t count, const char *prize, const char *seconds)
{
	enum { THREADS = 4 };
	struct runner runners[THREADS];
	pthread_t threads[THREADS];
	struct timespec now, end;
	bool won = false;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += atoi(seconds);
	for (size_t i = 0; i < THREADS; i++) {
		runners[i] = (struct runner){ contest, steps[i % count] };
		if (pthread_create(&threads[i], NULL, run_steps, &runners[i]))
			abort();
	}
	do {
		usleep(500);
		won = exists(prize);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!won &&
		 (now.tv_sec < end.tv_sec ||
		  (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec)));
	contest->over = true;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	errno = EACCES;
	return won || exists(prize) ? 0 : -1;
}

static void swap_path(struct contest *c)
{
	strcpy(c->path, c->names[0]);
	strcpy(c->path, c->names[1]);
}

static void make_folder(struct contest *c)
{
	if (mkdir(c->path, 0755) == 0)
		rmdir(c->names[1]);
}

static void make_file(struct contest *c)
{
	close_only(open(c->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
	unlink(c->names[1]);
}

/* race-path-mkdir PRIZE DECOY SECONDS */
static int try_race_path_mkdir(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { swap_path, make_folder };

	return hold_contest(&contest, steps, 2, a[0], a[2]);
}

static int try_race_path_create(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { swap_path, make_file };

	return hold_contest(&contest, steps, 2, a[0], a[2]);
}

static void rename_swapped(struct contest *c)
{
	close_only(open(c->names[3], O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
	if (rename(c->names[3], c->path) == 0)
		unlink(c->names[1]);
}

/* race-path-rename PRIZE DECOY SECONDS SOURCE */
static int try_race_path_rename(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { swap_path, rename_swapped };

	return hold_contest(&contest, steps, 2, a[0], a[2]);
}

static void swap_flags(struct contest *c)
{
	c->how = (struct open_how){ .flags = O_RDONLY };
	c->how = (struct open_how){ .flags = O_WRONLY | O_CREAT, .mode = 0755 };
}

static void open_swapped(struct contest *c)
{
	close_only((int)syscall(SYS_openat2, AT_FDCWD, c->names[0], &c->how,
				sizeof(c->how)));
}

/* race-openat2 PRIZE SECONDS */
static int try_race_openat2(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { swap_flags, open_swapped };

	return hold_contest(&contest, steps, 2, a[0], a[1]);
}

static void swap_folder(struct contest *c)
{
	dup2(c->folders[0], c->fd);
	dup2(c->folders[1], c->fd);
}

static void make_at(struct contest *c)
{
	if (mkdirat(c->fd, c->names[3], 0755) == 0)
		unlinkat(c->folders[1], c->names[3], AT_REMOVEDIR);
}

/* race-dirfd PRIZE FOLDER OTHER NAME SECONDS */
static int try_race_dirfd(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { swap_folder, make_at };

	contest.folders[0] = open(a[1], O_PATH | O_DIRECTORY);
	contest.folders[1] = open(a[2], O_PATH | O_DIRECTORY);
	contest.fd = dup(contest.folders[0]);
	if (contest.fd < 0 || contest.folders[1] < 0)
		return -1;
	return hold_contest(&contest, steps, 2, a[0], a[4]);
}

/* names: PRIZE, its folder, another name for that, what is made in it. */
static void move_there_and_back(struct contest *c)
{
	rename(c->names[2], c->names[1]);
	rename(c->names[1], c->names[2]);
}

static void make_in_moved(struct contest *c)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", c->names[2], c->names[3]);
	if (mkdir(path, 0755) == 0 && !exists(c->names[0]))
		rmdir(path);
}

/* race-move PRIZE FOLDER OTHER NAME SECONDS: PRIZE is FOLDER/NAME */
static int try_race_move(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { move_there_and_back, make_in_moved };

	if (mkdir(a[2], 0755) < 0 && errno != EEXIST)
		return -1;
	return hold_contest(&contest, steps, 2, a[0], a[4]);
}

static void exchange_names(struct contest *c)
{
	renameat2(AT_FDCWD, c->names[1], AT_FDCWD, c->names[2],
		  RENAME_EXCHANGE);
}

static void make_through(struct contest *c)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", c->names[1], c->names[3]);
	if (mkdir(path, 0755) == 0 && !exists(c->names[0]))
		rmdir(path);
}

/*
 * race-link PRIZE LINK FOLDER NAME SECONDS: LINK is exchanged with FOLDER all
 * the time, and leads to the folder of PRIZE.
 */
static int try_race_link(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { exchange_names, make_through };

	return hold_contest(&contest, steps, 2, a[0], a[4]);
}

static void make_half(struct contest *c, int which, int other)
{
	if (mkdir(c->names[which], 0755) == 0 && !exists(c->names[other]))
		rmdir(c->names[which]);
}

static void make_objects(struct contest *c)
{
	make_half(c, 1, 2);
}

static void make_refs(struct contest *c)
{
	make_half(c, 2, 1);
}

static void finish_layout(struct contest *c)
{
	if (exists(c->names[1]) && exists(c->names[2]))
		close_only(open(c->names[0], O_WRONLY | O_CREAT, 0644));
}

/* race-layout PRIZE OBJECTS REFS SECONDS: both at once, PRIZE tells */
static int try_race_layout(char **a)
{
	struct contest contest = { .names = a };
	const step steps[] = { make_objects, make_refs, finish_layout };

	return hold_contest(&contest, steps, 3, a[0], a[3]);
}

static const struct attempt attempts[] = {
	{ "tmpfile-link", 2, try_tmpfile_link },
	{ "tmpfile-link-empty", 2, try_tmpfile_link_empty },
	{ "link-and-write", 2, try_link_and_write },
	{ "link-opened-and-write", 2, try_link_opened_and_write },
	{ "keep-open", 2, try_keep_open },
	{ "keep-mapped", 2, try_keep_mapped },
	{ "keep-linked", 3, try_keep_linked },
	{ "make-executable", 1, try_make_executable },
	{ "create-at", 2, try_create_at },
	{ "mkdir-at", 2, try_mkdir_at },
	{ "reopen-for-writing", 1, try_reopen_for_writing },
	{ "send-file", 2, try_send_file },
	{ "copy-range", 2, try_copy_range },
	{ "punch-hole", 1, try_punch_hole },
	{ "truncate-opened", 1, try_truncate_opened },
	{ "from-deleted", 2, try_from_deleted },
	{ "from-moved", 3, try_from_moved },
	{ "from-deep", 2, try_from_deep },
#ifdef __x86_64__
	{ "old-open", 1, try_old_open },
	{ "old-creat", 1, try_old_creat },
	{ "old-mkdir", 1, try_old_mkdir },
	{ "old-rename", 2, try_old_rename },
	{ "old-link", 2, try_old_link },
	{ "old-symlink", 2, try_old_symlink },
	{ "old-unlink", 1, try_old_unlink },
	{ "old-rmdir", 1, try_old_rmdir },
	{ "old-chmod", 1, try_old_chmod },
	{ "old-mknod", 1, try_old_mknod },
	{ "old-utime", 1, try_old_utime },
#endif
	{ "setxattrat", 1, try_setxattrat },
	{ "file-setattr", 1, try_file_setattr },
	{ "openat2-in-root", 1, try_openat2_in_root },
	{ "traced", 1, try_traced },
	{ "chroot-and-create", 2, try_chroot_and_create },
	{ "bind-and-mkdir", 3, try_bind_and_mkdir },
	{ "bind-and-rename", 4, try_bind_and_rename },
	{ "overlay-and-create", 5, try_overlay_and_create },
	{ "overlay-by-fsopen", 4, try_overlay_by_fsopen },
	{ "overlay-swapped", 5, try_overlay_swapped },
	{ "passed-folder", 3, try_passed_folder },
	{ "race-path-mkdir", 3, try_race_path_mkdir },
	{ "race-path-create", 3, try_race_path_create },
	{ "race-path-rename", 4, try_race_path_rename },
	{ "race-openat2", 2, try_race_openat2 },
	{ "race-dirfd", 5, try_race_dirfd },
	{ "race-move", 5, try_race_move },
	{ "race-link", 5, try_race_link },
	{ "race-layout", 4, try_race_layout },
};

int main(int argc, char **argv)
{
	return run_attempts("escape", attempts,
			    sizeof(attempts) / sizeof(attempts[0]), argc, argv);
}
