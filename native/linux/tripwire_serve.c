/*
 * Answers the kernel's requests to the tripwires' file system, one by one,
 * from the host's real places. Everything but opening a file is free.
 *
 * A place is reached by the descriptor of its folder and a path below it that
 * follows no symbolic link (RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS): links are
 * walked by the kernel inside. What was found must be the file that the node
 * stands for, else ESTALE: the kernel then looks again. Nothing here opens
 * what is not a regular file or a folder, so nothing here waits for a program
 * inside.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#include "../common/limits.h"
#include "opens.h"
#include "tripwire_service.h"
#include "uapi.h"

enum {
	/* What leads to a mount is not asked for again, as good as ever. */
	FIXED_SECONDS = 1 << 30,
	FIXED_STATUS_SECONDS = 1,
	/* The protocol whose structures we send; Linux 5.5. */
	FUSE_MINOR = 31,
	WRITE_MAX = 4096,  /* the least there is; nothing is written */
	NO_FLUSH = 1 << 5, /* FOPEN_NOFLUSH, Linux 5.16 */
};

/* The request being answered. */
struct request {
	const struct fuse_in_header *header;
	const char *body;
	size_t length;	   /* of the body */
	struct node *node; /* that it is about; NULL: unknown */
};

void reply(struct tripwires *tw, uint64_t unique, int err, const void *data,
	   size_t length)
{
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + (err ? 0 : length)),
		.error = err,
		.unique = unique,
	};
	union {
		const void *read;
		void *written; /* struct iovec knows no const */
	} content = { .read = data };
	struct iovec parts[] = {
		{ .iov_base = &header, .iov_len = sizeof(header) },
		{ .iov_base = content.written, .iov_len = length },
	};

	/* ENOENT: it was interrupted, nobody waits for this answer. */
	(void)!writev(tw->device, parts, err || length == 0 ? 1 : 2);
}

static void reply_error(struct tripwires *tw, const struct request *request,
			int err)
{
	reply(tw, request->header->unique, err, NULL, 0);
}

/* Places and paths */

