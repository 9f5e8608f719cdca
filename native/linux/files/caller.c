/*
 * The calling task, see caller.h.
 *
 * Umasks. A new file's mode depends on the caller's umask, which only
 * /proc/TID/status tells, and that costs more than all the rest of a call. So
 * umask(2) is held: until it was called for the first time every task has the
 * umask that the launcher had. From then on a task's umask is read once and
 * kept for as long as that task lives and nobody calls umask() again; and
 * nothing is kept while a umask() is on its way.
 */
#include "caller.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "../supervisor/task.h"

enum {
	UMASKS_KEPT = 64,	   /* a power of two: slots by thread id */
	UMASK_LOOKS = 100,	   /* until a umask() must have happened */
	UMASK_LOOK_NS = 50 * 1000, /* between two of them */
};

struct kept_umask {
	pid_t thread;
	int pidfd;	  /* of that very thread */
	unsigned changes; /* umasks->changes when it was read */
	mode_t umask;
};

struct umasks {
	_Atomic unsigned changes; /* umask() calls that have happened */
	_Atomic unsigned pending; /* that may still be about to happen */
	pthread_mutex_t lock;	  /* of what is kept */
	struct kept_umask kept[UMASKS_KEPT];
};

int umasks_open(struct umasks **ret_umasks)
{
	struct umasks *umasks = calloc(1, sizeof(*umasks));

	if (!umasks)
		return -ENOMEM;
	umasks->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (size_t i = 0; i < UMASKS_KEPT; i++)
		umasks->kept[i].pidfd = -1;
	*ret_umasks = umasks;
	return 0;
}

static int read_umask(pid_t thread, mode_t *ret_umask)
{
	UNINITIALIZED char status[TASK_STATUS_BYTES_MAX];
	unsigned long long number;
	int err = task_read_status(thread, status);

	if (!err)
		err = task_status_number(status, "\nUmask:\t", 8, &number);
	if (!err)
		*ret_umask = (mode_t)number;
	return err;
}

/* Whether the thread has that umask now, or will never have any. */
static bool has_happened(pid_t thread, mode_t wanted)
{
	mode_t now;

	return read_umask(thread, &now) || now == wanted;
}

int answer_umask(struct umasks *umasks, const struct call *call)
{
	static const struct timespec a_moment = { .tv_nsec = UMASK_LOOK_NS };
	mode_t wanted = (mode_t)call->arguments[0] & 0777;
	bool happened = false;

	(void)atomic_fetch_add(&umasks->pending, 1);
	(void)atomic_fetch_add(&umasks->changes, 1);
	call_continue(call);
	for (int looks = 0; looks < UMASK_LOOKS && !happened; looks++) {
		happened = has_happened(call->thread, wanted);
		if (!happened)
			(void)nanosleep(&a_moment, NULL);
	}
	(void)atomic_fetch_add(&umasks->changes, 1);
	/* A task that was stopped just then: nothing is kept any more. */
	if (happened)
		(void)atomic_fetch_sub(&umasks->pending, 1);
	return CALL_ANSWERED;
}

static bool is_running(int pidfd)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };

	return pidfd >= 0 && poll(&ended, 1, 0) == 0;
}

static bool find_kept(struct umasks *umasks, pid_t thread, mode_t *ret_umask)
{
	struct kept_umask *kept = &umasks->kept[thread % UMASKS_KEPT];
	bool found;

	(void)pthread_mutex_lock(&umasks->lock);
	found = kept->thread == thread && !umasks->pending &&
		kept->changes == umasks->changes && is_running(kept->pidfd);
	if (found)
		*ret_umask = kept->umask;
	(void)pthread_mutex_unlock(&umasks->lock);
	return found;
}

static void keep(struct umasks *umasks, pid_t thread, int pidfd,
		 unsigned changes, mode_t mask)
{
	struct kept_umask *kept = &umasks->kept[thread % UMASKS_KEPT];

	(void)pthread_mutex_lock(&umasks->lock);
	close_quietly(kept->pidfd);
	*kept = (struct kept_umask){ thread, pidfd, changes, mask };
	(void)pthread_mutex_unlock(&umasks->lock);
}

static int find_umask(struct umasks *umasks, const struct call *call,
		      mode_t *ret_umask)
{
	unsigned changes = umasks->changes;
	bool settled = !umasks->pending;
	AUTO_CLOSE int pidfd = -1;
	int err;

	if (find_kept(umasks, call->thread, ret_umask))
		return 0;
	/* First: then the umask is that task's, or the call is not alive. */
	err = task_open_pidfd(call->thread, &pidfd);
	if (!err)
		err = read_umask(call->thread, ret_umask);
	if (!call_is_alive(call))
		return -ESRCH;
	if (!err && settled && changes == umasks->changes)
		keep(umasks, call->thread, TAKE(pidfd), changes, *ret_umask);
	return err;
}

int take_umask(struct umasks *umasks, const struct call *call)
{
	static _Thread_local bool is_own;
	mode_t mask;
	int err;

	if (umasks->changes == 0)
		return 0;
	err = find_umask(umasks, call, &mask);
	if (err)
		return err;
	if (!is_own && unshare(CLONE_FS))
		return -errno;
	is_own = true;
	(void)umask(mask);
	return 0;
}

int caller_root(const struct call *call, int *ret_owned)
{
	if (!call->sup->nested)
		return call->sup->root;
	*ret_owned = task_open(call->thread, "root", O_PATH | O_DIRECTORY);
	return *ret_owned;
}

static int open_descriptor(const struct call *call, int fd, int flags)
{
	char name[16];

	if (fd == AT_FDCWD)
		return task_open(call->thread, "cwd", flags);
	if (fd < 0)
		return -EBADF;
	(void)snprintf(name, sizeof(name), "fd/%d", fd);
	fd = task_open(call->thread, name, flags);
	return fd == -ENOENT ? -EBADF : fd;
}

int caller_directory(const struct call *call, int directory)
{
	return open_descriptor(call, directory, O_PATH | O_DIRECTORY);
}

int caller_file(const struct call *call, int fd)
{
	return open_descriptor(call, fd, O_PATH);
}
