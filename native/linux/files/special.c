/*
 * Paths that mean something else for each caller, see special.h.
 *
 * /proc/self is nothing for us: we are outside of the pid namespace of the
 * sandbox's proc(5). So it is replaced by the caller's number there. The links
 * of /proc/PID lead to files, not to names; the kernel lets a task follow
 * those of its own process, and of another according to ptrace(2). A nested
 * sandbox relies on that, so another's are followed by a child that has the
 * caller's credentials. A child also opens what is in /proc: the kernel keeps
 * the credentials of whoever opened uid_map, for one, until it is written to
 * (user_namespaces(7)).
 */
#include "special.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>

#include "../supervisor/task.h"
#include "caller.h"
#include "enter.h"

enum {
	PROC_ROOT_INODE = 1, /* PROC_ROOT_INO in linux/proc_ns.h */
	TTY_ALIAS_MAJOR = 5, /* TTYAUX_MAJOR in linux/major.h */
	FIFO_LOOK_NS = 5 * 1000 * 1000,
};

bool is_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static bool is_proc_root(int folder)
{
	struct stat status;

	return is_proc(folder) && fstat(folder, &status) == 0 &&
	       status.st_ino == PROC_ROOT_INODE;
}

/* Numbers of a task in its pid namespaces, the outermost first. */
static const char *find_numbers(const char *status, const char *field)
{
	const char *found = strstr(status, field);

	return found ? found + strlen(field) : NULL;
}

/*
 * Whether `folder`/NUMBER is the task with these numbers from there on, in the
 * pid namespace that this proc(5) shows.
 */
static bool shows(int folder, unsigned long number, const char *numbers,
		  const char *field)
{
	char path[32], status[TASK_STATUS_BYTES_MAX];
	AUTO_CLOSE int fd = -1;
	const char *found;
	size_t length = strcspn(numbers, "\n");
	ssize_t got;

	(void)snprintf(path, sizeof(path), "%lu/status", number);
	fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : RETRY(read(fd, status, sizeof(status) - 1));
	if (got <= 0)
		return false;
	status[got] = '\0';
	found = find_numbers(status, field);
	return found && strncmp(found, numbers, length) == 0 &&
	       found[length] == '\n';
}

/* The number of the task in the pid namespace of that proc(5); 0: none. */
static unsigned long number_in(int folder, const char *status,
			       const char *field)
{
	const char *numbers = find_numbers(status, field);
	unsigned long number;
	char *end;

	while (numbers && *numbers && *numbers != '\n') {
		number = strtoul(numbers, &end, 10);
		if (shows(folder, number, numbers, field))
			return number;
		numbers = end + strspn(end, "\t");
	}
	return 0;
}

int special_text(const struct call *call, int folder, const char *name,
		 char ret_text[PATH_BYTES_MAX])
{
	char status[TASK_STATUS_BYTES_MAX];
	bool of_thread = strcmp(name, "thread-self") == 0;
	unsigned long process, thread;
	int err;

	if ((!of_thread && strcmp(name, "self") != 0) || !is_proc_root(folder))
		return -EINVAL;
	err = task_read_status(call->thread, status);
	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	process = number_in(folder, status, "\nNStgid:\t");
	if (process == 0)
		return -ENOENT;
	if (!of_thread) {
		(void)snprintf(ret_text, PATH_BYTES_MAX, "%lu", process);
		return 0;
	}
	thread = number_in(folder, status, "\nNSpid:\t");
	if (thread == 0)
		return -ENOENT;
	(void)snprintf(ret_text, PATH_BYTES_MAX, "%lu/task/%lu", process,
		       thread);
	return 0;
}

bool is_plain_proc_link(int folder, const char *name)
{
	return (strcmp(name, "mounts") == 0 || strcmp(name, "net") == 0) &&
	       is_proc_root(folder);
}

/* In a child */

struct opening {
	int at;		  /* folder of `path` */
	const char *path; /* a link that is followed */
	int flags;
	int to; /* a descriptor of ours to be replaced by what is opened */
};

static int open_in_child(void *argument)
{
	const struct opening *opening = argument;
	int fd = openat(opening->at, opening->path, opening->flags | O_NOCTTY);

	if (fd < 0 || dup3(fd, opening->to, O_CLOEXEC) < 0)
		return -errno;
	return close(fd) ? -errno : 0;
}

