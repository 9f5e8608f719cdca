/*
 * Reads git's configuration syntax as git does (git-config(1), "SYNTAX"), so
 * that what git would see in a file is known before the file is in place.
 * What git would not read is refused. Includes are entries like any other:
 * nothing is followed.
 */
#pragma once

#include "../../common/cordon.h"
#include "excerpt.h"

struct config_entry {
	const char *section;	/* lower case; "" before the first section */
	const char *subsection; /* NULL: none */
	const char *name;	/* lower case */
	const char *value;	/* NULL: no "=", which means true */
};

/* In the order of the file. An empty one is valid: { 0 }. */
struct config {
	struct config_entry *entries;
	size_t count;
	char *text; /* what the strings live in */
};

/*
 * -EBADMSG: git would not read it, or it has a zero byte, where git itself
 * sees less than there is; -E2BIG: more than CONFIG_ENTRIES_MAX; -ENOMEM.
 */
MUST_CHECK int config_parse(const char *bytes, size_t length,
			    struct config *ret);
void config_free(struct config *config);

/* Where a configuration stands: core.worktree means nothing without it. */
struct config_place {
	const char *directory; /* canonical path of the git directory */
};

/*
 * Setting this can neither run a program nor redirect what git reads or
 * writes out of the workspace. The table and its reasons: gitKeys.c.
 */
bool config_is_harmless(const struct config_entry *entry,
			const struct config_place *place);

/*
 * Each harmful entry of `fresh` stands in `old`, in the same order: taking
 * entries away is harmless, moving or adding some is not.
 */
bool config_adds_nothing(const struct config *old, const struct config *fresh,
			 const struct config_place *place);

/* What came and went, one entry a line: "+ core.bare = false". */
void config_write_changes(const struct config *old, const struct config *fresh,
			  struct excerpt *excerpt);
