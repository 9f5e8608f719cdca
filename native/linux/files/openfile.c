/*
 * open(2) in the place of a caller, see act.h. The last component is opened
 * without following a link; when it is one, its text is resolved and that is
 * judged and opened instead. So the file that is opened is in the folder that
 * was located, under the name that was judged.
 */
#include <fcntl.h>
#include <string.h>

#include "act.h"
#include "caller.h"
#include "special.h"

enum { OWN_TMPFILE = O_TMPFILE & ~O_DIRECTORY, ROUNDS_MAX = 64 };

static bool creates(const struct act *act)
{
	return act->file.flags & O_CREAT;
}

static int give_own_terminal(const struct act *act, int *ret_fd)
{
	int fd = open_own_terminal(act->call, act->file.flags & ~O_CREAT);

	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

/*
 * What needs care once it is open. A folder's descriptor would lead to all
 * that is below and above it, so none is ever given away; the kernel does not
 * open one for any of these flags. Nobody is to get our terminal.
 */
static int check_opened(struct act *act, int opened, int *ret_fd)
{
	AUTO_CLOSE int fd = opened;
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (is_terminal_alias(&status))
		return give_own_terminal(act, ret_fd);
	if (!(act->file.flags & O_NONBLOCK) &&
	    fcntl(fd, F_SETFL,
		  act->file.flags &
			  (O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME)))
		return -errno;
	*ret_fd = TAKE(fd);
	return 0;
}

/*
 * A FIFO that nobody reads, or a lease: whoever opens that waits. Or the
 * caller has a terminal and we have none.
 */
static int check_failed(struct act *act, int err, int *ret_fd)
{
	struct place *at = &act->places.at;
	struct stat status;

	if (err != -ENXIO && err != -EAGAIN)
		return err;
	if (at->file < 0)
		at->file = openat(at->parent, at->name,
				  O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (at->file < 0 || fstat(at->file, &status))
		return err;
	if (is_terminal_alias(&status))
		return give_own_terminal(act, ret_fd);
	if (act->file.flags & O_NONBLOCK ||
	    (err == -ENXIO && !S_ISFIFO(status.st_mode)))
		return err;
	return act->call->must_not_wait ? err : NEED_WAIT;
}

/* Flags that are done with, once the file itself is known. */
static int flags_of_file(const struct act *act)
{
	return act->file.flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY);
}

int act_open_waiting(struct act *act)
{
	int file = act->places.at.file;
	int flags = flags_of_file(act), fd, err;
	struct stat status;

	if (fstat(file, &status))
		return -errno;
	if (!S_ISFIFO(status.st_mode))
		return reopen(file, flags);
	fd = open_fifo(act->call, file, flags);
	if (fd < 0)
		return fd;
	err = check_opened(act, fd, &fd);
	return err ? err : fd;
}

/* Of the host's, but the caller has it open for writing already: 0, 1, 2. */
static bool was_inherited(int file)
{
	struct stat wanted, is;

	if (fstat(file, &wanted))
		return false;
	for (int fd = 0; fd < 3; fd++) {
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
		    fstat(fd, &is) == 0 && is.st_dev == wanted.st_dev &&
		    is.st_ino == wanted.st_ino)
			return true;
	}
	return false;
}

/* What a descriptor's link in /proc led to. */
static int open_by_descriptor(struct act *act, int *ret_fd)
{
	struct place *at = &act->places.at;
	int err, fd;

	if (act->file.flags & O_DIRECTORY || at->slash)
		return -ENOTDIR;
	err = act_judge(act, CHANGE_WRITE);
	if (err == -EACCES && was_inherited(at->file))
		err = 0;
	if (err)
		return err;
	fd = reopen(at->file, flags_of_file(act) | O_NONBLOCK);
	if (fd < 0)
		return check_failed(act, fd, ret_fd);
	return check_opened(act, fd, ret_fd);
}

