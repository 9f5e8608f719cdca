/* Sandboxes inside ours, see nesting.h. */
#include "nesting.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "../files/enter.h"
#include "../files/resolve.h"
#include "../launch/uapi.h"
#include "child.h"
#include "task.h"

/* mount(2): it takes a page of data at most. */
enum { MOUNT_DATA_BYTES_MAX = 4096, MOUNT_TYPE_BYTES_MAX = 64 };

/* Flags that a new file system has none of, in path_mount() of the kernel. */
static const unsigned long CHANGES_OLD = MS_REMOUNT | MS_BIND | MS_MOVE |
					 MS_SHARED | MS_PRIVATE | MS_SLAVE |
					 MS_UNBINDABLE;

struct new_mount {
	char source[PATH_BYTES_MAX];
	char type[MOUNT_TYPE_BYTES_MAX];
	char data[MOUNT_DATA_BYTES_MAX];
	bool has_source, has_data;
	unsigned long flags;
	int target; /* O_PATH, in the caller's mounts */
};

/* Nothing outside the caller's own namespaces is in one of these. */
static bool leads_nowhere(const char *type)
{
	static const char *const types[] = {
		"tmpfs", "proc", "devpts", "mqueue", "sysfs", "ramfs",
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strcmp(types[i], type) == 0)
			return true;
	return false;
}

static unsigned long flags_of(const struct call *call)
{
	unsigned long flags = call->arguments[3];

	/* Programs of before Linux 2.4 mark that there are flags. */
	return (flags & MS_MGC_MSK) == MS_MGC_VAL ? flags & ~MS_MGC_MSK : flags;
}

/* The kernel takes what it can read of the page: copy_mount_options(). */
static int read_data(const struct call *call, struct new_mount *mount)
{
	int err;

	mount->has_data = call->arguments[4] != 0;
	if (!mount->has_data)
		return 0;
	err = task_read_string(call->thread, call->arguments[4], mount->data,
			       sizeof(mount->data));
	/* All that is let by reads options as text. */
	return err == -ENAMETOOLONG ? -EINVAL : err;
}

static int read_arguments(const struct call *call, struct new_mount *mount)
{
	int err;

	mount->flags = flags_of(call);
	if (!call->arguments[2])
		return -EINVAL;
	err = task_read_string(call->thread, call->arguments[2], mount->type,
			       sizeof(mount->type));
	if (err == -ENAMETOOLONG || (!err && !leads_nowhere(mount->type)))
		return -EPERM;
	if (err)
		return err;
	mount->has_source = call->arguments[0] != 0;
	if (mount->has_source)
		err = task_read_string(call->thread, call->arguments[0],
				       mount->source, sizeof(mount->source));
	return err ? err : read_data(call, mount);
}

static int resolve_target(const struct call *call, struct place *target)
{
	char path[PATH_BYTES_MAX];
	int err = task_read_string(call->thread, call->arguments[1], path,
				   sizeof(path));

	if (!err)
		err = resolve_parent(call, AT_FDCWD, path, target);
	return err ? err : resolve_file(call, true, target);
}

/* In a child of the child: only that one is in the caller's pid namespace. */
static int mount_there(void *argument)
{
	const struct new_mount *new = argument;

	if (fchdir(new->target))
		return -errno;
	return mount(new->has_source ? new->source : NULL, ".", new->type,
		     new->flags, new->has_data ? new->data : NULL)
		       ? -errno
		       : 0;
}

static int mount_in_child(void *argument)
{
	return run_in_child(0, mount_there, argument);
}

static int answer_mount(const struct call *call)
{
	AUTO_PLACE struct place target = PLACE_NONE;
	AUTO_FREE struct new_mount *mount = NULL;
	int err;

	if (flags_of(call) & CHANGES_OLD) {
		call_continue(call);
		return CALL_ANSWERED;
	}
	mount = calloc(1, sizeof(*mount));
	if (!mount)
		return -ENOMEM;
	err = read_arguments(call, mount);
	if (!err)
		err = resolve_target(call, &target);
	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	mount->target = target.file;
	return act_as_caller(call, ENTER_NAMESPACES, mount_in_child, mount);
}

bool is_nesting_call(const struct call *call)
{
	switch (call->number) {
	case SYS_mount:
	case SYS_chroot:
	case SYS_pivot_root:
	case SYS_umount2:
	case SYS_setns:
	case SYS_move_mount:
	case SYS_open_tree:
	case SYS_open_tree_attr:
	case SYS_mount_setattr:
		return true;
	default:
		return false;
	}
}

int answer_nesting_call(const struct call *call)
{
	/* Before it takes effect: whoever looks later looks closer. */
	call->sup->nested = true;
	if (call->number == SYS_mount)
		return answer_mount(call);
	/* Whatever its arguments become, it only shows what is there. */
	call_continue(call);
	return CALL_ANSWERED;
}
