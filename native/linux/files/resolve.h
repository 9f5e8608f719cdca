/*
 * Paths of a caller, resolved in its own root and from its own directory as
 * the kernel would (path_resolution(7)), into descriptors. What is to be
 * changed is then named by a folder's descriptor and one component in it,
 * which nobody can make lead elsewhere, or by a descriptor of itself.
 */
#pragma once

#include <sys/stat.h>

#include "walk.h"

struct place {
	/* The folder, O_PATH, and the last component in it; -1: none. */
	int parent;
	const char *name; /* in `text`; may be ".", ".." or "/" */
	bool slash;	  /* something followed that can only be a folder's */
	/* The file itself, O_PATH or the caller's own; -1: not looked up. */
	int file;
	struct steps steps;
	char text[PATH_BYTES_MAX];
};

#define PLACE_NONE                       \
	{                                \
		.parent = -1, .file = -1 \
	}
#define AUTO_PLACE __attribute__((cleanup(place_close)))

void place_close(const struct place *place);

/*
 * Everything but the last component of `path`. The errors are those of the
 * call that has this path; -ELOOP after 40 links.
 */
MUST_CHECK int resolve_parent(const struct call *call, int directory,
			      const char *path, struct place *ret_place);

/* When the last component is a symbolic link: where it leads, 1; else 0. */
MUST_CHECK int resolve_link(const struct call *call, struct place *place);

/*
 * The file itself, after resolve_parent(): fills place->file, and the parent
 * and the name it was found by where there are such.
 */
MUST_CHECK int resolve_file(const struct call *call, bool follow,
			    struct place *place);

/* Whether a name is one of a folder's entries: not ".", ".." or "/". */
bool is_entry(const char *name);