/* The caller's credentials count in there, so the caller's it must be. */
static int open_in_proc(struct act *act, int *ret_fd)
{
	struct place *at = &act->places.at;
	struct stat status;
	int err = resolve_file(act->call, file_call_follows(&act->file), at);

	if (err)
		return err;
	if (at->parent < 0)
		return open_by_descriptor(act, ret_fd);
	if (fstat(at->file, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (S_ISLNK(status.st_mode))
		return -ELOOP;
	*ret_fd = open_proc_file(act->call, at->file, flags_of_file(act));
	return *ret_fd < 0 ? *ret_fd : 0;
}

/* O_TMPFILE in the folder that was found. */
static int open_unnamed(struct act *act, int *ret_fd)
{
	UNINITIALIZED struct place inside;
	int fd;

	inside.parent = act->places.at.file;
	inside.name = ".";
	fd = perform_open(&act->file, act->file.flags, &inside);
	return fd < 0 ? fd : check_opened(act, fd, ret_fd);
}

/* A folder: for O_TMPFILE a file in it, else never opened for writing. */
static int open_folder(struct act *act, int *ret_fd)
{
	struct place *at = &act->places.at;
	struct stat status;
	int err;

	err = resolve_file(act->call, file_call_follows(&act->file), at);
	if (err)
		return err;
	if (fstat(at->file, &status))
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	if (!(act->file.flags & OWN_TMPFILE))
		return -EISDIR;
	err = act_judge(act, CHANGE_METADATA);
	if (err)
		return err;
	return open_unnamed(act, ret_fd);
}

static bool exists(const struct place *place)
{
	struct stat status;

	return fstatat(place->parent, place->name, &status,
		       AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Whether it would be made only counts when something stands against making
 * it; then nothing may be made that was judged as there already.
 */
static int judge_open(struct act *act, int *flags)
{
	int err;

	act->creates = creates(act);
	err = act_judge(act, act->creates ? CHANGE_CREATE : CHANGE_WRITE);
	if (act->judgement.verdict == VERDICT_PASS || !act->creates ||
	    !exists(&act->places.at))
		return err;
	*flags &= ~O_CREAT;
	act->creates = false;
	return act_judge(act, CHANGE_WRITE);
}

static bool is_in_proc(const struct act *act)
{
	if (act->call->sup->nested)
		return is_proc(act->places.at.parent);
	return is_below(act->path, "/proc") && is_proc(act->places.at.parent);
}

/* 1: it is a link, which has been followed. */
static int open_entry(struct act *act, int *ret_fd)
{
	bool follows = file_call_follows(&act->file);
	struct place *at = &act->places.at;
	int flags = act->file.flags, err, fd;

	err = judge_open(act, &flags);
	if (is_in_proc(act))
		return open_in_proc(act, ret_fd);
	if (err) {
		/* What stands against a link is not about where it leads. */
		int followed = follows ? resolve_link(act->call, at) : 0;

		return followed ? followed : err;
	}
	fd = perform_open(&act->file, flags, at);
	if (fd == -ELOOP && follows)
		return resolve_link(act->call, at) ?: -EAGAIN;
	return fd < 0 ? check_failed(act, fd, ret_fd)
		      : check_opened(act, fd, ret_fd);
}

static int check_slash(const struct act *act)
{
	const struct place *at = &act->places.at;

	return creates(act) && at->slash && is_entry(at->name) ? -EISDIR : 0;
}

static int open_once(struct act *act, int *ret_fd)
{
	struct place *at = &act->places.at;
	int err = check_slash(act);

	if (err)
		return err;
	if (act->file.flags & OWN_TMPFILE || (at->slash && !creates(act)))
		return open_folder(act, ret_fd);
	if (at->parent < 0)
		return open_by_descriptor(act, ret_fd);
	if (is_entry(at->name))
		return open_entry(act, ret_fd);
	if ((act->file.flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	return open_folder(act, ret_fd);
}

int act_open(struct act *act, int *ret_fd)
{
	int err = 0;

	if (creates(act) || act->file.flags & OWN_TMPFILE)
		err = take_umask(act->call->sup->files->umasks, act->call);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		if (err == 0)
			err = open_once(act, ret_fd);
		if (err != 1 && err != -EAGAIN)
			break;
		if (err == 1)
			err = 0;
	}
	return err;
}

int act_open_on_host(struct act *act, int *ret_fd)
{
	struct place *at = &act->places.at;
	int flags = act->file.flags, fd;

	if (flags & OWN_TMPFILE)
		return open_unnamed(act, ret_fd);
	if (!act->creates)
		flags &= ~O_CREAT;
	fd = at->file >= 0 ? reopen(at->file, flags_of_file(act) | O_NONBLOCK)
			   : perform_open(&act->file, flags, at);
	if (fd < 0)
		return check_failed(act, fd, ret_fd);
	return check_opened(act, fd, ret_fd);
}
