/*
 * What a path inside a git directory is (gitrepository-layout(5)), and which
 * folders are git directories.
 *
 * A folder counts as one when its name is `.git`, when the plan names it, or
 * when git would take it for one wherever it lies: it has `objects` and `refs`
 * (a repository; git also wants HEAD, unless something leads there), or HEAD
 * and `commondir` (what a linked work tree has of its own). From the moment
 * that such a layout is complete, what runs or decides what runs in it is
 * protected; the name that completes it is judged by what is there already.
 *
 * That is why files that lead elsewhere (`.git` files, `commondir` of linked
 * work trees, alternates) can be git's own business: wherever they lead in a
 * root, a complete layout is protected, and out of the roots nothing can be
 * prepared. (A run's private folders can be reached as /proc/PID/root from the
 * host while it runs, for which any symlink will do, without git.)
 */
#pragma once

#include "places.h"

enum git_part {
	PART_PLAIN,	   /* refs, index, logs, lock files, … */
	PART_OBJECT,	   /* below objects: nothing but data */
	PART_TOP,	   /* the git directory, or the file, itself */
	PART_VITAL,	   /* HEAD, objects, refs: without it no repository */
	PART_CONFIG,	   /* config, config.worktree */
	PART_HOOKS_FOLDER, /* hooks */
	PART_HOOK,	   /* below it, but for git's own samples */
	PART_INFO_FOLDER,  /* info */
	PART_ATTRIBUTES,   /* info/attributes */
	PART_COMMON,	   /* commondir of what is no linked work tree */
	PART_STATE_FOLDER, /* rebase-merge, sequencer */
	PART_TODO,	   /* of a rebase or of cherry-picks */
	PART_OPTIONS,	   /* sequencer/opts */
	PART_STRATEGY,	   /* rebase-merge/strategy */
	PART_SHORT_NAME,   /* "CONFIG~1": whatever it stands for */
};

struct git_spot {
	enum git_part part;
	size_t repository; /* components of the repository's path */
	size_t top;   /* of the git directory's: a linked tree's lies inside */
	size_t depth; /* of the path of what is protected */
	bool is_linked; /* a linked work tree's own directory */
};

/* Called for each git directory around a path, outermost first. */
typedef void (*git_visitor)(void *context, const struct git_spot *spot);
void git_visit(const struct places *places, const struct end *end,
	       git_visitor visit, void *context);

/*
 * The git directory whose answer a change at this end needs: the outermost
 * one, a linked work tree's common one; for a `.git` that is no folder, that
 * of the repository around it. False: the end is in no git directory.
 */
bool git_repository(const struct places *places, const struct end *end,
		    char ret_path[PATH_BYTES_MAX]);

/* The end's last component could complete a layout. */
bool git_can_complete(const struct end *end);

/*
 * Putting it there makes a git directory of its folder, which is none yet.
 * *ret_is_odd: it is one that only an attack would make (a linked work tree's
 * outside of any repository's "worktrees").
 */
bool git_completes(const struct end *end, bool *ret_is_odd);
