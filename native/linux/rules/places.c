/* Places and names, see places.h. */
#include "places.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Paths */

void trail_read(const char *path, struct trail *ret)
{
	const char *at = path;
	size_t written = 0;

	ret->path = path;
	ret->count = 0;
	while (*at) {
		size_t length = strcspn(++at, "/");

		if (length == 0 || ret->count == COMPONENTS_MAX)
			break;
		ret->folded[written++] = '/';
		ret->at[ret->count] = (uint16_t)(at - path);
		ret->folded_at[ret->count++] = (uint16_t)written;
		/* A folded name is never longer than the name. */
		fold_name(at, length, ret->folded + written);
		written += strlen(ret->folded + written);
		at += length;
	}
	ret->folded[written] = '\0';
}

const char *trail_rest(const struct trail *trail, size_t index)
{
	return index < trail->count ? trail->folded + trail->folded_at[index]
				    : "";
}

void trail_component(const struct trail *trail, size_t index,
		     char ret[NAME_BYTES_MAX])
{
	const char *rest = trail_rest(trail, index);
	size_t length = strcspn(rest, "/");

	memcpy(ret, rest, length);
	ret[length] = '\0';
}

void trail_prefix(const struct trail *trail, size_t depth,
		  char ret[PATH_BYTES_MAX])
{
	size_t length = depth < trail->count ? trail->at[depth] - 1U
					     : strlen(trail->path);

	memcpy(ret, trail->path, length);
	ret[length] = '\0';
	if (length == 0)
		memcpy(ret, "/", sizeof("/"));
}

size_t count_components(const char *path)
{
	size_t count = 0;

	for (; *path; path++)
		count += path[0] == '/' && path[1] != '\0';
	return count;
}

/* Looking around */

int end_way_up(const struct end *end, size_t depth, char ret[PATH_BYTES_MAX])
{
	size_t steps = end->trail.count - 1 - depth;
	size_t length = 0;

	if (3 * steps + 2 > PATH_BYTES_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < steps; i++, length += 3)
		memcpy(ret + length, "../", sizeof("../"));
	memcpy(ret + length, ".", sizeof("."));
	return 0;
}

/* A path that gets too long cannot be anybody's, and stays as it is. */
static void append_component(char path[PATH_BYTES_MAX], const char *name)
{
	size_t length = strlen(path), name_size = strlen(name) + 1;

	if (length + 1 + name_size > PATH_BYTES_MAX)
		return;
	path[length] = '/';
	memcpy(path + length + 1, name, name_size);
}

