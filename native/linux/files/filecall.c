/*
 * Which argument of which call means what, see filecall.h. The order of the
 * checks is that of fs/namei.c, fs/open.c, fs/utimes.c and fs/xattr.c.
 */
#include "filecall.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/xattr.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <utime.h>

#include "../launch/uapi.h"
#include "../supervisor/task.h"

enum times_form {
	TIMES_NONE,
	TIMES_SECONDS,	    /* struct utimbuf */
	TIMES_MICROSECONDS, /* struct timeval[2] */
	TIMES_NANOSECONDS,  /* struct timespec[2] */
};

/* Arguments count from 1 here; 0: the call has none of that meaning. */
struct shape {
	short number;
	unsigned char operation;
	unsigned char directory, path;
	unsigned char from_directory, from;
	unsigned char flags, mode, value, owner, group, times;
	unsigned char attribute, attribute_value, attribute_size,
		attribute_flags, attribute_structure;
	unsigned char times_form;
	bool descriptor; /* no path: `directory` is the file */
	int fixed;	 /* flags that are always set */
	int valid;	 /* flags that there may be */
};

#define ON_DESCRIPTOR .directory = 1, .descriptor = true
#define AT_ANY (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)

static const struct shape shapes[] = {
	{ SYS_openat, OPERATION_OPEN, .directory = 1, .path = 2, .flags = 3,
	  .mode = 4, .valid = -1 },
	{ SYS_mkdirat, OPERATION_MKDIR, .directory = 1, .path = 2, .mode = 3 },
	{ SYS_unlinkat, OPERATION_REMOVE, .directory = 1, .path = 2, .flags = 3,
	  .valid = AT_REMOVEDIR },
	{ SYS_renameat2, OPERATION_RENAME, .from_directory = 1, .from = 2,
	  .directory = 3, .path = 4, .flags = 5,
	  .valid = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT },
	{ SYS_linkat, OPERATION_LINK, .from_directory = 1, .from = 2,
	  .directory = 3, .path = 4, .flags = 5,
	  .valid = AT_SYMLINK_FOLLOW | AT_EMPTY_PATH },
	{ SYS_symlinkat, OPERATION_SYMLINK, .from = 1, .directory = 2,
	  .path = 3 },
	{ SYS_mknodat, OPERATION_MKNOD, .directory = 1, .path = 2, .mode = 3,
	  .value = 4 },
	{ SYS_truncate, OPERATION_TRUNCATE, .path = 1, .value = 2 },
	{ SYS_fchmod, OPERATION_MODE, ON_DESCRIPTOR, .mode = 2 },
	{ SYS_fchmodat, OPERATION_MODE, .directory = 1, .path = 2, .mode = 3 },
	{ SYS_fchmodat2, OPERATION_MODE, .directory = 1, .path = 2, .mode = 3,
	  .flags = 4, .valid = AT_ANY },
	{ SYS_fchown, OPERATION_OWNER, ON_DESCRIPTOR, .owner = 2, .group = 3 },
	{ SYS_fchownat, OPERATION_OWNER, .directory = 1, .path = 2, .owner = 3,
	  .group = 4, .flags = 5, .valid = AT_ANY },
	{ SYS_utimensat, OPERATION_TIMES, .directory = 1, .path = 2, .times = 3,
	  .flags = 4, .valid = AT_ANY, .times_form = TIMES_NANOSECONDS },
	{ SYS_setxattr, OPERATION_SET_ATTRIBUTE, .path = 1, .attribute = 2,
	  .attribute_value = 3, .attribute_size = 4, .attribute_flags = 5 },
	{ SYS_lsetxattr, OPERATION_SET_ATTRIBUTE, .path = 1, .attribute = 2,
	  .attribute_value = 3, .attribute_size = 4, .attribute_flags = 5,
	  .fixed = AT_SYMLINK_NOFOLLOW },
	{ SYS_fsetxattr, OPERATION_SET_ATTRIBUTE, ON_DESCRIPTOR, .attribute = 2,
	  .attribute_value = 3, .attribute_size = 4, .attribute_flags = 5 },
	{ SYS_setxattrat, OPERATION_SET_ATTRIBUTE, .directory = 1, .path = 2,
	  .flags = 3, .valid = AT_ANY, .attribute = 4, .attribute_structure = 5,
	  .attribute_size = 6 },
	{ SYS_removexattr, OPERATION_REMOVE_ATTRIBUTE, .path = 1,
	  .attribute = 2 },
	{ SYS_lremovexattr, OPERATION_REMOVE_ATTRIBUTE, .path = 1,
	  .attribute = 2, .fixed = AT_SYMLINK_NOFOLLOW },
	{ SYS_fremovexattr, OPERATION_REMOVE_ATTRIBUTE, ON_DESCRIPTOR,
	  .attribute = 2 },
	{ SYS_removexattrat, OPERATION_REMOVE_ATTRIBUTE, .directory = 1,
	  .path = 2, .flags = 3, .valid = AT_ANY, .attribute = 4 },
#if defined(__x86_64__)
	{ SYS_open, OPERATION_OPEN, .path = 1, .flags = 2, .mode = 3,
	  .valid = -1 },
	{ SYS_creat, OPERATION_OPEN, .path = 1, .mode = 2,
	  .fixed = O_CREAT | O_WRONLY | O_TRUNC },
	{ SYS_mkdir, OPERATION_MKDIR, .path = 1, .mode = 2 },
	{ SYS_rmdir, OPERATION_REMOVE, .path = 1, .fixed = AT_REMOVEDIR },
	{ SYS_unlink, OPERATION_REMOVE, .path = 1 },
	{ SYS_rename, OPERATION_RENAME, .from = 1, .path = 2 },
	{ SYS_renameat, OPERATION_RENAME, .from_directory = 1, .from = 2,
	  .directory = 3, .path = 4 },
	{ SYS_link, OPERATION_LINK, .from = 1, .path = 2 },
	{ SYS_symlink, OPERATION_SYMLINK, .from = 1, .path = 2 },
	{ SYS_mknod, OPERATION_MKNOD, .path = 1, .mode = 2, .value = 3 },
	{ SYS_chmod, OPERATION_MODE, .path = 1, .mode = 2 },
	{ SYS_chown, OPERATION_OWNER, .path = 1, .owner = 2, .group = 3 },
	{ SYS_lchown, OPERATION_OWNER, .path = 1, .owner = 2, .group = 3,
	  .fixed = AT_SYMLINK_NOFOLLOW },
	{ SYS_utime, OPERATION_TIMES, .path = 1, .times = 2,
	  .times_form = TIMES_SECONDS },
	{ SYS_utimes, OPERATION_TIMES, .path = 1, .times = 2,
	  .times_form = TIMES_MICROSECONDS },
	{ SYS_futimesat, OPERATION_TIMES, .directory = 1, .path = 2, .times = 3,
	  .times_form = TIMES_MICROSECONDS },
#else
	{ SYS_renameat, OPERATION_RENAME, .from_directory = 1, .from = 2,
	  .directory = 3, .path = 4 },
#endif
};

