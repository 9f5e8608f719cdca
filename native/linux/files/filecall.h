/*
 * A held call on files, with all its arguments copied once: what is decided
 * and performed is decided and performed on these.
 */
#pragma once

#include <sys/stat.h>

#include "../../common/limits.h"
#include "../supervisor/notify.h"

enum operation {
	OPERATION_OPEN,
	OPERATION_MKDIR,
	OPERATION_REMOVE, /* unlink, rmdir */
	OPERATION_RENAME,
	OPERATION_LINK,
	OPERATION_SYMLINK,
	OPERATION_MKNOD,
	/* On a file that is there, or the caller's own descriptor: */
	OPERATION_TRUNCATE,
	OPERATION_MODE,
	OPERATION_OWNER,
	OPERATION_TIMES,
	OPERATION_SET_ATTRIBUTE,
	OPERATION_REMOVE_ATTRIBUTE,
};

enum { ATTRIBUTE_NAME_BYTES_MAX = 256 }; /* XATTR_NAME_MAX and a zero */

struct file_call {
	enum operation operation;
	/* Where: a path, or with is_descriptor the file of `directory`. */
	bool is_descriptor;
	int directory; /* descriptor of the caller's, or AT_FDCWD */
	char path[PATH_BYTES_MAX];
	int path_error; /* rename, link: only counts once `from` is found */
	/* rename, link: from where; symlink: the text. */
	int from_directory;
	char from[PATH_BYTES_MAX];

	int flags; /* of open(2), or AT_… and RENAME_… */
	mode_t mode;
	uint64_t number; /* mknod: device; truncate: length */
	uid_t owner;
	gid_t group;
	bool sets_times; /* else: to now */
	struct timespec times[2];
	char attribute[ATTRIBUTE_NAME_BYTES_MAX];
	void *value; /* from malloc(3) */
	size_t size;
	int attribute_flags;
};

/* Whether it is on a file that is there, not on a name in a folder. */
bool operates_on_file(enum operation operation);

/* Whether it goes from one path to another: rename, link. */
bool operates_on_two(enum operation operation);

/* Its name in PROTOCOL.md. */
const char *file_call_name(const struct file_call *file);

/* Whether a symbolic link at the end of its path is followed. */
bool file_call_follows(const struct file_call *file);

/*
 * Reads the arguments. The error is the one that the call has for them, in
 * the kernel's order: EINVAL, EFAULT, ENAMETOOLONG, ENOENT, E2BIG, ERANGE.
 * -ENOSYS: it is none of these calls.
 */
MUST_CHECK int file_call_read(const struct call *call,
			      struct file_call *ret_file);
/*
 * An error that was met on the way, or EINVAL when the kernel would have said
 * that of the flags before it came so far.
 */
MUST_CHECK int file_call_error(const struct file_call *file, int err);
void file_call_release(struct file_call *file);
