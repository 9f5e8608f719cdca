/*
 * Where a change happens: its path by components, what lies around it, and
 * whether it is at a place that the plan protects by name or by path.
 *
 * A name can be reached in three ways: at or below it; through a folder above
 * it (mv x .github, with workflows in x); through a link at or above it, since
 * what is written there later is written elsewhere.
 */
#pragma once

#include <sys/stat.h>

#include "../launch/plan.h"
#include "fold.h"

#include "../../common/limits.h"

enum { COMPONENTS_MAX = PATH_BYTES_MAX / 2 };

/* A canonical path, and the same with each component folded. */
struct trail {
	const char *path;
	char folded[PATH_BYTES_MAX];
	size_t count;		     /* of components */
	uint16_t at[COMPONENTS_MAX]; /* where each begins in path */
	uint16_t folded_at[COMPONENTS_MAX];
};

/* What happens to the name at one end of a change. */
enum act {
	ACT_CREATE, /* a file, with what content is not known yet */
	ACT_MAKE_FOLDER,
	ACT_MAKE_LINK, /* symlink */
	ACT_WRITE,
	ACT_METADATA,
	ACT_REMOVE,
	ACT_TAKE,  /* renamed away */
	ACT_PUT,   /* something comes to stand here by rename or link */
	ACT_SHARE, /* the file gets another name, by which it can be written */
};

/* What is put: a name of a folder, or for want of one a descriptor. */
struct incoming {
	int parent;
	const char *name;
	int descriptor;
	mode_t type; /* S_IFMT; 0: cannot be known */
};

struct end {
	struct trail trail;
	enum act act;
	int parent; /* see struct change */
	const char *name;
	bool is_directory;
	const struct incoming *incoming; /* ACT_PUT */
	const char *target;		 /* ACT_MAKE_LINK; may be NULL */
};

struct root {
	struct root *next;
	char path[];
};

struct places {
	const struct plan_files *files;
	_Atomic(struct root *) added; /* roots besides the plan's; only grows */
	char **names, **protected, **packages; /* folded, as in the plan */
};

/* -ENOMEM. */
MUST_CHECK int places_open(struct places *places,
			   const struct plan_files *files);
void places_close(struct places *places);
MUST_CHECK int places_add_root(struct places *places, const char *path);

void trail_read(const char *path, struct trail *ret);
/* Folded component; valid as long as the trail. */
void trail_component(const struct trail *trail, size_t index,
		     char ret[NAME_BYTES_MAX]);
/* The folded rest of the path from a component on: "a/b"; "" at the end. */
const char *trail_rest(const struct trail *trail, size_t index);
/* Text of the first `depth` components, in the path's own spelling. */
void trail_prefix(const struct trail *trail, size_t depth,
		  char ret[PATH_BYTES_MAX]);
/* Components of a plain path. */
size_t count_components(const char *path);

/*
 * The least number of components that lead to a root above the path; the
 * trail's count when no root is above it (a root itself is not below one).
 */
size_t places_root_depth(const struct places *places,
			 const struct trail *trail);

/*
 * Whether `name` ("a/b") is there below the folder of the end's first `depth`
 * components, links not followed at its end. True when it cannot be known.
 */
bool end_has(const struct end *end, size_t depth, const char *name);

/* Path of that folder from end->parent: "../..", or "." for none. */
MUST_CHECK int end_way_up(const struct end *end, size_t depth,
			  char ret[PATH_BYTES_MAX]);

/*
 * The change at this end touches a place that is protected by name or path,
 * which is *ret_place then. *ret_is_near, set in either case: that depends on
 * what is put there, which must not be swapped until it is.
 */
bool places_touch(const struct places *places, const struct end *end,
		  char ret_place[PATH_BYTES_MAX], bool *ret_is_near);

/* The folder at the path is a root, or a root is below it. */
bool places_hold_root(const struct places *places, const char *path);
