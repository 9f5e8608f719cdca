/*
 * One held call on files on its way. In this order:
 *
 *  1. its arguments are copied, once (filecall.h);
 *  2. with the lock held: they are resolved into descriptors (resolve.h),
 *     located (locate.h), judged (rules.h), and the call is performed on just
 *     these descriptors (perform.h);
 *  3. what needs a person's answer lets the lock go first, and everything
 *     from 2 on is done anew after the answer;
 *  4. a place that is read-only for the sandbox fails in 2 with EROFS. When
 *     that is open to this run, or was allowed this once, it is performed on
 *     the host's own view of the very same folder or file.
 *
 * The lock is shared by all that perform something; what moves folders has it
 * alone. So no rename comes between the judgement of a path and the act on it.
 */
#pragma once

#include "../rules/rules.h"
#include "../supervisor/ask.h"
#include "../supervisor/opens.h"
#include "files.h"
#include "perform.h"

struct files {
	pthread_rwlock_t lock;
	struct rules *rules;
	struct umasks *umasks;
	struct locations *locations;
};

/* What an answer allowed for this one call. */
struct allowance {
	bool write; /* on the host's view, where ours is read-only */
	bool protected, git;
	char protected_path[PATH_BYTES_MAX], repository[PATH_BYTES_MAX];
	/* What was shown: its bytes, -1: none; without these its text. */
	int content;
	char *change;
};

struct act {
	const struct call *call;
	struct file_call file;
	struct places places;
	bool apart, from_apart; /* no rule is about that place */
	char path[PATH_BYTES_MAX], from_path[PATH_BYTES_MAX];
	bool creates; /* an open that makes the file */
	struct judgement judgement;
	bool exclusive; /* has, or wants, the lock alone */
	struct allowance allowed;
};

/* Instead of a result: not done yet. */
enum act_need {
	NEED_NOTHING = 0,
	NEED_EXCLUSIVE = 1000, /* the lock alone, then anew */
	NEED_GIT,	       /* an answer for act->judgement.repository */
	NEED_PROTECTED,	       /* an answer for a protected place */
	NEED_WRITE,	       /* an answer for a place that is read-only */
	NEED_WAIT,	       /* act->places.at.file may block: without lock */
};

/*
 * Judges the call where act->places say; fills the paths and the judgement. 0
 * when nothing stands against it, an enum act_need, or -errno.
 */
MUST_CHECK int act_judge(struct act *act, enum change_kind kind);

/* Asks for what is needed. 0: do it anew; -errno: what the call returns. */
MUST_CHECK int act_ask(struct act *act, enum act_need need);

/*
 * Whether a nested sandbox has kept a mount that can be written to where the
 * run itself cannot (any more).
 */
bool act_is_closed(const struct act *act);

/*
 * After EROFS: puts the host's view of the same folders and files into
 * act->places, when that may be used. 0, NEED_WRITE, or -errno.
 */
MUST_CHECK int act_use_host(struct act *act);

/* open(2), with the lock held: 0 with *ret_fd, an enum act_need, or -errno. */
MUST_CHECK int act_open(struct act *act, int *ret_fd);
/* The same after act_use_host(): it is judged already. */
MUST_CHECK int act_open_on_host(struct act *act, int *ret_fd);
/* After NEED_WAIT, without the lock: a descriptor, or -errno. */
MUST_CHECK int act_open_waiting(struct act *act);
