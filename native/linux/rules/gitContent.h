/*
 * What a file says that is about to become git's: configuration, the todo of
 * a rebase, a whole git directory. Reads through the descriptors given and
 * never waits: what is no regular file is not opened for reading.
 */
#pragma once

#include "../../common/cordon.h"
#include "excerpt.h"

/* A copy of a file, so that what was judged is what can be put in place. */
struct content {
	char *bytes; /* malloc(3); zero-terminated besides */
	size_t length;
	int from; /* descriptor of the file, for has_other_writers() */
};

#define NO_CONTENT         \
	{                  \
		.from = -1 \
	}

/*
 * Reads the regular file `name` of the folder `parent`. -ENOENT; -ELOOP: it is
 * a symlink; -EINVAL: another kind of file; -EFBIG: longer than
 * CONTENT_BYTES_MAX; errors of openat(2) and read(2).
 */
MUST_CHECK int content_read(int parent, const char *name, struct content *ret);
/* The same of a descriptor, O_PATH too. */
MUST_CHECK int content_read_descriptor(int fd, struct content *ret);
void content_free(struct content *content);

/* The bytes as a sealed memfd, at its beginning. -errno of memfd_create(2). */
MUST_CHECK int content_seal(const struct content *content, int *ret_fd);

/*
 * Somebody could still change the file after it was read: it is open for
 * writing, or has another name. True when that cannot be known.
 */
bool content_can_change(const struct content *content);

/*
 * Configuration that would replace the file `name` of `parent` (which may be
 * absent) in the git directory at the canonical path `directory`. False when
 * it sets something that is not harmless, or cannot be read; the excerpt gets
 * the changed lines then.
 */
bool config_content_is_harmless(const struct content *fresh, int parent,
				const char *name, const char *directory,
				struct excerpt *excerpt);

/* False, and the lines, when a rebase would run commands of this todo. */
bool todo_content_is_harmless(const struct content *todo,
			      struct excerpt *excerpt);

/* False when sequencer/opts names a merge strategy, which is a program. */
bool options_content_is_harmless(const struct content *options,
				 struct excerpt *excerpt);

/*
 * What already lies in a folder that is about to count as a git directory:
 * false, with a line for each, when it has settings that are not harmless,
 * hooks, attributes, a redirection to another directory's, or files that can
 * still change. `name` is relative to `parent`; the path is for showing.
 */
bool git_directory_is_harmless(int parent, const char *name,
			       const char *directory, struct excerpt *excerpt);
