/* Held calls on files, from their arguments to their answer, see act.h. */
#include "files.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "../supervisor/task.h"
#include "act.h"
#include "caller.h"

enum { ROUNDS_MAX = 32 /* questions about one call, and changes under way */ };

int files_start(struct supervisor *sup)
{
	struct files *files = calloc(1, sizeof(*files));
	pthread_rwlockattr_t attributes;
	int err;

	if (!files)
		return -ENOMEM;
	(void)pthread_rwlockattr_init(&attributes);
	/* Else a busy run would keep whoever wants it alone waiting. */
	(void)pthread_rwlockattr_setkind_np(
		&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	(void)pthread_rwlock_init(&files->lock, &attributes);
	(void)pthread_rwlockattr_destroy(&attributes);
	err = rules_open(&sup->plan->files, &files->rules);
	if (!err)
		err = umasks_open(&files->umasks);
	if (!err)
		err = locations_open(sup, &files->locations);
	if (err) {
		free(files);
		return err;
	}
	sup->files = files;
	return 0;
}

struct rules *files_rules(struct supervisor *sup)
{
	return sup->files->rules;
}

struct locations *files_locations(struct supervisor *sup)
{
	return sup->files->locations;
}

/* Resolving */

/* The file of a descriptor: the caller's own, so that it counts how it is. */
static int take_descriptor(struct act *act)
{
	struct place *at = &act->places.at;
	int err = task_take_descriptor(act->call->thread, act->file.directory,
				       &at->file);

	at->steps.by_descriptor = true;
	return err;
}

/* An empty path with AT_EMPTY_PATH. */
static int take_file(struct act *act, int directory, struct place *place)
{
	place->file = caller_file(act->call, directory);
	place->steps.by_descriptor = directory != AT_FDCWD;
	return place->file < 0 ? place->file : 0;
}

static int resolve_source(struct act *act)
{
	struct place *from = &act->places.from;
	struct file_call *file = &act->file;
	int err;

	if (*file->from)
		err = resolve_parent(act->call, file->from_directory,
				     file->from, from);
	else
		err = take_file(act, file->from_directory, from);
	if (!err && *file->from && file->operation == OPERATION_LINK)
		err = resolve_file(act->call, file->flags & AT_SYMLINK_FOLLOW,
				   from);
	return err ? err : file->path_error;
}

static int resolve(struct act *act)
{
	struct place *at = &act->places.at;
	struct file_call *file = &act->file;
	int err = 0;

	if (file->is_descriptor)
		return take_descriptor(act);
	if (operates_on_two(file->operation))
		err = resolve_source(act);
	if (err)
		return err;
	if (operates_on_file(file->operation) && !*file->path)
		return take_file(act, file->directory, at);
	err = resolve_parent(act->call, file->directory, file->path, at);
	if (!err && operates_on_file(file->operation))
		err = resolve_file(act->call, file_call_follows(file), at);
	return err;
}

/* Performing */

static enum change_kind kind_of(enum operation operation)
{
	switch (operation) {
	case OPERATION_MKDIR:
	case OPERATION_MKNOD:
	case OPERATION_SYMLINK:
		return CHANGE_CREATE;
	case OPERATION_REMOVE:
		return CHANGE_REMOVE;
	case OPERATION_RENAME:
		return CHANGE_RENAME;
	case OPERATION_LINK:
		return CHANGE_LINK;
	case OPERATION_OPEN:
	case OPERATION_TRUNCATE:
		return CHANGE_WRITE;
	case OPERATION_MODE:
	case OPERATION_OWNER:
	case OPERATION_TIMES:
	case OPERATION_SET_ATTRIBUTE:
	case OPERATION_REMOVE_ATTRIBUTE:
		break;
	}
	return CHANGE_METADATA;
}

static int perform_judged(struct act *act)
{
	int content = act->allowed.content;

	if (content < 0)
		content = act->judgement.content;
	if (content < 0)
		return perform(act->call, &act->file, &act->places);
	if (!act->exclusive)
		return NEED_EXCLUSIVE;
	return perform_with_content(&act->file, &act->places, content);
}

static int act_change(struct act *act)
{
	enum operation operation = act->file.operation;
	int err = act_judge(act, kind_of(operation));

	if (!err &&
	    (operation == OPERATION_MKDIR || operation == OPERATION_MKNOD))
		err = take_umask(act->call->sup->files->umasks, act->call);
	if (!err)
		err = perform_judged(act);
	if (err != -EROFS)
		return err;
	err = act_use_host(act);
	return err ? err : perform_judged(act);
}

static int act_opening(struct act *act, int *ret_fd)
{
	int err = act_open(act, ret_fd);

	if (err != -EROFS)
		return err;
	err = act_use_host(act);
	return err ? err : act_open_on_host(act, ret_fd);
}

/* One round with the lock held; *ret_fd is set only by open(2). */
static int act_once(struct act *act, int *ret_fd)
{
	pthread_rwlock_t *lock = &act->call->sup->files->lock;
	int err;

	if (act->exclusive)
		(void)pthread_rwlock_wrlock(lock);
	else
		(void)pthread_rwlock_rdlock(lock);
	err = resolve(act);
	if (!call_is_alive(act->call))
		err = -ESRCH;
	if (!err)
		err = act->file.operation == OPERATION_OPEN
			      ? act_opening(act, ret_fd)
			      : act_change(act);
	(void)pthread_rwlock_unlock(lock);
	return err;
}

static void begin_place(struct place *place)
{
	place_close(place);
	place->parent = place->file = -1;
	place->name = "";
	place->slash = false;
	place->steps = (struct steps){ 0 };
}

/* Nothing of an earlier round counts, but what was allowed. */
static void begin_round(struct act *act)
{
	begin_place(&act->places.at);
	begin_place(&act->places.from);
	free(TAKE(act->judgement.change));
	close_quietly(TAKE(act->judgement.content));
	act->judgement.verdict = VERDICT_PASS;
}

/* Settles what a round left open: 0, then anew; else the result. */
static int settle(struct act *act, int need, int *ret_fd)
{
	switch (need) {
	case NEED_EXCLUSIVE:
		act->exclusive = true;
		return 0;
	case NEED_GIT:
	case NEED_PROTECTED:
	case NEED_WRITE:
		act->exclusive = false;
		return act_ask(act, (enum act_need)need);
	case NEED_WAIT:
		*ret_fd = act_open_waiting(act);
		return *ret_fd < 0 ? *ret_fd : CALL_ANSWERED;
	default:
		return -EIO;
	}
}

static int act_through(struct act *act, int *ret_fd)
{
	int err = 0;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		begin_round(act);
		err = act_once(act, ret_fd);
		if (err < NEED_EXCLUSIVE)
			return err;
		err = settle(act, err, ret_fd);
		if (err)
			return err == CALL_ANSWERED ? 0 : err;
	}
	return -EBUSY;
}

