/* Mount trees by descriptor, see tree.h. */
#include "tree.h"

#include <sys/mount.h>

#include "../common/cordon.h"
#include "uapi.h"

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

int create_tmpfs(const char *mode)
{
	AUTO_CLOSE int context = fsopen("tmpfs", FSOPEN_CLOEXEC);

	if (context < 0 ||
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", mode, 0) ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -1;
	return fsmount(context, FSMOUNT_CLOEXEC,
		       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}