static int open_as_caller(const struct call *call, int at, const char *path,
			  int flags)
{
	AUTO_CLOSE int to = fcntl(call->sup->root, F_DUPFD_CLOEXEC, 0);
	struct opening opening = { at, path, flags, to };
	int err;

	if (to < 0)
		return -errno;
	err = act_as_caller(call, ENTER_USER, open_in_child, &opening);
	return err ? err : TAKE(to);
}

int special_jump(const struct call *call, int folder, const char *name,
		 bool is_own)
{
	int fd;

	if (!is_own)
		return open_as_caller(call, folder, name, O_PATH | O_CLOEXEC);
	fd = openat(folder, name, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void describe(int fd, char ret_path[32])
{
	(void)snprintf(ret_path, 32, "/proc/self/fd/%d", fd);
}

int open_proc_file(const struct call *call, int file, int flags)
{
	char path[32];

	describe(file, path);
	return open_as_caller(call, AT_FDCWD, path, flags | O_CLOEXEC);
}

int reopen(int file, int flags)
{
	char path[32];
	int fd;

	describe(file, path);
	fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* The controlling terminal */

bool is_terminal_alias(const struct stat *status)
{
	return S_ISCHR(status->st_mode) &&
	       status->st_rdev == makedev(TTY_ALIAS_MAJOR, 0);
}

struct session {
	pid_t leader;	/* as the host counts */
	dev_t terminal; /* 0: none */
};

/* new_decode_dev() in linux/kdev_t.h */
static dev_t decode_device(unsigned long device)
{
	return makedev((device >> 8) & 0xfff,
		       (device & 0xff) | ((device >> 12) & 0xfff00));
}

/* Fields 6 and 7 of /proc/TID/stat, proc_pid_stat(5). */
static int read_session(pid_t thread, struct session *ret_session)
{
	enum { BEFORE_SESSION = 4 }; /* fields behind the name */
	AUTO_CLOSE int fd = task_open(thread, "stat", O_RDONLY);
	char text[1024], *at;
	ssize_t got;

	if (fd < 0)
		return fd;
	got = RETRY(read(fd, text, sizeof(text) - 1));
	if (got < 0)
		return -errno;
	text[got] = '\0';
	at = strrchr(text, ')'); /* a name may hold anything else */
	for (int field = 0; at && field < BEFORE_SESSION; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -EBADMSG;
	ret_session->leader = (pid_t)strtol(at, &at, 10);
	ret_session->terminal = decode_device(strtoul(at, NULL, 10));
	return 0;
}

/* In the /dev/pts of a task's root. */
static int open_terminal_of(pid_t task, dev_t terminal, int flags)
{
	char name[48];
	AUTO_CLOSE int fd = -1;
	struct stat status;

	(void)snprintf(name, sizeof(name), "root/dev/pts/%u", minor(terminal));
	fd = task_open(task, name, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	if (fstat(fd, &status))
		return -errno;
	if (!S_ISCHR(status.st_mode) || status.st_rdev != terminal)
		return -ENXIO;
	return reopen(fd, flags);
}

/*
 * A session has one controlling terminal. When the caller is in ours it is
 * ours; else it was made inside, and is in the /dev/pts of whoever leads the
 * session. Numbers alone do not tell: each devpts(5) counts from 0.
 */
int open_own_terminal(const struct call *call, int flags)
{
	struct session session;
	int err = read_session(call->thread, &session);
	int fd;

	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	if (session.terminal == 0)
		return -ENXIO;
	if (session.leader == getsid(0)) {
		fd = open("/dev/tty", flags | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : fd;
	}
	fd = open_terminal_of(session.leader, session.terminal, flags);
	if (fd < 0)
		fd = open_terminal_of(call->thread, session.terminal, flags);
	return fd < 0 ? -ENXIO : fd;
}

int open_fifo(const struct call *call, int fifo, int flags)
{
	static const struct timespec a_moment = { .tv_nsec = FIFO_LOOK_NS };
	int fd = reopen(fifo, flags | O_NONBLOCK);

	while (fd == -ENXIO) {
		if (!call_is_alive(call))
			return -ESRCH;
		(void)nanosleep(&a_moment, NULL);
		fd = reopen(fifo, flags | O_NONBLOCK);
	}
	return fd;
}
