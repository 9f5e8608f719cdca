/*
 * The host's files behind the nodes. A place is reached by the descriptor of
 * its folder and a path below it that follows no symbolic link
 * (RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS): links are walked by the kernel
 * inside. What was found must be the file that the node stands for, else
 * ESTALE: the kernel then looks again.
 */
#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"
#include "../launch/uapi.h"
#include "../supervisor/opens.h"
#include "tripwireService.h"

const struct place *place_of(const struct tripwires *tw,
			     const struct node *node)
{
	return node->place == NO_PLACE ? NULL : &tw->places[node->place];
}

static int join_path(char ret_path[PATH_BYTES_MAX], const char *folder,
		     const char *name)
{
	const char *between = *name == '\0' || folder[1] == '\0' ? "" : "/";
	int length = snprintf(ret_path, PATH_BYTES_MAX, "%s%s%s", folder,
			      between, name);

	return length < PATH_BYTES_MAX ? 0 : -ENAMETOOLONG;
}

int node_host_path(const struct tripwires *tw, const struct node *node,
		   char ret_path[PATH_BYTES_MAX])
{
	const struct place *place = place_of(tw, node);
	char below[PATH_BYTES_MAX];
	int err;

	if (!place)
		return -ENOENT;
	err = nodes_path(node, sizeof(below), below);
	return err ? err : join_path(ret_path, place->mount->path, below);
}

const struct place *innermost_place(const struct tripwires *tw,
				    const struct place *place, const char *path)
{
	const struct place *innermost = place;

	if (!place->has_mounts_below)
		return place;
	for (size_t i = 0; i < tw->sup->plan->mount_count; i++) {
		const struct place *other = &tw->places[i];

		if (other->mount && is_below(path, other->mount->path) &&
		    is_below(other->mount->path, innermost->mount->path))
			innermost = other;
	}
	return innermost;
}

bool is_covered(const struct tripwires *tw, const struct place *place,
		const char *path)
{
	const struct place *innermost = innermost_place(tw, place, path);

	return tw->has_begun && opens_cover_within(tw->sup, ACCESS_READ, path,
						   innermost->mount->path);
}

static bool leads_to_mount(const struct tripwires *tw,
			   const struct place *place, const char *path)
{
	const struct plan *plan = tw->sup->plan;

	if (!place->has_mounts_below)
		return false;
	for (size_t i = 0; i < plan->mount_count; i++)
		if (&plan->mounts[i] != place->mount &&
		    is_below(plan->mounts[i].path, path))
			return true;
	return false;
}

bool shows(const struct tripwires *tw, const struct place *place,
	   const char *path)
{
	return innermost_place(tw, place, path)->mount->shows_names ||
	       is_covered(tw, place, path);
}