/*
 * Puts the descriptor into the caller: its number there. Not with
 * SECCOMP_ADDFD_FLAG_SEND, which is one switch less: the caller would go on
 * while we have the file open, too, and could not execute what it has just
 * written (ETXTBSY, execve(2)).
 */
static int put_descriptor(const struct call *call, int fd, bool close_on_exec)
{
	struct seccomp_notif_addfd given = {
		.id = call->id,
		.srcfd = (__u32)fd,
		.newfd_flags = close_on_exec ? O_CLOEXEC : 0,
	};
	int number =
		ioctl(call->sup->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &given);

	return number < 0 ? -errno : number; /* EMFILE: the caller's limit */
}

static int act_and_put(struct act *act)
{
	AUTO_CLOSE int fd = -1;
	int err = act_through(act, &fd);

	if (act->file.operation != OPERATION_OPEN)
		return err;
	if (err)
		return file_call_error(&act->file, err);
	return put_descriptor(act->call, fd, act->file.flags & O_CLOEXEC);
}

static void act_release(struct act *act)
{
	place_close(&act->places.at);
	place_close(&act->places.from);
	judgement_release(&act->judgement);
	close_quietly(act->allowed.content);
	free(act->allowed.change);
	file_call_release(&act->file);
}

static void begin_allowance(struct allowance *allowed)
{
	allowed->write = allowed->protected = allowed->git = false;
	allowed->content = -1;
	allowed->change = NULL;
}

int answer_file_call(const struct call *call)
{
	UNINITIALIZED struct act act;
	int err;

	if (call->number == SYS_umask)
		return answer_umask(call->sup->files->umasks, call);
	act.call = call;
	act.places.at.parent = act.places.at.file = -1;
	act.places.from.parent = act.places.from.file = -1;
	act.apart = act.from_apart = act.creates = act.exclusive = false;
	begin_allowance(&act.allowed);
	act.judgement.change = NULL;
	act.judgement.content = -1;
	act.judgement.verdict = VERDICT_PASS;
	err = file_call_read(call, &act.file);
	if (!err)
		err = act_and_put(&act);
	act_release(&act);
	/* Nothing of the caller's is open here any more. */
	if (err <= 0)
		return err;
	call_return(call, err);
	return CALL_ANSWERED;
}