static const struct shape *find_shape(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (shapes[i].number == number)
			return &shapes[i];
	return NULL;
}

static uint64_t argument(const struct call *call, unsigned char at)
{
	return at ? call->arguments[at - 1] : 0;
}

static int descriptor(const struct call *call, unsigned char at)
{
	return at ? (int)argument(call, at) : AT_FDCWD;
}

bool operates_on_file(enum operation operation)
{
	return operation >= OPERATION_TRUNCATE;
}

bool operates_on_two(enum operation operation)
{
	return operation == OPERATION_RENAME || operation == OPERATION_LINK;
}

const char *file_call_name(const struct file_call *file)
{
	static const char *const names[] = {
		[OPERATION_OPEN] = "open",
		[OPERATION_MKDIR] = "mkdir",
		[OPERATION_REMOVE] = "remove",
		[OPERATION_RENAME] = "rename",
		[OPERATION_LINK] = "link",
		[OPERATION_SYMLINK] = "symlink",
		[OPERATION_MKNOD] = "mknod",
		[OPERATION_TRUNCATE] = "truncate",
		[OPERATION_MODE] = "mode",
		[OPERATION_OWNER] = "owner",
		[OPERATION_TIMES] = "times",
		[OPERATION_SET_ATTRIBUTE] = "attribute",
		[OPERATION_REMOVE_ATTRIBUTE] = "attribute",
	};

	return names[file->operation];
}

