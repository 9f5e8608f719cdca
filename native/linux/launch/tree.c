/* Mount trees by descriptor, see tree.h. */
#include "tree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "../../common/cordon.h"
#include "uapi.h"

/* A part of a path that is no symbolic link; of one, O_PATH opens itself. */
static int open_part(int folder, const char *name, int flags)
{
	int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || !S_ISLNK(status.st_mode))
		return fd;
	(void)close(fd);
	errno = ELOOP;
	return -1;
}

static int open_by_parts(int directory, const char *path, int flags)
{
	AUTO_CLOSE int at = openat(directory, path[0] == '/' ? "/" : ".",
				   O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];

	path += strspn(path, "/");
	while (at >= 0) {
		size_t length = strcspn(path, "/");
		const char *rest = path + length + strspn(path + length, "/");
		int next;

		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, length);
		name[length] = '\0';
		next = open_part(at, length ? name : ".",
				 *rest ? O_PATH | O_DIRECTORY : flags);
		if (*rest == '\0')
			return next;
		close_quietly(at);
		at = next;
		path = rest;
	}
	return -1;
}

int open_plain(int directory, const char *path, int flags)
{
	struct open_how how = {
		.flags = (__u64)flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));

	/* In another Cordon, whose filter cannot see the flags. */
	if (fd < 0 && errno == ENOSYS)
		return open_by_parts(directory, path, flags);
	return fd;
}

int open_path(const char *path)
{
	return open_plain(AT_FDCWD, path, O_PATH);
}

int clone_tree(int fd)
{
	return open_tree(fd, "",
			 AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE |
				 OPEN_TREE_CLOEXEC);
}

int attach_tree(int tree, int place)
{
	return move_mount(tree, "", place, "",
			  MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

int make_read_only(int tree)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };

	return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
			     &attributes, sizeof(attributes));
}

/* In another Cordon, which looks at what mount(2) makes: over /proc, shortly.
 */
static int create_tmpfs_by_mount(const char *mode)
{
	char options[16];
	int tree;

	(void)snprintf(options, sizeof(options), "mode=%s", mode);
	if (mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NODEV, options))
		return -1;
	tree = open_tree(AT_FDCWD, "/proc",
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (umount2("/proc", MNT_DETACH) == 0 || tree < 0)
		return tree;
	close_quietly(tree);
	return -1;
}

int create_tmpfs(const char *mode)
{
	AUTO_CLOSE int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 && errno == ENOSYS)
		return create_tmpfs_by_mount(mode);
	if (context < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", mode, 0) ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -1;
	return fsmount(context, FSMOUNT_CLOEXEC,
		       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}