static bool is_there(int folder, const char *path)
{
	struct stat status;

	return fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

bool end_has(const struct end *end, size_t depth, const char *name)
{
	char path[PATH_BYTES_MAX];

	if (end_way_up(end, depth, path) ||
	    strlen(path) + 1 + strlen(name) >= sizeof(path))
		return true;
	append_component(path, name);
	return is_there(end->parent, path);
}

/* Roots */

static bool is_strictly_below(const char *path, const char *root)
{
	return is_below(path, root) && strlen(path) > strlen(root);
}

size_t places_root_depth(const struct places *places, const struct trail *trail)
{
	const struct strings *roots = &places->files->roots;
	size_t least = trail->count;

	for (size_t i = 0; i < roots->count; i++) {
		size_t depth = count_components(roots->at[i]);

		if (depth < least &&
		    is_strictly_below(trail->path, roots->at[i]))
			least = depth;
	}
	for (const struct root *root = atomic_load(&places->added); root;
	     root = root->next) {
		size_t depth = count_components(root->path);

		if (depth < least && is_strictly_below(trail->path, root->path))
			least = depth;
	}
	return least;
}

/* The first `depth` components are those of a root. */
static bool is_root(const struct places *places, const struct trail *trail,
		    size_t depth)
{
	const struct strings *roots = &places->files->roots;
	char prefix[PATH_BYTES_MAX];

	trail_prefix(trail, depth, prefix);
	for (size_t i = 0; i < roots->count; i++) {
		if (strcmp(roots->at[i], prefix) == 0)
			return true;
	}
	for (const struct root *root = atomic_load(&places->added); root;
	     root = root->next) {
		if (strcmp(root->path, prefix) == 0)
			return true;
	}
	return false;
}

bool places_hold_root(const struct places *places, const char *path)
{
	const struct strings *roots = &places->files->roots;

	for (size_t i = 0; i < roots->count; i++) {
		if (is_below(roots->at[i], path))
			return true;
	}
	return false;
}

int places_add_root(struct places *places, const char *path)
{
	size_t size = strlen(path) + 1;
	struct root *root;

	for (root = atomic_load(&places->added); root; root = root->next) {
		if (strcmp(root->path, path) == 0)
			return 0;
	}
	root = malloc(sizeof(*root) + size);
	if (!root)
		return -ENOMEM;
	memcpy(root->path, path, size);
	root->next = atomic_load(&places->added);
	while (!atomic_compare_exchange_weak(&places->added, &root->next, root))
		;
	return 0;
}

/* Names */

/* Folds each component of a path or name of the plan. */
static char *fold_path(const char *path)
{
	size_t size = strlen(path) + 1, written = 0;
	char *folded = malloc(size + NAME_BYTES_MAX);

	while (folded && *path) {
		size_t length = strcspn(path, "/");

		fold_name(path, length, folded + written);
		written += strlen(folded + written);
		path += length;
		if (*path)
			folded[written++] = *path++;
	}
	if (folded)
		folded[written] = '\0';
	return folded;
}

static void free_folded(char **folded, size_t count)
{
	for (size_t i = 0; folded && i < count; i++)
		free(folded[i]);
	free(folded);
}

static int fold_all(const struct strings *strings, char ***ret)
{
	char **folded = calloc(strings->count + 1, sizeof(*folded));

	if (!folded)
		return -ENOMEM;
	for (size_t i = 0; i < strings->count; i++) {
		folded[i] = fold_path(strings->at[i]);
		if (!folded[i]) {
			free_folded(folded, i);
			return -ENOMEM;
		}
	}
	*ret = folded;
	return 0;
}

int places_open(struct places *places, const struct plan_files *files)
{
	int err;

	*places = (struct places){ .files = files };
	err = fold_all(&files->names, &places->names);
	if (!err)
		err = fold_all(&files->protected, &places->protected);
	if (!err)
		err = fold_all(&files->packages, &places->packages);
	if (err)
		places_close(places);
	return err;
}

void places_close(struct places *places)
{
	struct root *root = atomic_load(&places->added);

	while (root) {
		struct root *next = root->next;

		free(root);
		root = next;
	}
	free_folded(places->names, places->files->names.count);
	free_folded(places->protected, places->files->protected.count);
	free_folded(places->packages, places->files->packages.count);
}

static bool is_package(const struct places *places, const struct trail *trail,
		       size_t index)
{
	char name[NAME_BYTES_MAX];

	trail_component(trail, index, name);
	for (size_t i = 0; i < places->files->packages.count; i++) {
		if (strcmp(places->packages[i], name) == 0)
			return true;
	}
	return false;
}

/* Names hold in the folder of the first `depth` components. */
static bool names_hold(const struct places *places, const struct end *end,
		       size_t root_depth, size_t depth)
{
	for (size_t i = root_depth; i < depth; i++) {
		if (is_package(places, &end->trail, i))
			return false;
	}
	return is_root(places, &end->trail, depth) ||
	       end_has(end, depth, ".git");
}

/* Skips as many components as the folded path has. */
static const char *skip_components(const char *path, const char *folded)
{
	for (;; path++, folded++) {
		path += strcspn(path, "/");
		folded += strcspn(folded, "/");
		if (!*folded || !*path)
			break;
	}
	return *path ? path + 1 : path;
}

enum relation { RELATION_NONE, RELATION_WITHIN, RELATION_ABOVE };

/* How `path` stands to `place`; both folded, without a slash in front. */
static enum relation relate(const char *path, const char *place)
{
	while (*place && *path == *place) {
		path++;
		place++;
	}
	if (*place == '\0')
		return *path == '\0' || *path == '/' ? RELATION_WITHIN
						     : RELATION_NONE;
	return *path == '\0' && *place == '/' ? RELATION_ABOVE : RELATION_NONE;
}

/* What is put here has the rest of a protected name in it, or may get it. */
static bool brings(const struct incoming *incoming, const char *rest)
{
	char path[2 * PATH_BYTES_MAX];

	if (S_ISLNK(incoming->type) || incoming->type == 0)
		return true;
	if (!S_ISDIR(incoming->type))
		return false;
	(void)snprintf(path, sizeof(path), "%s/%s", incoming->name, rest);
	return is_there(incoming->parent, path);
}

/* The same for a change of a folder above the place; `rest` leads there. */
static bool touches_from_above(const struct end *end, const char *rest)
{
	char path[2 * PATH_BYTES_MAX];

	switch (end->act) {
	case ACT_MAKE_LINK:
		return true;
	case ACT_PUT:
		return brings(end->incoming, rest);
	case ACT_TAKE:
	case ACT_REMOVE:
		(void)snprintf(path, sizeof(path), "%s/%s", end->name, rest);
		return is_there(end->parent, path);
	case ACT_CREATE:
	case ACT_MAKE_FOLDER:
	case ACT_WRITE:
	case ACT_METADATA:
	case ACT_SHARE:
		return false;
	}
	return true;
}

static bool touches(const struct end *end, enum relation relation,
		    const char *rest, bool *ret_is_near)
{
	if (relation == RELATION_ABOVE && end->act == ACT_PUT)
		*ret_is_near = true;
	return relation == RELATION_WITHIN ||
	       (relation == RELATION_ABOVE && touches_from_above(end, rest));
}

static bool touches_names_at(const struct places *places, const struct end *end,
			     size_t root_depth, size_t depth,
			     char ret_place[PATH_BYTES_MAX], bool *ret_is_near)
{
	const struct strings *names = &places->files->names;
	const char *path = trail_rest(&end->trail, depth);

	for (size_t i = 0; i < names->count; i++) {
		enum relation relation = relate(path, places->names[i]);

		if (relation == RELATION_NONE ||
		    !names_hold(places, end, root_depth, depth) ||
		    !touches(end, relation, skip_components(names->at[i], path),
			     ret_is_near))
			continue;
		if (relation == RELATION_WITHIN) {
			depth += count_components(names->at[i]) + 1;
			trail_prefix(&end->trail, depth, ret_place);
		} else {
			trail_prefix(&end->trail, depth, ret_place);
			append_component(ret_place, names->at[i]);
		}
		return true;
	}
	return false;
}

static bool touches_names(const struct places *places, const struct end *end,
			  char ret_place[PATH_BYTES_MAX], bool *ret_is_near)
{
	size_t root_depth = places_root_depth(places, &end->trail);

	for (size_t depth = root_depth; depth < end->trail.count; depth++) {
		if (touches_names_at(places, end, root_depth, depth, ret_place,
				     ret_is_near))
			return true;
	}
	return false;
}

static bool touches_paths(const struct places *places, const struct end *end,
			  char ret_place[PATH_BYTES_MAX], bool *ret_is_near)
{
	const struct strings *paths = &places->files->protected;
	const char *path = trail_rest(&end->trail, 0);

	for (size_t i = 0; i < paths->count; i++) {
		enum relation relation = relate(path, places->protected[i] + 1);

		if (relation == RELATION_NONE ||
		    !touches(end, relation,
			     skip_components(paths->at[i] + 1, path),
			     ret_is_near))
			continue;
		(void)snprintf(ret_place, PATH_BYTES_MAX, "%s", paths->at[i]);
		return true;
	}
	return false;
}

bool places_touch(const struct places *places, const struct end *end,
		  char ret_place[PATH_BYTES_MAX], bool *ret_is_near)
{
	*ret_is_near = false;
	return touches_paths(places, end, ret_place, ret_is_near) ||
	       touches_names(places, end, ret_place, ret_is_near);
}
