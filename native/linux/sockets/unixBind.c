/*
 * bind() of a unix socket to a path.
 *
 * It makes a file, so it is judged like anything that does (act.h), with the
 * lock alone: meanwhile nothing in the sandbox makes the path lead elsewhere.
 * The kernel keeps the path as the socket's name, as the caller wrote it. So
 * it is made by a child that enters the caller's mounts, root, directory and
 * umask, and the mounts say where it can be. Where they do not let it, the
 * same may be allowed on the host's own view: a question, then a child that
 * stands where that path leads to the very same folder.
 */
#include "unixSockets.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../files/act.h"
#include "../files/enter.h"
#include "../launch/uapi.h"
#include "../supervisor/child.h"
#include "../supervisor/denial.h"
#include "../supervisor/task.h"

enum { ROUNDS_MAX = 8 /* questions about one call, and changes meanwhile */ };

struct binding {
	const struct call *call;
	int socket;
	const struct socket_address *address;
	char text[sizeof(struct sockaddr_storage)]; /* as the caller has it */

	char path[PATH_BYTES_MAX]; /* canonical */
	struct judgement judgement;
	struct allowance allowed;
};

/* In the caller's surroundings, or in those that bind_on_host() made. */
static int bind_here(void *argument)
{
	const struct binding *b = argument;

	return bind(b->socket, &b->address->any, b->address->length) ? -errno
								     : 0;
}

/* On the host's own view */

struct host_binding {
	struct binding *binding;
	int directory; /* where a relative path begins */
	mode_t umask;
};

static int bind_there(void *argument)
{
	const struct host_binding *host = argument;

	if (fchdir(host->directory))
		return -errno;
	(void)umask(host->umask);
	return bind_here(host->binding);
}

