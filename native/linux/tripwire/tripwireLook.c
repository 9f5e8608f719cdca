/* Names and metadata, which are free; see tripwireService.h. */
#include <fcntl.h>
#include <string.h>
#include <sys/statfs.h>

#include "../../common/limits.h"
#include "tripwireService.h"

enum {
	/* What leads to a mount is not asked for again, as good as ever. */
	FIXED_SECONDS = 1 << 30,
	FIXED_STATUS_SECONDS = 1,
};

/* Those of folders that lead to a mount are looked at all the time. */
static uint64_t status_seconds(const struct node *node)
{
	return node->is_fixed && node->kind == S_IFDIR ? FIXED_STATUS_SECONDS
						       : 0;
}

/* A file whose place shows no names has no size either. */
static void show_attributes(const struct tripwires *tw, const struct node *node,
			    struct stat *status, struct fuse_attr *ret)
{
	const struct place *place = place_of(tw, node);
	char path[PATH_BYTES_MAX];

	if (place && S_ISREG(status->st_mode) &&
	    (node_host_path(tw, node, path) || !shows(tw, place, path))) {
		status->st_size = 0;
		status->st_blocks = 0;
	}
	fill_attributes(status, ret);
}

int make_entry(struct tripwires *tw, struct node *parent, const char *name,
	       struct fuse_entry_out *ret_entry)
{
	struct fuse_entry_out entry = { 0 };
	struct node_identity identity;
	struct node *node;
	struct stat status;
	int err = parent->parent ? identify_child(tw, parent, name, &identity)
				 : identify_place(tw, name, &identity);

	if (!err)
		err = nodes_look_up(&tw->nodes, parent, name, &identity, &node);
	if (err)
		return err;
	err = stat_node(tw, node, &status);
	if (err) {
		nodes_forget(&tw->nodes, node->id, 1);
		return err;
	}
	entry.nodeid = node->id;
	entry.generation = nodes_generation(&tw->nodes, node);
	entry.entry_valid = node->is_fixed ? FIXED_SECONDS : 0;
	entry.attr_valid = status_seconds(node);
	show_attributes(tw, node, &status, &entry.attr);
	*ret_entry = entry;
	return 0;
}

void fuse_look_up(struct tripwires *tw, const struct request *request)
{
	struct fuse_entry_out entry;
	int err = -EIO;

	/* The kernel ends it with a zero. */
	if (request->length > 1 && request->body[request->length - 1] == '\0')
		err = make_entry(tw, request->node, request->body, &entry);
	if (err)
		reply_error(tw, request, err);
	else
		reply(tw, request->header->unique, 0, &entry, sizeof(entry));
}

void fuse_get_attributes(struct tripwires *tw, const struct request *request)
{
	struct fuse_attr_out out = { .attr_valid =
					     status_seconds(request->node) };
	struct fuse_getattr_in in;
	struct stat status;
	int err;

	memcpy(&in, request->body, sizeof(in));
	/* Whoever has it open may know its size. */
	if (in.getattr_flags & FUSE_GETATTR_FH)
		err = fstat(handle_of(in.fh)->fd, &status) ? -errno : 0;
	else
		err = stat_node(tw, request->node, &status);
	if (err) {
		reply_error(tw, request, err);
		return;
	}
	if (in.getattr_flags & FUSE_GETATTR_FH)
		fill_attributes(&status, &out.attr);
	else
		show_attributes(tw, request->node, &status, &out.attr);
	reply(tw, request->header->unique, 0, &out, sizeof(out));
}

void fuse_read_link(struct tripwires *tw, const struct request *request)
{
	struct stat status;
	AUTO_CLOSE int fd = open_node(tw, request->node, &status);
	ssize_t length;

	if (fd < 0) {
		reply_error(tw, request, fd);
		return;
	}
	length = readlinkat(fd, "", tw->data, PATH_BYTES_MAX);
	if (length < 0)
		reply_error(tw, request, -errno);
	else
		reply(tw, request->header->unique, 0, tw->data, (size_t)length);
}

/* Writing is refused by the kernel before: the file system is read-only. */
void fuse_check_access(struct tripwires *tw, const struct request *request)
{
	struct fuse_access_in in;
	struct stat status;
	AUTO_CLOSE int fd = open_node(tw, request->node, &status);
	int err = fd < 0 ? fd : 0;

	memcpy(&in, request->body, sizeof(in));
	if (!err && faccessat(fd, "", (int)(in.mask & (R_OK | X_OK)),
			      AT_EMPTY_PATH | AT_EACCESS))
		err = -errno;
	reply_error(tw, request, err);
}

void fuse_get_file_system(struct tripwires *tw, const struct request *request)
{
	struct stat status;
	AUTO_CLOSE int fd = open_node(tw, request->node, &status);
	struct fuse_statfs_out out = { 0 };
	struct statfs found;

	if (fd < 0 || fstatfs(fd, &found)) {
		reply_error(tw, request, fd < 0 ? fd : -errno);
		return;
	}
	out.st.blocks = found.f_blocks;
	out.st.bfree = found.f_bfree;
	out.st.bavail = found.f_bavail;
	out.st.files = found.f_files;
	out.st.ffree = found.f_ffree;
	out.st.bsize = (uint32_t)found.f_bsize;
	out.st.frsize = (uint32_t)found.f_frsize;
	out.st.namelen = (uint32_t)found.f_namelen;
	reply(tw, request->header->unique, 0, &out, sizeof(out));
}
