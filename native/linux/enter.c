/* A child that becomes like the caller, see enter.h. */
#include "enter.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "child.h"
#include "task.h"

struct surroundings {
	int user_ns, mount_ns, root, directory; /* -1: stays as it is */
	unsigned long long capabilities, umask;
};

#define SURROUNDINGS_NONE                                                  \
	{                                                                  \
		.user_ns = -1, .mount_ns = -1, .root = -1, .directory = -1 \
	}
#define AUTO_SURROUNDINGS __attribute__((cleanup(close_surroundings)))

static void close_surroundings(const struct surroundings *s)
{
	close_quietly(s->user_ns);
	close_quietly(s->mount_ns);
	close_quietly(s->root);
	close_quietly(s->directory);
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
	return where == ENTER_MOUNTS ? open_mounts(thread, s) : 0;
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
 * A mount namespace may be entered by whoever owns it, setns(2): from the
 * user namespace that made it, which may be one around the caller's own.
 */
static int enter_mounts(const struct surroundings *s)
{
	AUTO_CLOSE int owner = ioctl(s->mount_ns, NS_GET_USERNS);

	if (owner < 0 || setns(owner, CLONE_NEWUSER))
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
	AUTO_CLOSE int now = -1;
	int err = s->mount_ns < 0 ? 0 : enter_mounts(s);

	if (err)
		return err;
	/* Entering the one that we are in is refused, setns(2). */
	if (s->mount_ns >= 0)
		now = ioctl(s->mount_ns, NS_GET_USERNS);
	if (!(now >= 0 && is_same_namespace(now, s->user_ns)) &&
	    setns(s->user_ns, CLONE_NEWUSER))
		return -errno;
	return set_capabilities(s->capabilities);
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

	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	return run_in_child(CLONE_FILES, enter_and_act, &entering);
}
