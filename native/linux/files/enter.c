/* A child that becomes like the caller, see enter.h. */
#include "enter.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../supervisor/child.h"
#include "../supervisor/task.h"

enum { OTHER_NAMESPACES = 3 };

struct surroundings {
	int user_ns, mount_ns, root, directory; /* -1: stays as it is */
	int others[OTHER_NAMESPACES];		/* pid, ipc, net */
	int outer_ns; /* the run's user namespace, around all of these */
	unsigned long long capabilities, umask;
};

#define SURROUNDINGS_NONE                                                   \
	{                                                                   \
		.user_ns = -1, .mount_ns = -1, .root = -1, .directory = -1, \
		.others = {                                                 \
			-1,                                                 \
			-1,                                                 \
			-1                                                  \
		}                                                           \
	}
#define AUTO_SURROUNDINGS __attribute__((cleanup(close_surroundings)))

static void close_surroundings(const struct surroundings *s)
{
	close_quietly(s->user_ns);
	close_quietly(s->mount_ns);
	close_quietly(s->root);
	close_quietly(s->directory);
	for (int i = 0; i < OTHER_NAMESPACES; i++)
		close_quietly(s->others[i]);
}

static int open_mounts(pid_t thread, struct surroundings *s)
{
	s->mount_ns = task_open(thread, "ns/mnt", O_RDONLY);
	if (s->mount_ns < 0)
		return s->mount_ns;
	s->root = task_open(thread, "root", O_PATH | O_DIRECTORY);
	if (s->root < 0)
		return s->root;
	s->directory = task_open(thread, "cwd", O_PATH | O_DIRECTORY);
	return s->directory < 0 ? s->directory : 0;
}

static int open_others(pid_t thread, struct surroundings *s)
{
	static const char *const names[OTHER_NAMESPACES] = { "ns/pid", "ns/ipc",
							     "ns/net" };

	for (int i = 0; i < OTHER_NAMESPACES; i++) {
		s->others[i] = task_open(thread, names[i], O_RDONLY);
		if (s->others[i] < 0)
			return s->others[i];
	}
	return 0;
}

static int open_surroundings(pid_t thread, enum enter_where where,
			     struct surroundings *s)
{
	char status[TASK_STATUS_BYTES_MAX];
	int err = task_read_status(thread, status);

	if (!err)
		err = task_status_number(status, "\nCapEff:\t", 16,
					 &s->capabilities);
	if (!err)
		err = task_status_number(status, "\nUmask:\t", 8, &s->umask);
	if (err)
		return err;
	s->user_ns = task_open(thread, "ns/user", O_RDONLY);
	if (s->user_ns < 0)
		return s->user_ns;
	if (where == ENTER_NAMESPACES)
		err = open_others(thread, s);
	if (!err && where != ENTER_USER)
		err = open_mounts(thread, s);
	return err;
}

static int set_capabilities(unsigned long long capabilities)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	for (int half = 0; half < 2; half++)
		data[half].effective = data[half].permitted =
			(__u32)(capabilities >> (32 * half));
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/*
 * A namespace may be entered by whoever owns it or one around it, setns(2):
 * from the run's own user namespace all of them can be.
 */
static int enter_mounts(const struct surroundings *s)
{
	if (setns(s->outer_ns, CLONE_NEWUSER))
		return -errno;
	for (int i = 0; i < OTHER_NAMESPACES; i++)
		if (s->others[i] >= 0 && setns(s->others[i], 0))
			return -errno;
	if (setns(s->mount_ns, CLONE_NEWNS) || fchdir(s->root) || chroot(".") ||
	    fchdir(s->directory))
		return -errno;
	(void)umask((mode_t)s->umask);
	return 0;
}

static bool is_same_namespace(int a, int b)
{
	struct stat one, other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
	       one.st_ino == other.st_ino;
}

static int become_caller(const struct surroundings *s)
{
	bool is_entered = false;
	int err = 0;

	if (s->mount_ns >= 0) {
		err = enter_mounts(s);
		/* Entering the one that we are in is refused, setns(2). */
		is_entered = is_same_namespace(s->outer_ns, s->user_ns);
	}
	if (!err && !is_entered && setns(s->user_ns, CLONE_NEWUSER))
		err = -errno;
	return err ? err : set_capabilities(s->capabilities);
}

/* What the child needs to know. */
struct entering {
	const struct surroundings *surroundings;
	int (*act)(void *argument);
	void *argument;
};

static int enter_and_act(void *argument)
{
	const struct entering *entering = argument;
	int err = become_caller(entering->surroundings);

	return err ? err : entering->act(entering->argument);
}

int act_as_caller(const struct call *call, enum enter_where where,
		  int (*act)(void *argument), void *argument)
{
	AUTO_SURROUNDINGS struct surroundings s = SURROUNDINGS_NONE;
	struct entering entering = { &s, act, argument };
	int err = open_surroundings(call->thread, where, &s);

	s.outer_ns = call->sup->inside.user;
	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	return run_in_child(CLONE_FILES, enter_and_act, &entering);
}
