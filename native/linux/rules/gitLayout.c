/* Git directories and their parts, see gitLayout.h. */
#include "gitLayout.h"

#include <stdio.h>
#include <string.h>

/* Parts by their path in the git directory, folded. */
static const struct {
	const char *path;
	enum git_part part;
} parts[] = {
	{ "", PART_TOP },
	{ "head", PART_VITAL },
	{ "objects", PART_VITAL },
	{ "refs", PART_VITAL },
	{ "config", PART_CONFIG },
	{ "config.worktree", PART_CONFIG },
	{ "hooks", PART_HOOKS_FOLDER },
	{ "info", PART_INFO_FOLDER },
	{ "info/attributes", PART_ATTRIBUTES },
	{ "commondir", PART_COMMON },
	{ "rebase-merge", PART_STATE_FOLDER },
	{ "rebase-merge/git-rebase-todo", PART_TODO },
	{ "rebase-merge/git-rebase-todo.backup", PART_TODO },
	{ "rebase-merge/strategy", PART_STRATEGY },
	{ "sequencer", PART_STATE_FOLDER },
	{ "sequencer/todo", PART_TODO },
	{ "sequencer/opts", PART_OPTIONS },
};

/* What else stands at the top of a git directory; to know one by its layout. */
static const char *const other_tops[] = {
	"logs",	       "packed-refs", "index",	   "shallow", "worktrees",
	"modules",     "fetch_head",  "orig_head", "lfs",     "rr-cache",
	"description", "branches",    "reftable",
};

static bool ends_in(const char *text, const char *suffix)
{
	size_t length = strlen(text), suffix_length = strlen(suffix);

	return length > suffix_length &&
	       strcmp(text + length - suffix_length, suffix) == 0;
}

/* The component could stand at the top of a git directory. */
static bool is_top_name(const char *folded)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(parts[i].path, folded) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(other_tops); i++) {
		if (strcmp(other_tops[i], folded) == 0)
			return true;
	}
	return is_short_name(folded);
}

static bool is_first(const char *path, const char *name)
{
	size_t length = strlen(name);

	return strncmp(path, name, length) == 0 && path[length] == '/';
}

/* "worktrees/NAME/REST": its index, where REST is a git directory's, too. */
static size_t skip_worktree(const struct trail *trail, size_t index)
{
	return is_first(trail_rest(trail, index), "worktrees") &&
			       index + 2 < trail->count
		       ? index + 2
		       : index;
}

/*
 * "modules/NAME/REST": where NAME, which may have slashes, ends is told by
 * what follows. Where that is wrong the layout tells, once it is complete.
 */
static size_t skip_module(const struct trail *trail, size_t index)
{
	if (!is_first(trail_rest(trail, index), "modules"))
		return index;
	for (size_t i = index + 2; i < trail->count; i++) {
		char name[NAME_BYTES_MAX];

		trail_component(trail, i, name);
		if (is_top_name(name))
			return i;
	}
	return index;
}

/* Only git's samples may be put in hooks/: git runs none of that name. */
static enum git_part hooks_part(const char *rest)
{
	char name[NAME_BYTES_MAX];
	size_t length = strcspn(rest, "/");

	memcpy(name, rest, length);
	name[length] = '\0';
	return ends_in(name, ".sample") ? PART_PLAIN : PART_HOOK;
}

static enum git_part part_of(const char *path)
{
	if (is_first(path, "hooks"))
		return hooks_part(path + strlen("hooks/"));
	if (is_first(path, "info/attributes"))
		return PART_ATTRIBUTES;
	if (is_first(path, "objects"))
		return PART_OBJECT;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (strcmp(parts[i].path, path) == 0)
			return parts[i].part;
	}
	return is_short_name(path) ? PART_SHORT_NAME : PART_PLAIN;
}

/* How many components of the path name what is protected. */
static size_t depth_of(enum git_part part, const struct git_spot *spot,
		       size_t count)
{
	switch (part) {
	case PART_HOOK:
	case PART_HOOKS_FOLDER:
		return spot->top + 1;
	case PART_ATTRIBUTES:
		return spot->top + 2;
	case PART_TOP:
	case PART_VITAL:
		return spot->top;
	case PART_PLAIN:
	case PART_OBJECT:
	case PART_CONFIG:
	case PART_INFO_FOLDER:
	case PART_COMMON:
	case PART_STATE_FOLDER:
	case PART_TODO:
	case PART_OPTIONS:
	case PART_STRATEGY:
	case PART_SHORT_NAME:
		break;
	}
	return count;
}

/*
 * What belongs to submodules and linked work trees is looked at as a git
 * directory's, too, before their layout is complete.
 */
static struct git_spot classify(const struct end *end, size_t top,
				bool is_linked)
{
	const struct trail *trail = &end->trail;
	struct git_spot spot = { .repository = top };
	size_t module = top, next;

	while ((next = skip_module(trail, module)) != module)
		module = next;
	spot.top = skip_worktree(trail, module);
	spot.is_linked = is_linked || spot.top > module;
	spot.part = part_of(trail_rest(trail, spot.top));
	spot.depth = depth_of(spot.part, &spot, trail->count);
	return spot;
}

/* Which folders are git directories */

static bool is_git_name(const char *folded)
{
	return strcmp(folded, ".git") == 0 || strcmp(folded, "git~1") == 0;
}

static bool is_repository_layout(const struct end *end, size_t depth)
{
	return end_has(end, depth, "objects") && end_has(end, depth, "refs");
}