bool file_call_follows(const struct file_call *file)
{
	if (file->operation == OPERATION_OPEN)
		return !(file->flags & O_NOFOLLOW) &&
		       (file->flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	return !(file->flags & AT_SYMLINK_NOFOLLOW);
}

/* What the kernel looks at before it looks at a path. */
static int check_numbers(const struct file_call *file)
{
	if (file->operation == OPERATION_RENAME &&
	    file->flags & RENAME_EXCHANGE &&
	    file->flags & (RENAME_NOREPLACE | RENAME_WHITEOUT))
		return -EINVAL;
	if (file->operation == OPERATION_TRUNCATE && (int64_t)file->number < 0)
		return -EINVAL;
	if (file->operation != OPERATION_MKNOD)
		return 0;
	switch (file->mode & S_IFMT) {
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
	case 0:
		return 0;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

/* What open(2) says to its flags, before anything is looked up. */
static int check_open_flags(const struct file_call *file)
{
	int fd = openat(AT_FDCWD, "", file->flags, file->mode);

	close_quietly(fd);
	return errno == EINVAL ? -EINVAL : 0;
}

int file_call_error(const struct file_call *file, int err)
{
	int invalid = file->operation == OPERATION_OPEN && err != -ESRCH
			      ? check_open_flags(file)
			      : 0;

	return invalid ? invalid : err;
}

static int read_numbers(const struct call *call, const struct shape *shape,
			struct file_call *file)
{
	file->operation = (enum operation)shape->operation;
	file->is_descriptor = shape->descriptor;
	file->directory = descriptor(call, shape->directory);
	file->from_directory = descriptor(call, shape->from_directory);
	file->flags = (int)argument(call, shape->flags) | shape->fixed;
	file->mode = (mode_t)argument(call, shape->mode);
	file->number = argument(call, shape->value);
	file->owner = (uid_t)argument(call, shape->owner);
	file->group = (gid_t)argument(call, shape->group);
	file->attribute_flags = (int)argument(call, shape->attribute_flags);
	if (shape->flags && file->flags & ~(shape->valid | shape->fixed))
		return -EINVAL;
	return check_numbers(file);
}

static int read_path(const struct call *call, uint64_t address,
		     bool may_be_empty, char ret_path[PATH_BYTES_MAX])
{
	int err = task_read_string(call->thread, address, ret_path,
				   PATH_BYTES_MAX);

	if (!err && !ret_path[0] && !may_be_empty)
		return -ENOENT;
	return err;
}

static bool is_microseconds(suseconds_t microseconds)
{
	return microseconds >= 0 && microseconds < 1000000;
}

static int read_times(const struct call *call, uint64_t address,
		      enum times_form form, struct file_call *file)
{
	struct utimbuf seconds;
	struct timeval micro[2];
	int err;

	file->sets_times = address != 0;
	if (!file->sets_times)
		return 0;
	if (form == TIMES_NANOSECONDS)
		return task_read_memory(call->thread, address, file->times,
					sizeof(file->times));
	if (form == TIMES_SECONDS) {
		err = task_read_memory(call->thread, address, &seconds,
				       sizeof(seconds));
		file->times[0] = (struct timespec){ seconds.actime, 0 };
		file->times[1] = (struct timespec){ seconds.modtime, 0 };
		return err;
	}
	err = task_read_memory(call->thread, address, micro, sizeof(micro));
	for (int i = 0; i < 2 && !err; i++) {
		if (!is_microseconds(micro[i].tv_usec))
			err = -EINVAL;
		file->times[i].tv_sec = micro[i].tv_sec;
		file->times[i].tv_nsec = micro[i].tv_usec * 1000;
	}
	return err;
}

/* linux/xattr.h of Linux 6.13, struct xattr_args. */
struct attribute_structure {
	uint64_t value __attribute__((aligned(8)));
	uint32_t size;
	uint32_t flags;
};

static int read_structure(const struct call *call, const struct shape *shape,
			  uint64_t *ret_value, struct file_call *file)
{
	struct attribute_structure structure;
	int err;

	if (file->size < sizeof(structure))
		return -EINVAL;
	if (file->size > sizeof(structure))
		return -E2BIG; /* as if the rest was not zero */
	err = task_read_memory(call->thread,
			       argument(call, shape->attribute_structure),
			       &structure, sizeof(structure));
	if (err)
		return err;
	*ret_value = structure.value;
	file->size = structure.size;
	file->attribute_flags = (int)structure.flags;
	return 0;
}

static int read_attribute_name(const struct call *call, uint64_t address,
			       struct file_call *file)
{
	int err = task_read_string(call->thread, address, file->attribute,
				   sizeof(file->attribute));

	if (err == -ENAMETOOLONG || (!err && !file->attribute[0]))
		return -ERANGE;
	return err;
}

static int read_attribute(const struct call *call, const struct shape *shape,
			  struct file_call *file)
{
	uint64_t value = argument(call, shape->attribute_value);
	int err = 0;

	file->size = argument(call, shape->attribute_size);
	if (shape->attribute_structure)
		err = read_structure(call, shape, &value, file);
	if (!err && file->attribute_flags & ~(XATTR_CREATE | XATTR_REPLACE))
		err = -EINVAL;
	if (!err)
		err = read_attribute_name(
			call, argument(call, shape->attribute), file);
	if (err || file->size == 0)
		return err;
	if (file->size > XATTR_SIZE_MAX)
		return -E2BIG;
	file->value = malloc(file->size);
	if (!file->value)
		return -ENOMEM;
	return task_read_memory(call->thread, value, file->value, file->size);
}

static int read_memory(const struct call *call, const struct shape *shape,
		       struct file_call *file)
{
	bool may_be_empty = file->operation != OPERATION_OPEN &&
			    file->flags & AT_EMPTY_PATH &&
			    shape->valid & AT_EMPTY_PATH;
	int err = 0;

	if (shape->times)
		err = read_times(call, argument(call, shape->times),
				 (enum times_form)shape->times_form, file);
	if (!err && shape->attribute)
		err = read_attribute(call, shape, file);
	if (!err && shape->from)
		err = read_path(call, argument(call, shape->from), may_be_empty,
				file->from);
	if (err || !shape->path)
		return err;
	err = read_path(call, argument(call, shape->path),
			may_be_empty && !shape->from, file->path);
	if (!operates_on_two(file->operation))
		return err;
	file->path_error = err;
	return 0;
}

int file_call_read(const struct call *call, struct file_call *ret_file)
{
	const struct shape *shape = find_shape(call->number);
	int err;

	ret_file->value = NULL;
	ret_file->path_error = 0;
	if (!shape)
		return -ENOSYS;
	err = read_numbers(call, shape, ret_file);
	if (!err)
		err = read_memory(call, shape, ret_file);
	if (!err)
		return 0;
	file_call_release(ret_file);
	return file_call_error(ret_file, err);
}

void file_call_release(struct file_call *file)
{
	free(file->value);
	file->value = NULL;
}
