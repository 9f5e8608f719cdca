/*
 * Making a caller's call for it, see perform.h.
 *
 * We are the same user as the caller, so what it may do by its ids we may do,
 * and no more: the threads that come here have no capability. What a caller
 * has of these in a user namespace of its own is not ours, and so a call that
 * needs them fails here as it does without a namespace.
 */
#include "perform.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/xattr.h>

#include "../launch/uapi.h"
#include "../supervisor/ids.h"

/* VALID_OPEN_FLAGS in linux/fcntl.h: open(2) ignores all others. */
#define OPEN_FLAGS                                                          \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND |     \
	 O_NONBLOCK | O_SYNC | O_DSYNC | O_ASYNC | O_DIRECT | O_LARGEFILE | \
	 O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_TMPFILE)

/* A name as it was written: with a slash it can only be a folder's. */
static const char *written_name(const struct place *place,
				char ret_name[PATH_BYTES_MAX])
{
	if (!place->slash)
		return place->name;
	(void)snprintf(ret_name, PATH_BYTES_MAX, "%s/", place->name);
	return ret_name;
}

int perform_open(const struct file_call *file, int flags,
		 const struct place *at)
{
	struct open_how how = {
		.flags = (__u64)((flags & OPEN_FLAGS) | O_CLOEXEC | O_NOCTTY |
				 O_NONBLOCK),
		.mode = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))
				? file->mode & 07777
				: 0,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_BENEATH,
	};
	long fd = syscall(SYS_openat2, at->parent, at->name, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* "/proc/self/fd/N" leads to the file of a descriptor of ours, whatever. */
struct descriptor_path {
	char text[32];
};

static struct descriptor_path path_of(int fd)
{
	struct descriptor_path path;

	(void)snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

static int result(long returned)
{
	return returned < 0 ? -errno : 0;
}

static int make(const struct file_call *file, const struct place *at)
{
	char written[PATH_BYTES_MAX];
	const char *name = written_name(at, written);

	if (file->operation == OPERATION_MKDIR)
		return result(mkdirat(at->parent, name, file->mode));
	if (file->operation == OPERATION_MKNOD)
		return result(mknodat(at->parent, name, file->mode,
				      (dev_t)file->number));
	return result(symlinkat(file->from, at->parent, name));
}

static int take_away(const struct file_call *file, const struct place *at)
{
	char written[PATH_BYTES_MAX];

	return result(
		unlinkat(at->parent, written_name(at, written), file->flags));
}

static int move(const struct file_call *file, const struct places *places)
{
	char from[PATH_BYTES_MAX], to[PATH_BYTES_MAX];

	return result(syscall(SYS_renameat2, places->from.parent,
			      written_name(&places->from, from),
			      places->at.parent, written_name(&places->at, to),
			      file->flags));
}

/* A symbolic link that was not followed is linked itself: it is known. */
static int link_there(const struct places *places)
{
	char to[PATH_BYTES_MAX];

	return result(linkat(AT_FDCWD, path_of(places->from.file).text,
			     places->at.parent, written_name(&places->at, to),
			     AT_SYMLINK_FOLLOW));
}

/* The kernel sends SIGXFSZ as well, setrlimit(2). */
static int check_limit(const struct call *call, int fd, uint64_t length)
{
	struct rlimit limit;
	struct stat status;

	if (prlimit(call->thread, RLIMIT_FSIZE, NULL, &limit) ||
	    fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || limit.rlim_cur == RLIM_INFINITY ||
	    length <= limit.rlim_cur || (uint64_t)status.st_size >= length)
		return 0;
	(void)syscall(SYS_tkill, call->thread, SIGXFSZ);
	return -EFBIG;
}

static int shorten(const struct call *call, const struct file_call *file,
		   int fd)
{
	int err = check_limit(call, fd, file->number);

	if (err)
		return err;
	return result(truncate(path_of(fd).text, (off_t)file->number));
}

static int set_owner(const struct call *call, const struct file_call *file,
		     int fd)
{
	uid_t owner = file->owner;
	gid_t group = file->group;
	int err = translate_ids(call, &owner, &group);

	if (err)
		return err;
	if (file->is_descriptor)
		return result(fchown(fd, owner, group));
	return result(fchownat(fd, "", owner, group, AT_EMPTY_PATH));
}

static int set_times(const struct file_call *file, int fd)
{
	return result(utimensat(fd, "", file->sets_times ? file->times : NULL,
				AT_EMPTY_PATH));
}

static int set_attribute(const struct file_call *file, int fd)
{
	if (file->is_descriptor)
		return result(fsetxattr(fd, file->attribute, file->value,
					file->size, file->attribute_flags));
	return result(setxattr(path_of(fd).text, file->attribute, file->value,
			       file->size, file->attribute_flags));
}

static int remove_attribute(const struct file_call *file, int fd)
{
	if (file->is_descriptor)
		return result(fremovexattr(fd, file->attribute));
	return result(removexattr(path_of(fd).text, file->attribute));
}

/* A caller's own descriptor answers for itself: it may be an O_PATH one. */
static int set_mode(const struct file_call *file, int fd)
{
	if (file->is_descriptor)
		return result(fchmod(fd, file->mode));
	return result(chmod(path_of(fd).text, file->mode));
}

int perform(const struct call *call, const struct file_call *file,
	    struct places *places)
{
	int fd = places->at.file;

	switch (file->operation) {
	case OPERATION_MKDIR:
	case OPERATION_MKNOD:
	case OPERATION_SYMLINK:
		return make(file, &places->at);
	case OPERATION_REMOVE:
		return take_away(file, &places->at);
	case OPERATION_RENAME:
		return move(file, places);
	case OPERATION_LINK:
		return link_there(places);
	case OPERATION_TRUNCATE:
		return shorten(call, file, fd);
	case OPERATION_MODE:
		return set_mode(file, fd);
	case OPERATION_OWNER:
		return set_owner(call, file, fd);
	case OPERATION_TIMES:
		return set_times(file, fd);
	case OPERATION_SET_ATTRIBUTE:
		return set_attribute(file, fd);
	case OPERATION_REMOVE_ATTRIBUTE:
		return remove_attribute(file, fd);
	case OPERATION_OPEN:
		break;
	}
	return -EINVAL;
}

/* Content that was judged */

static int copy_all(int from, int to)
{
	off_t at = 0;
	ssize_t sent = 1;

	while (sent > 0)
		sent = RETRY(sendfile(to, from, &at, INT32_MAX));
	return sent < 0 ? -errno : 0;
}

/* A new file in the place of what has that name, if anything has. */
static int write_fresh(const struct place *at, mode_t mode, int content)
{
	AUTO_CLOSE int fd =
		openat(at->parent, at->name,
		       O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : copy_all(content, fd);

	if (!err && fchmod(fd, mode & 07777))
		err = -errno;
	if (err && fd >= 0)
		(void)unlinkat(at->parent, at->name, 0);
	return err;
}

int perform_with_content(const struct file_call *file,
			 const struct places *places, int content)
{
	const struct place *from = &places->from;
	struct stat status;

	if (from->file >= 0 ? fstat(from->file, &status)
			    : fstatat(from->parent, from->name, &status,
				      AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (file->operation == OPERATION_LINK)
		return write_fresh(&places->at, status.st_mode, content);
	if (file->flags & RENAME_EXCHANGE)
		return -EACCES;
	/* Under its old name first: then it is put in place in one step. */
	if (unlinkat(from->parent, from->name, 0))
		return -errno;
	return write_fresh(from, status.st_mode, content) ?: move(file, places);
}
