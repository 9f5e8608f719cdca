/*
 * Open files and folders, see tripwireService.h. Only regular files are
 * opened, so nothing here waits for a program inside.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"
#include "../supervisor/opens.h"
#include "tripwireService.h"

enum { NO_FLUSH = 1 << 5 /* FOPEN_NOFLUSH, Linux 5.16 */ };

struct handle *handle_of(uint64_t number)
{
	return (struct handle *)(uintptr_t)number;
}

int open_again(int fd, int flags)
{
	char link[32];
	int opened;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	opened = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
	return opened < 0 ? -errno : opened;
}

int make_handle(struct tripwires *tw, struct node *node, int fd, bool is_once,
		struct handle **ret_handle)
{
	AUTO_CLOSE int owned = fd;
	struct handle *handle;

	if (tw->handle_count >= tw->handle_max)
		return -ENFILE;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	handle->fd = TAKE(owned);
	handle->node = node;
	handle->is_once = is_once;
	handle->next = tw->handles;
	handle->self = &tw->handles;
	if (handle->next)
		handle->next->self = &handle->next;
	tw->handles = handle;
	tw->handle_count++;
	nodes_use(node);
	*ret_handle = handle;
	return 0;
}

void reply_handle(struct tripwires *tw, uint64_t unique,
		  const struct handle *handle)
{
	struct fuse_open_out out = { .fh = (uintptr_t)handle,
				     .open_flags = NO_FLUSH };

	reply(tw, unique, 0, &out, sizeof(out));
}

void fuse_release(struct tripwires *tw, const struct request *request)
{
	struct fuse_release_in in;
	struct handle *handle;

	memcpy(&in, request->body, sizeof(in));
	handle = handle_of(in.fh);
	*handle->self = handle->next;
	if (handle->next)
		handle->next->self = handle->self;
	tw->handle_count--;
	close_quietly(handle->fd);
	nodes_leave(&tw->nodes, handle->node);
	free(handle);
	reply_error(tw, request, 0);
}

/* Files */

/* 0 when the host itself lets us read it. */
static int check_readable(const struct tripwires *tw, const struct node *node)
{
	struct stat status;
	AUTO_CLOSE int fd = open_node(tw, node, &status);

	if (fd < 0)
		return fd;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return faccessat(fd, "", R_OK, AT_EMPTY_PATH | AT_EACCESS) ? -errno : 0;
}

static int open_file(struct tripwires *tw, struct node *node, bool is_once,
		     struct handle **ret_handle)
{
	struct stat status;
	AUTO_CLOSE int fd = open_node(tw, node, &status);
	int opened;

	if (fd < 0)
		return fd;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	opened = open_again(fd, 0);
	if (opened < 0)
		return opened;
	return make_handle(tw, node, opened, is_once, ret_handle);
}

void finish_open(struct tripwires *tw, uint64_t unique, uint64_t id,
		 bool is_allowed)
{
	struct node *node = nodes_find(&tw->nodes, id);
	char path[PATH_BYTES_MAX];
	struct handle *handle;
	int err = -EACCES;

	if (is_allowed && node)
		err = node_host_path(tw, node, path);
	if (!err)
		err = open_file(tw, node,
				!is_covered(tw, place_of(tw, node), path),
				&handle);
	if (err)
		reply(tw, unique, err, NULL, 0);
	else
		reply_handle(tw, unique, handle);
}

/* Held, unless it is open already or cannot be. */
static int begin_open(struct tripwires *tw, const struct request *request)
{
	struct fuse_open_in in;
	char path[PATH_BYTES_MAX];
	int err;

	memcpy(&in, request->body, sizeof(in));
	if ((in.flags & O_ACCMODE) != O_RDONLY)
		return -EROFS;
	err = check_readable(tw, request->node);
	if (!err)
		err = node_host_path(tw, request->node, path);
	if (err)
		return err;
	if (is_covered(tw, place_of(tw, request->node), path)) {
		finish_open(tw, request->header->unique, request->node->id,
			    true);
		return 0;
	}
	/* Pid 0 is outside: nobody there has to read through us. */
	if (!tw->has_begun || request->header->pid == 0)
		return -EACCES;
	return held_ask(tw, request->header, path);
}

void fuse_open_file(struct tripwires *tw, const struct request *request)
{
	int err = begin_open(tw, request);

	if (err)
		reply_error(tw, request, err);
}

/* A grant may have been taken back since it was opened. */
static int check_handle(const struct tripwires *tw, struct handle *handle)
{
	unsigned generation = opens_generation(tw->sup);
	char path[PATH_BYTES_MAX];
	int err;

	if (handle->is_once || handle->generation == generation)
		return 0;
	err = node_host_path(tw, handle->node, path);
	if (!err && !is_covered(tw, place_of(tw, handle->node), path))
		err = -EACCES;
	if (!err)
		handle->generation = generation;
	return err;
}

void fuse_read_file(struct tripwires *tw, const struct request *request)
{
	struct fuse_read_in in;
	struct handle *handle;
	ssize_t length;
	size_t size;
	int err;

	memcpy(&in, request->body, sizeof(in));
	handle = handle_of(in.fh);
	size = in.size < TRIPWIRE_READ_MAX ? in.size : TRIPWIRE_READ_MAX;
	err = check_handle(tw, handle);
	if (err) {
		reply_error(tw, request, err);
		return;
	}
	length = RETRY(pread(handle->fd, tw->data, size, (off_t)in.offset));
	if (length < 0)
		reply_error(tw, request, -errno);
	else
		reply(tw, request->header->unique, 0, tw->data, (size_t)length);
}
