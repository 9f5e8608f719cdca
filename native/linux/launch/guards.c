/* Protection without a listener, see guards.h. */
#include "guards.h"

#include "tree.h"

struct guards {
	size_t count;
	struct guard {
		int place;
		const char *path;
	} guards[];
};

struct guards *open_guards(const struct plan *plan)
{
	size_t most = plan->mount_count * sizeof(struct guard);
	struct guards *guards = calloc(1, sizeof(*guards) + most);

	if (!guards)
		die("mounts", ENOMEM, "could not prepare the mounts");
	for (size_t i = 0; i < plan->mount_count; i++) {
		const char *path = plan->mounts[i].path;
		int place;

		if (plan->mounts[i].op != MOUNT_GUARD)
			continue;
		place = open_path(path);
		if (place >= 0)
			guards->guards[guards->count++] =
				(struct guard){ place, path };
		else if (errno != ENOENT && errno != ENOTDIR)
			die("mounts", errno, "could not open %s", path);
	}
	return guards;
}

static int cover(int place)
{
	AUTO_CLOSE int tree = clone_tree(place);

	if (tree < 0 || make_read_only(tree) || attach_tree(tree, place))
		return -errno;
	return 0;
}

void close_guards(struct guards *guards)
{
	for (size_t i = 0; i < guards->count; i++)
		close_quietly(guards->guards[i].place);
	free(guards);
}

void apply_guards(const struct plan *plan, struct guards *guards)
{
	for (size_t i = 0; i < guards->count; i++) {
		const struct guard *guard = &guards->guards[i];
		int err = cover(guard->place);

		if (err)
			die("mounts", -err, "could not make %s read-only",
			    guard->path);
	}
	/* Plain by the plan, and nothing inside could have changed it yet. */
	if (guards->count && chdir(plan->directory))
		die("directory", errno, "could not enter %s", plan->directory);
	close_guards(guards);
}