static bool is_linked_layout(const struct end *end, size_t depth)
{
	return end_has(end, depth, "HEAD") && end_has(end, depth, "commondir");
}

struct visit {
	const struct end *end;
	git_visitor visit;
	void *context;
};

static void visit_one(const struct visit *v, size_t top, bool is_linked)
{
	struct git_spot spot = classify(v->end, top, is_linked);

	v->visit(v->context, &spot);
}

/* Those that the plan names; they may lie outside of every root. */
static void visit_planned(const struct places *places, const struct visit *v)
{
	const struct plan_files *files = places->files;

	for (size_t i = 0; i < files->repository_count; i++) {
		const struct planned_repository *repository =
			&files->repositories[i];

		if (is_below(v->end->trail.path, repository->common))
			visit_one(v, count_components(repository->common),
				  false);
		if (strcmp(repository->directory, repository->common) != 0 &&
		    is_below(v->end->trail.path, repository->directory))
			visit_one(v, count_components(repository->directory),
				  true);
	}
}

void git_visit(const struct places *places, const struct end *end,
	       git_visitor visit, void *context)
{
	const struct visit v = { end, visit, context };
	const struct trail *trail = &end->trail;
	size_t depth = places_root_depth(places, trail);
	bool is_named = false; /* the folder of this depth is, by its name */

	visit_planned(places, &v);
	for (; depth < trail->count; depth++) {
		char name[NAME_BYTES_MAX];

		trail_component(trail, depth, name);
		if (!is_named && is_top_name(name)) {
			if (is_repository_layout(end, depth))
				visit_one(&v, depth, false);
			else if (is_linked_layout(end, depth))
				visit_one(&v, depth, true);
		}
		is_named = is_git_name(name);
		if (is_named)
			visit_one(&v, depth + 1, false);
	}
}

/* The repository around */

struct outermost {
	bool found;
	struct git_spot spot;
};

static void keep_first(void *context, const struct git_spot *spot)
{
	struct outermost *outermost = context;

	if (!outermost->found) {
		outermost->found = true;
		outermost->spot = *spot;
	}
}

/* The nearest folder above that has a `.git`: its path; false: none has. */
static bool enclosing_repository(const struct places *places,
				 const struct end *end, size_t depth,
				 char ret_path[PATH_BYTES_MAX])
{
	size_t root_depth = places_root_depth(places, &end->trail);

	while (depth-- > root_depth) {
		char folder[PATH_BYTES_MAX];

		if (!end_has(end, depth, ".git"))
			continue;
		trail_prefix(&end->trail, depth, folder);
		return snprintf(ret_path, PATH_BYTES_MAX, "%s/.git", folder) <
		       PATH_BYTES_MAX;
	}
	return false;
}

/* A linked work tree's directory stands for the common one. */
static bool planned_common(const struct places *places, const char *path,
			   char ret_path[PATH_BYTES_MAX])
{
	for (size_t i = 0; i < places->files->repository_count; i++) {
		const struct planned_repository *repository =
			&places->files->repositories[i];

		if (!is_below(path, repository->directory) &&
		    !is_below(path, repository->common))
			continue;
		(void)snprintf(ret_path, PATH_BYTES_MAX, "%s",
			       repository->common);
		return true;
	}
	return false;
}

bool git_repository(const struct places *places, const struct end *end,
		    char ret_path[PATH_BYTES_MAX])
{
	struct outermost outermost = { 0 };
	size_t top;

	if (planned_common(places, end->trail.path, ret_path))
		return true;
	git_visit(places, end, keep_first, &outermost);
	if (!outermost.found)
		return false;
	top = outermost.spot.repository;
	if (outermost.spot.part == PART_TOP && !end->is_directory &&
	    end->act != ACT_MAKE_FOLDER &&
	    enclosing_repository(places, end, top - 1, ret_path))
		return true;
	trail_prefix(&end->trail, top, ret_path);
	return true;
}

/* Layouts that become complete */

static const struct {
	const char *name, *partner;
} pairs[] = {
	{ "objects", "refs" },
	{ "refs", "objects" },
	{ "head", "commondir" },
	{ "commondir", "HEAD" },
};

static const char *partner_of(const struct end *end)
{
	char name[NAME_BYTES_MAX];

	trail_component(&end->trail, end->trail.count - 1, name);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (strcmp(pairs[i].name, name) == 0)
			return pairs[i].partner;
	}
	return NULL;
}

bool git_can_complete(const struct end *end)
{
	return end->trail.count > 1 && partner_of(end) != NULL;
}

/* The folder is "worktrees/NAME" of a repository. */
static bool is_in_worktrees(const struct end *end, size_t depth)
{
	char name[NAME_BYTES_MAX];

	if (depth < 3)
		return false;
	trail_component(&end->trail, depth - 2, name);
	return strcmp(name, "worktrees") == 0 &&
	       is_repository_layout(end, depth - 2);
}

bool git_completes(const struct end *end, bool *ret_is_odd)
{
	size_t depth = end->trail.count - 1;
	const char *partner = partner_of(end);
	char name[NAME_BYTES_MAX];

	trail_component(&end->trail, depth - 1, name);
	if (is_git_name(name) || !end_has(end, depth, partner) ||
	    is_repository_layout(end, depth) || is_linked_layout(end, depth))
		return false;
	*ret_is_odd = strcmp(partner, "HEAD") == 0 ||
		      strcmp(partner, "commondir") == 0;
	if (*ret_is_odd)
		*ret_is_odd = !is_in_worktrees(end, depth);
	return true;
}