static int open_below(int folder, const char *path, int flags)
{
	struct open_how how = {
		.flags = (__u64)flags | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
			   RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

/* What a file's place is called in its folder. */
static const char *name_of(const struct place *place)
{
	return strrchr(place->mount->path, '/') + 1;
}

int open_node(const struct tripwires *tw, const struct node *node,
	      struct stat *ret_status)
{
	const struct place *place = place_of(tw, node);
	char path[PATH_BYTES_MAX];
	AUTO_CLOSE int fd = -1;
	struct stat status;
	int err;

	if (!place)
		return -ENOENT;
	err = nodes_path(node, sizeof(path), path);
	if (err)
		return err;
	if (*path == '\0')
		(void)strcpy(path, place->is_directory ? "." : name_of(place));
	fd = open_below(place->folder, path, O_PATH);
	if (fd < 0)
		return TAKE(fd);
	if (fstat(fd, &status))
		return -errno;
	if (!node->is_fixed &&
	    (status.st_dev != node->device || status.st_ino != node->inode))
		return -ESTALE;
	*ret_status = status;
	return TAKE(fd);
}

/* When its path is gone: a program may still have it open. */
static int stat_handle(const struct tripwires *tw, const struct node *node,
		       struct stat *ret_status)
{
	const struct handle *handle = tw->handles;

	while (handle && (handle->node != node || handle->fd < 0))
		handle = handle->next;
	if (!handle)
		return -ESTALE;
	return fstat(handle->fd, ret_status) ? -errno : 0;
}

/* Mounts hang on it: what the host did to it meanwhile changes nothing. */
static void keep_fixed(const struct node *node, struct stat *status)
{
	*status = (struct stat){
		.st_ino = node->inode,
		.st_mode = node->kind | 0555,
		.st_nlink = 1,
	};
}

int stat_node(const struct tripwires *tw, const struct node *node,
	      struct stat *ret_status)
{
	struct stat status;
	int fd, err;

	if (!node->parent) {
		*ret_status = (struct stat){ .st_mode = S_IFDIR | 0555,
					     .st_nlink = 2 };
		return 0;
	}
	fd = open_node(tw, node, &status);
	close_quietly(fd);
	err = fd < 0 ? fd : 0;
	if (node->is_fixed &&
	    (err || (status.st_mode & S_IFMT) != node->kind)) {
		keep_fixed(node, &status);
		err = 0;
	}
	if (err == -ENOENT || err == -ESTALE)
		err = stat_handle(tw, node, &status);
	if (!err)
		*ret_status = status;
	return err;
}

/* Looked up by name */

int identify_place(struct tripwires *tw, const char *name,
		   struct node_identity *ret_identity)
{
	char *end, path[PATH_BYTES_MAX];
	unsigned long index = strtoul(name, &end, 10);
	AUTO_CLOSE int fd = -1;
	struct place *place;
	struct stat status;

	if (*end || index >= tw->sup->plan->mount_count ||
	    !tw->places[index].mount)
		return -ENOENT;
	place = &tw->places[index];
	fd = open_plain(AT_FDCWD, place->mount->path, O_PATH);
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	place->is_directory = S_ISDIR(status.st_mode);
	if (!place->is_directory) {
		(void)strcpy(path, place->mount->path);
		path[name_of(place) - place->mount->path] = '\0';
		close_quietly(fd);
		fd = open_plain(AT_FDCWD, path, O_PATH | O_DIRECTORY);
		if (fd < 0)
			return -errno;
	}
	close_quietly(place->folder);
	place->folder = TAKE(fd);
	*ret_identity = (struct node_identity){
		.place = (int)index,
		.device = status.st_dev,
		.inode = status.st_ino,
		.kind = status.st_mode & S_IFMT,
		.is_fixed = true,
	};
	return 0;
}

static int stat_child(const struct tripwires *tw, const struct node *parent,
		      const char *name, struct stat *ret_status)
{
	struct stat status;
	AUTO_CLOSE int folder = open_node(tw, parent, &status);

	if (folder < 0)
		return folder;
	return fstatat(folder, name, ret_status,
		       AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT)
		       ? -errno
		       : 0;
}

int identify_child(const struct tripwires *tw, const struct node *parent,
		   const char *name, struct node_identity *ret_identity)
{
	const struct place *place = place_of(tw, parent);
	char folder[PATH_BYTES_MAX], path[PATH_BYTES_MAX];
	struct stat status = { 0 };
	bool is_fixed;
	int err = node_host_path(tw, parent, folder);

	if (!err)
		err = join_path(path, folder, name);
	if (err)
		return err;
	is_fixed = leads_to_mount(tw, place, path);
	if (!is_fixed && !shows(tw, place, path))
		return -ENOENT;
	err = stat_child(tw, parent, name, &status);
	/* What a mount needs stays there, gone or not. */
	if (err && !(is_fixed && nodes_has_fixed(&tw->nodes, parent, name)))
		return err;
	*ret_identity = (struct node_identity){
		.place = parent->place,
		.device = status.st_dev,
		.inode = status.st_ino,
		.kind = status.st_mode & S_IFMT,
		.is_fixed = is_fixed,
	};
	return 0;
}
