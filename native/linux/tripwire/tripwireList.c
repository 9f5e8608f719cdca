/* What is in a folder; free, see tripwireService.h. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"
#include "tripwireService.h"

/* *ret_fd stays -1 for a folder whose names are not shown. */
static int open_listing(const struct tripwires *tw, const struct node *node,
			int *ret_fd)
{
	const struct place *place = place_of(tw, node);
	AUTO_CLOSE int fd = -1;
	char path[PATH_BYTES_MAX];
	struct stat status;
	int err;

	if (!place)
		return 0;
	fd = open_node(tw, node, &status);
	if (fd < 0)
		return fd;
	err = node_host_path(tw, node, path);
	if (err || !shows(tw, place, path))
		return err;
	err = open_again(fd, O_DIRECTORY);
	if (err < 0)
		return err;
	*ret_fd = err;
	return 0;
}

void fuse_open_folder(struct tripwires *tw, const struct request *request)
{
	struct handle *handle;
	int fd = -1, err = open_listing(tw, request->node, &fd);

	if (!err)
		err = make_handle(tw, request->node, fd, true, &handle);
	if (err)
		reply_error(tw, request, err);
	else
		reply_handle(tw, request->header->unique, handle);
}

static bool has_nodes(const struct request *request)
{
	return request->header->opcode == FUSE_READDIRPLUS;
}

static void list_host(struct tripwires *tw, const struct request *request,
		      const struct fuse_read_in *in, int fd)
{
	char *entries = tw->data + TRIPWIRE_READ_MAX;
	bool with_nodes = has_nodes(request);
	ssize_t length;
	size_t size;

	if (lseek(fd, (off_t)in->offset, SEEK_SET) < 0) {
		reply_error(tw, request, -errno);
		return;
	}
	length = getdents64(fd, entries, packable(with_nodes, in->size));
	if (length < 0) {
		reply_error(tw, request, -errno);
		return;
	}
	size = pack_entries(entries, (size_t)length, with_nodes, tw->data,
			    in->size);
	reply(tw, request->header->unique, 0, tw->data, size);
}

/* The part of a mount's path that follows `folder`; false: it is not below. */
static bool next_part(const char *mount, const char *folder,
		      char ret_name[NAME_MAX + 1])
{
	const char *rest = mount + strlen(folder);
	size_t length;

	if (!is_below(mount, folder) || *rest == '\0')
		return false;
	rest += *rest == '/';
	length = strcspn(rest, "/");
	if (length == 0 || length > NAME_MAX)
		return false;
	memcpy(ret_name, rest, length);
	ret_name[length] = '\0';
	return true;
}

/* Whether an earlier mount of the plan leads through the same name. */
static bool is_listed(const struct plan *plan, size_t index, const char *folder,
		      const char *name)
{
	char other[NAME_MAX + 1];

	for (size_t i = 0; i < index; i++)
		if (next_part(plan->mounts[i].path, folder, other) &&
		    strcmp(name, other) == 0)
			return true;
	return false;
}

/* The name of a mount in a folder that shows no others; "": none. */
static void name_way(const struct tripwires *tw, size_t index,
		     const char *folder, char ret_name[NAME_MAX + 1])
{
	const struct plan *plan = tw->sup->plan;

	if (!next_part(plan->mounts[index].path, folder, ret_name) ||
	    is_listed(plan, index, folder, ret_name))
		ret_name[0] = '\0';
}

/* The same in the root: tripwires are its children, by their index. */
static void name_place(const struct tripwires *tw, size_t index,
		       char ret_name[NAME_MAX + 1])
{
	ret_name[0] = '\0';
	if (tw->places[index].mount)
		(void)snprintf(ret_name, NAME_MAX + 1, "%zu", index);
}

/*
 * The root, and folders without names, which still show the way to what is
 * mounted below them. With nodes: one request instead of a lookup each.
 */
static void list_mounts(struct tripwires *tw, const struct request *request,
			const struct fuse_read_in *in)
{
	struct node *node = request->node;
	char folder[PATH_BYTES_MAX], name[NAME_MAX + 1];
	struct fuse_entry_out known = { 0 };
	size_t length = 0, one = 1;

	if (node->parent && node_host_path(tw, node, folder)) {
		reply_error(tw, request, -ENOENT);
		return;
	}
	for (size_t i = in->offset; one && i < tw->sup->plan->mount_count;
	     i++) {
		struct listed entry = { i + 1, i + 1, 0, name, NULL };

		if (node->parent)
			name_way(tw, i, folder, name);
		else
			name_place(tw, i, name);
		if (!*name)
			continue;
		if (has_nodes(request)) {
			if (make_entry(tw, node, name, &known))
				continue;
			entry.node = &known;
		}
		one = pack_entry(&entry, tw->data + length, in->size - length);
		if (one == 0 && known.nodeid)
			nodes_forget(&tw->nodes, known.nodeid, 1);
		length += one;
	}
	reply(tw, request->header->unique, 0, tw->data, length);
}

void fuse_list_folder(struct tripwires *tw, const struct request *request)
{
	const struct handle *handle;
	struct fuse_read_in in;

	memcpy(&in, request->body, sizeof(in));
	if (in.size > TRIPWIRE_READ_MAX)
		in.size = TRIPWIRE_READ_MAX;
	handle = handle_of(in.fh);
	if (handle->fd >= 0)
		list_host(tw, request, &in, handle->fd);
	else
		list_mounts(tw, request, &in);
}