static bool is_same_file(int a, int b)
{
	struct stat one, other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* The caller's directory as the host has it; "/" when it is of no matter. */
static int open_directory(const struct binding *b)
{
	AUTO_CLOSE int inside = -1;
	char path[PATH_BYTES_MAX] = "/";
	int err = 0;

	if (b->text[0] != '/') {
		inside =
			task_open(b->call->thread, "cwd", O_PATH | O_DIRECTORY);
		if (inside < 0)
			return inside;
		err = locate(b->call->sup, b->call->thread, inside, path);
	}
	return err ? -EROFS : open_plain(AT_FDCWD, path, O_PATH | O_DIRECTORY);
}

/* The folder that the path leads to on the host, when it is that one. */
static int open_folder(const struct binding *b, int directory, int parent)
{
	char folder[sizeof(b->text) + 1];
	AUTO_CLOSE int fd = -1;
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", b->text);
	slash = strrchr(folder, '/');
	if (slash)
		slash[1] = '\0';
	fd = openat(directory, slash ? folder : ".",
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 && is_same_file(fd, parent) ? TAKE(fd) : -EROFS;
}

static bool may_bind_on_host(const struct binding *b)
{
	return b->allowed.write ||
	       opens_cover(b->call->sup, ACCESS_SOCKET, b->path) ||
	       opens_cover(b->call->sup, ACCESS_WRITE, b->path);
}

static int read_umask(pid_t thread, mode_t *ret_umask)
{
	char status[TASK_STATUS_BYTES_MAX];
	unsigned long long mask;
	int err = task_read_status(thread, status);

	if (!err)
		err = task_status_number(status, "\nUmask:\t", 8, &mask);
	if (!err)
		*ret_umask = (mode_t)mask;
	return err;
}

/* After EROFS: 0, NEED_WRITE, or -errno. */
static int bind_on_host(struct binding *b, const struct place *place)
{
	AUTO_CLOSE int directory = open_directory(b);
	AUTO_CLOSE int folder = -1;
	struct host_binding host = { b, directory, 0 };
	struct stat status;
	int err;

	if (directory < 0)
		return -EROFS;
	folder = open_folder(b, directory, place->parent);
	if (folder < 0 || rules_is_quiet(files_rules(b->call->sup), b->path))
		return -EROFS;
	if (fstatat(folder, place->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return -EADDRINUSE;
	/* What the host itself would refuse is no question for a person. */
	if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS))
		return -EROFS;
	if (!may_bind_on_host(b))
		return NEED_WRITE;
	err = read_umask(b->call->thread, &host.umask);
	if (!call_is_alive(b->call))
		return -ESRCH;
	return err ? err : run_in_child(CLONE_FILES, bind_there, &host);
}

/* Judging */

static bool is_covered(const struct binding *b)
{
	const struct judgement *judgement = &b->judgement;
	struct supervisor *sup = b->call->sup;

	switch (judgement->verdict) {
	case VERDICT_PASS:
		return true;
	case VERDICT_GIT:
		return (b->allowed.git && strcmp(b->allowed.repository,
						 judgement->repository) == 0) ||
		       opens_cover(sup, ACCESS_GIT, judgement->repository);
	case VERDICT_ASK:
		return (b->allowed.protected &&
			strcmp(b->allowed.protected_path,
			       judgement->protected_path) == 0) ||
		       opens_cover_within(sup, ACCESS_WRITE, b->path,
					  judgement->protected_path);
	case VERDICT_REFUSE:
		break;
	}
	return false;
}

static struct wanted wish_for(const struct binding *b, int need)
{
	const struct judgement *judgement = &b->judgement;
	struct wanted wanted = {
		.action = need == NEED_WRITE ? ACTION_SOCKET : ACTION_WRITE,
		.rule = RULE_MODE,
		.path = b->path,
		.call = "bind",
	};

	if (need == NEED_GIT) {
		wanted.action = ACTION_GIT;
		wanted.other = judgement->repository;
	}
	if (need == NEED_PROTECTED) {
		wanted.is_protected = true;
		wanted.change = judgement->change;
		if (strcmp(judgement->protected_path, b->path) != 0)
			wanted.folder = judgement->protected_path;
	}
	return wanted;
}

/* 0, NEED_GIT, NEED_PROTECTED, or -EACCES. */
static int judge(struct binding *b, const struct place *place)
{
	struct change change = {
		.kind = CHANGE_CREATE,
		.call = "bind",
		.path = b->path,
		.parent = place->parent,
		.name = place->name,
		.source_parent = -1,
		.source = -1,
	};
	struct wanted wanted;

	judgement_release(&b->judgement);
	rules_judge(files_rules(b->call->sup), &change, &b->judgement);
	if (is_covered(b))
		return 0;
	if (b->judgement.verdict == VERDICT_GIT)
		return NEED_GIT;
	if (b->judgement.verdict == VERDICT_ASK)
		return NEED_PROTECTED;
	wanted = wish_for(b, NEED_PROTECTED);
	report_denial(b->call->sup, b->call->thread, &wanted, REASON_RULE);
	return -EACCES;
}

/* The path in the sandbox's view; LOCATE_APART: no rule is about it. */
static int locate_binding(struct binding *b, const struct place *place)
{
	struct supervisor *sup = b->call->sup;
	pid_t thread = b->call->thread;
	size_t length;
	int err =
		place->steps.by_descriptor
			? locate_descriptor(sup, thread, place->parent, b->path)
			: locate(sup, thread, place->parent, b->path);

	if (err)
		return err;
	length = strcmp(b->path, "/") == 0 ? 0 : strlen(b->path);
	if (length + 1 + strlen(place->name) >= sizeof(b->path))
		return -ENAMETOOLONG;
	b->path[length] = '/';
	(void)strcpy(b->path + length + 1, place->name);
	return 0;
}

/* With the lock alone: 0, an enum act_need, or -errno. */
static int bind_once(struct binding *b)
{
	AUTO_PLACE struct place place = PLACE_NONE;
	int err = resolve_parent(b->call, AT_FDCWD, b->text, &place);
	bool apart;

	if (!call_is_alive(b->call))
		return -ESRCH;
	if (err)
		return err;
	if (!is_entry(place.name) || place.slash)
		return act_as_caller(b->call, ENTER_MOUNTS, bind_here, b);
	err = locate_binding(b, &place);
	apart = err == LOCATE_APART;
	if (!err)
		err = judge(b, &place);
	if (err && !apart)
		return err;
	err = act_as_caller(b->call, ENTER_MOUNTS, bind_here, b);
	return err == -EROFS && !apart ? bind_on_host(b, &place) : err;
}

/* 0: allowed; remembers what for. */
static int ask(struct binding *b, int need)
{
	struct wanted wanted = wish_for(b, need);
	struct allowance *allowed = &b->allowed;
	struct answer answer;
	int err = ask_and_wait(b->call, &wanted, &answer);

	if (err)
		return err;
	if (!answer.allowed) {
		report_answer(b->call->sup, b->call->thread, &wanted, &answer);
		return -EACCES;
	}
	/* One question is enough for a place that is also read-only. */
	allowed->write = true;
	if (need == NEED_GIT) {
		allowed->git = true;
		memcpy(allowed->repository, b->judgement.repository,
		       sizeof(allowed->repository));
	}
	if (need == NEED_PROTECTED) {
		allowed->protected = true;
		memcpy(allowed->protected_path, b->judgement.protected_path,
		       sizeof(allowed->protected_path));
	}
	return 0;
}

static int bind_judged(struct binding *b)
{
	pthread_rwlock_t *lock = &b->call->sup->files->lock;
	int err;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		(void)pthread_rwlock_wrlock(lock);
		err = bind_once(b);
		(void)pthread_rwlock_unlock(lock);
		if (err <= 0)
			return err;
		err = ask(b, err);
		if (err)
			return err;
	}
	return -EBUSY;
}

int bind_unix(const struct call *call, const struct target_socket *socket,
	      const struct socket_address *address)
{
	struct bound_sockets *bound = notify_bound(call->sup);
	struct binding b = {
		.call = call,
		.socket = socket->fd,
		.address = address,
		.judgement.content = -1,
		.allowed.content = -1,
	};
	int err;

	/* Invalid, or abstract: it makes no file. */
	if (unix_path(address, b.text) || b.text[0] == '\0')
		return bind_here(&b);
	if (!bound_has_room(bound))
		return -ENOSPC;
	err = bind_judged(&b);
	judgement_release(&b.judgement);
	/* One that is not remembered is bound, and nobody may connect. */
	return err ? err : bound_add(bound, socket->fd);
}