static const struct place *place_of(const struct tripwires *tw,
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

bool is_covered(const struct tripwires *tw, const char *path)
{
	return tw->has_begun && opens_cover(tw->sup, ACCESS_READ, path);
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

/* Whether a program may see that there is something at this path. */
static bool shows(const struct tripwires *tw, const struct place *place,
		  const char *path)
{
	return place->mount->shows_names || is_covered(tw, path);
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

/* The host's file of a node, O_PATH, and what it is; -ESTALE: another's. */
static int open_node(const struct tripwires *tw, const struct node *node,
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

static int stat_node(const struct tripwires *tw, const struct node *node,
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

/* The kernel gives back what it was given. */
static struct handle *handle_of(uint64_t number)
{
	return (struct handle *)(uintptr_t)number;
}

/* Looking */

/* Those of folders that lead to a mount are looked at all the time. */
static uint64_t status_seconds(const struct node *node)
{
	return node->is_fixed && node->kind == S_IFDIR ? FIXED_STATUS_SECONDS
						       : 0;
}

static void initialise(struct tripwires *tw, const struct request *request)
{
	static const uint32_t wanted =
		FUSE_ASYNC_READ | FUSE_AUTO_INVAL_DATA | FUSE_PARALLEL_DIROPS;
	struct fuse_init_in in;
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_MINOR,
		.max_write = WRITE_MAX,
		.max_background = 64,
		.congestion_threshold = 48,
		.time_gran = 1,
	};

	memset(&in, 0, sizeof(in));
	memcpy(&in, request->body,
	       request->length < sizeof(in) ? request->length : sizeof(in));
	out.flags = wanted & in.flags;
	out.max_readahead = in.max_readahead;
	reply(tw, request->header->unique, 0, &out, sizeof(out));
}

/* The root's children are the places, by their index in the plan. */
static int open_place(struct tripwires *tw, const char *name,
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

static int identify_child(const struct tripwires *tw, const struct node *parent,
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

static void look_up(struct tripwires *tw, const struct request *request)
{
	struct fuse_entry_out entry = { 0 };
	struct node_identity identity;
	struct node *node;
	struct stat status;
	int err;

	/* The kernel ends it with a zero. */
	if (request->length < 2 || request->body[request->length - 1] != '\0') {
		reply_error(tw, request, -EIO);
		return;
	}
	err = request->node->parent ? identify_child(tw, request->node,
						     request->body, &identity)
				    : open_place(tw, request->body, &identity);
	if (!err)
		err = nodes_look_up(&tw->nodes, request->node, request->body,
				    &identity, &node);
	if (err) {
		reply_error(tw, request, err);
		return;
	}
	err = stat_node(tw, node, &status);
	if (err) {
		nodes_forget(&tw->nodes, node->id, 1);
		reply_error(tw, request, err);
		return;
	}
	entry.nodeid = node->id;
	entry.generation = nodes_generation(&tw->nodes, node);
	entry.entry_valid = node->is_fixed ? FIXED_SECONDS : 0;
	entry.attr_valid = status_seconds(node);
	show_attributes(tw, node, &status, &entry.attr);
	reply(tw, request->header->unique, 0, &entry, sizeof(entry));
}

static void get_attributes(struct tripwires *tw, const struct request *request)
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

static void read_link(struct tripwires *tw, const struct request *request)
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
static void check_access(struct tripwires *tw, const struct request *request)
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

static void get_file_system(struct tripwires *tw, const struct request *request)
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

/* Handles */

/* The same file once more, to read; by /proc, whatever its path is now. */
static int open_again(int fd, int flags)
{
	char link[32];
	int opened;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	opened = open(link, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);
	return opened < 0 ? -errno : opened;
}

/* Takes the descriptor, also on failure. */
static int make_handle(struct tripwires *tw, struct node *node, int fd,
		       bool is_once, struct handle **ret_handle)
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
	handle->generation = opens_generation(tw->sup);
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

static void reply_handle(struct tripwires *tw, uint64_t unique,
			 const struct handle *handle)
{
	struct fuse_open_out out = { .fh = (uintptr_t)handle,
				     .open_flags = NO_FLUSH };

	reply(tw, unique, 0, &out, sizeof(out));
}

static void release(struct tripwires *tw, const struct request *request)
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

/* Folders */

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

static void open_folder(struct tripwires *tw, const struct request *request)
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

static void list_host(struct tripwires *tw, const struct request *request,
		      const struct fuse_read_in *in, int fd)
{
	char *entries = tw->data + TRIPWIRE_READ_MAX;
	size_t size =
		in->size < TRIPWIRE_READ_MAX ? in->size : TRIPWIRE_READ_MAX;
	ssize_t length;

	if (lseek(fd, (off_t)in->offset, SEEK_SET) < 0) {
		reply_error(tw, request, -errno);
		return;
	}
	length = getdents64(fd, entries, size / 4 * 3);
	if (length < 0) {
		reply_error(tw, request, -errno);
		return;
	}
	size = pack_entries(entries, (size_t)length, tw->data, size);
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

/* A folder without names still shows the way to what is mounted below. */
static void list_mounts(struct tripwires *tw, const struct request *request,
			const struct fuse_read_in *in, const struct node *node)
{
	const struct plan *plan = tw->sup->plan;
	char folder[PATH_BYTES_MAX], name[NAME_MAX + 1], other[NAME_MAX + 1];
	size_t length = 0, one;

	if (in->size > TRIPWIRE_READ_MAX || node_host_path(tw, node, folder)) {
		reply(tw, request->header->unique, 0, NULL, 0);
		return;
	}
	for (size_t i = in->offset; i < plan->mount_count; i++) {
		size_t same = 0;

		if (!next_part(plan->mounts[i].path, folder, name))
			continue;
		while (same < i &&
		       (!next_part(plan->mounts[same].path, folder, other) ||
			strcmp(name, other) != 0))
			same++;
		if (same < i)
			continue;
		one = pack_entry(i + 1, i + 1, 0, name, tw->data + length,
				 in->size - length);
		if (one == 0)
			break;
		length += one;
	}
	reply(tw, request->header->unique, 0, tw->data, length);
}

static void list_folder(struct tripwires *tw, const struct request *request)
{
	struct fuse_read_in in;
	const struct handle *handle;

	memcpy(&in, request->body, sizeof(in));
	handle = handle_of(in.fh);
	if (handle->fd >= 0)
		list_host(tw, request, &in, handle->fd);
	else
		list_mounts(tw, request, &in, handle->node);
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
		err = open_file(tw, node, !is_covered(tw, path), &handle);
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
	if (is_covered(tw, path)) {
		finish_open(tw, request->header->unique, request->node->id,
			    true);
		return 0;
	}
	/* Pid 0 is outside: nobody there has to read through us. */
	if (!tw->has_begun || request->header->pid == 0)
		return -EACCES;
	return held_ask(tw, request->header, path);
}

static void open_held(struct tripwires *tw, const struct request *request)
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
	if (!err && !is_covered(tw, path))
		err = -EACCES;
	if (!err)
		handle->generation = generation;
	return err;
}

static void read_file(struct tripwires *tw, const struct request *request)
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

/* What is left */

static void forget_one(struct tripwires *tw, const struct request *request)
{
	struct fuse_forget_in in;

	memcpy(&in, request->body, sizeof(in));
	nodes_forget(&tw->nodes, request->header->nodeid, in.nlookup);
}

static void forget_many(struct tripwires *tw, const struct request *request)
{
	struct fuse_batch_forget_in in;
	struct fuse_forget_one one;
	size_t at = sizeof(in);

	memcpy(&in, request->body, sizeof(in));
	for (uint32_t i = 0; i < in.count; i++, at += sizeof(one)) {
		if (at + sizeof(one) > request->length)
			return;
		memcpy(&one, request->body + at, sizeof(one));
		nodes_forget(&tw->nodes, one.nodeid, one.nlookup);
	}
}

static void interrupt(struct tripwires *tw, const struct request *request)
{
	struct fuse_interrupt_in in;

	memcpy(&in, request->body, sizeof(in));
	held_interrupt(tw, in.unique);
}

/* Answered on the spot, but for what is held; some are not answered at all. */
struct operation {
	void (*serve)(struct tripwires *tw, const struct request *request);
	size_t body_min;
	bool needs_node;
};

static const struct operation operations[] = {
	[FUSE_LOOKUP] = { look_up, 1, true },
	[FUSE_FORGET] = { forget_one, sizeof(struct fuse_forget_in), false },
	[FUSE_GETATTR] = { get_attributes, sizeof(struct fuse_getattr_in),
			   true },
	[FUSE_READLINK] = { read_link, 0, true },
	[FUSE_OPEN] = { open_held, sizeof(struct fuse_open_in), true },
	[FUSE_READ] = { read_file, sizeof(struct fuse_read_in), true },
	[FUSE_STATFS] = { get_file_system, 0, true },
	[FUSE_RELEASE] = { release, sizeof(struct fuse_release_in), false },
	[FUSE_INIT] = { initialise, 8, false },
	[FUSE_OPENDIR] = { open_folder, 0, true },
	[FUSE_READDIR] = { list_folder, sizeof(struct fuse_read_in), true },
	[FUSE_RELEASEDIR] = { release, sizeof(struct fuse_release_in), false },
	[FUSE_ACCESS] = { check_access, sizeof(struct fuse_access_in), true },
	[FUSE_INTERRUPT] = { interrupt, sizeof(struct fuse_interrupt_in),
			     false },
	[FUSE_BATCH_FORGET] = { forget_many,
				sizeof(struct fuse_batch_forget_in), false },
};

void serve_request(struct tripwires *tw, size_t length)
{
	struct fuse_in_header header;
	struct request request = { .header = &header };
	const struct operation *operation;

	if (length < sizeof(header))
		return;
	memcpy(&header, tw->request, sizeof(header));
	request.body = tw->request + sizeof(header);
	request.length = length - sizeof(header);
	request.node = nodes_find(&tw->nodes, header.nodeid);
	operation = header.opcode < ARRAY_SIZE(operations)
			    ? &operations[header.opcode]
			    : NULL;
	/*
	 * ENOSYS: the kernel goes without from then on: extended attributes
	 * (EOPNOTSUPP), holes, polling, ioctl(2).
	 */
	if (!operation || !operation->serve)
		reply_error(tw, &request, -ENOSYS);
	else if (request.length < operation->body_min)
		reply_error(tw, &request, -EIO);
	else if (operation->needs_node && !request.node)
		reply_error(tw, &request, -ESTALE);
	else
		operation->serve(tw, &request);
}
