/*
 * Judges a change of the file system by place, name and content: is it the
 * workspace's ordinary business, git's own, or something that is protected
 * because it runs later, outside? Pure, but for looking through the
 * descriptors that it is given; it changes nothing and asks nobody.
 *
 * The performer holds its lock from the canonical path to the call, so that
 * what is looked at here cannot move before it acts. See gitLayout.h for what
 * a git directory is, places.h for the protected names.
 */
#pragma once

#include <sys/types.h>

#include "../../common/cordon.h"
#include "../../common/limits.h"

struct plan_files;
struct rules;

enum change_kind {
	CHANGE_CREATE,	 /* open with O_CREAT of what is absent, mkdir, mknod,
			  * symlink, bind */
	CHANGE_WRITE,	 /* open of what exists for writing, truncate */
	CHANGE_REMOVE,	 /* unlink, rmdir */
	CHANGE_METADATA, /* chmod, chown, utimens, xattr */
	CHANGE_RENAME,
	CHANGE_LINK, /* linkat(2), O_TMPFILE's too */
};

/*
 * `parent` is an O_PATH descriptor of the folder that holds, or will hold, the
 * last component of `path`; ".." from it must lead along `path` (a mount of
 * the sandbox's own view). A link of a descriptor (AT_EMPTY_PATH) has neither
 * source_path nor source_parent when its file has no name. With neither these
 * nor a descriptor the source lies on a file system that was made inside.
 */
struct change {
	enum change_kind kind;
	const char *call; /* name of the call as in PROTOCOL.md: "symlink", … */

	const char *path; /* canonical */
	int parent;
	const char *name;  /* last component */
	bool is_directory; /* of what is created, removed, renamed */

	const char *source_path; /* rename, link; else NULL */
	int source_parent;	 /* rename, link; else -1 */
	const char *source_name;
	int source;	    /* link of a descriptor: the file; else -1 */
	bool is_exchange;   /* rename with RENAME_EXCHANGE */
	bool keeps_present; /* rename with RENAME_NOREPLACE */
	const char *target; /* symlink: its text; else NULL */
};

/* In rising order: of two that apply the stronger one is given. */
enum verdict {
	VERDICT_PASS,
	VERDICT_GIT,	/* with the git answer for a repository */
	VERDICT_ASK,	/* protected: a question of its own */
	VERDICT_REFUSE, /* EACCES and a denial; not asked */
};

struct judgement {
	enum verdict verdict;

	/* VERDICT_GIT (also set with VERDICT_ASK inside a repository). */
	char repository[PATH_BYTES_MAX];

	/* VERDICT_ASK: the protected place itself, what a grant would open. */
	char protected_path[PATH_BYTES_MAX];

	/*
	 * What the other end of a rename or a link needs besides: VERDICT_PASS
	 * for nothing, VERDICT_GIT for the answer of the repository `path`,
	 * VERDICT_ASK for the protected place `path`. Never without a verdict
	 * of at least the same strength above. One question is enough for a
	 * single call; standing opens must cover both.
	 */
	struct {
		enum verdict verdict;
		char path[PATH_BYTES_MAX];
	} second;

	/* What would be written, to be shown; from malloc(3), or NULL. */
	char *change;

	/*
	 * -1, or a sealed memfd with the bytes that were judged. Then the
	 * caller's own file must not come to stand at `path`, since somebody
	 * may have it open for writing: the performer puts a fresh file with
	 * these bytes there (mode of the source) and, for a rename, unlinks the
	 * source. After a question it keeps the content of the judgement that
	 * was asked.
	 */
	int content;

	/* The judgement only holds while no other change is performed. */
	bool needs_exclusive;
};

/*
 * Rules for a plan, which must outlive them. Looks at nothing yet.
 * 0, or -ENOMEM.
 */
MUST_CHECK int rules_open(const struct plan_files *files, struct rules **ret);
void rules_close(struct rules *rules);

/*
 * Fills *ret, always: what cannot be looked at is judged as protected. To be
 * let go with judgement_release(). Safe from any thread.
 */
void rules_judge(const struct rules *rules, const struct change *change,
		 struct judgement *ret);
void judgement_release(struct judgement *judgement);

/* A component of the path matches one of the plan's quiet patterns. */
bool rules_is_quiet(const struct rules *rules, const char *path);

/*
 * A folder that was granted for writing becomes a root: `.git` and the
 * protected names hold in it, too. 0, -ENOMEM. Safe from any thread.
 */
MUST_CHECK int rules_add_root(struct rules *rules, const char *path);
