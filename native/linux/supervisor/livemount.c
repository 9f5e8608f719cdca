/* Live mounts, see livemount.h. */
#include "livemount.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <time.h>

#include "../../common/limits.h"
#include "../launch/tree.h"
#include "../launch/uapi.h"
#include "../tripwire/tripwire.h"
#include "child.h"
#include "mountinfo.h"

/* What is asked of the child, and its answer, in memory that it shares. */
struct task {
	int user_ns, mount_ns;
	char folder[PATH_BYTES_MAX]; /* plain; of a detachment the parent */
	char name[NAME_MAX + 1];     /* detachment: the mount point in there */
	struct identity judged;
	struct live_mount mount;
	bool is_written; /* a file is open for writing */
	bool is_kept;	 /* somebody has it, or something is mounted below */
};

/* -errno unless nothing is there, which is no error. */
static int look_at(const char *path, struct identity *ret_identity)
{
	AUTO_CLOSE int fd = open_path(path);
	struct stat status;

	*ret_identity = (struct identity){ .known = false };
	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (fstat(fd, &status))
		return -errno;
	*ret_identity = (struct identity){ true, status.st_dev, status.st_ino };
	return 0;
}

struct identity identify(const char *path)
{
	struct identity identity;

	(void)!look_at(path, &identity);
	return identity;
}

static bool is_that(int fd, const struct identity *identity)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_dev == identity->device &&
	       status.st_ino == identity->inode;
}

static int read_mount(int fd, struct live_mount *ret_mount)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status))
		return -errno;
	ret_mount->id = (unsigned)status.stx_mnt_id;
	ret_mount->unique = 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID_UNIQUE, &status) == 0 &&
	    status.stx_mask & STATX_MNT_ID_UNIQUE)
		ret_mount->unique = status.stx_mnt_id;
	return 0;
}

/* 1: it is, whether for the mount's sake or the file system's. */
static int is_read_only(int fd)
{
	struct statvfs status;

	if (fstatvfs(fd, &status))
		return -errno;
	return (status.f_flag & ST_RDONLY) != 0;
}

/* In the child: only system calls. Capabilities come with the namespace. */

/* Closes our copies of what other threads have open: they keep mounts busy. */
static int enter(const struct task *task)
{
	if (setns(task->user_ns, CLONE_NEWUSER) ||
	    setns(task->mount_ns, CLONE_NEWNS) || close_range(0, ~0U, 0))
		return -errno;
	return 0;
}

static int attach_there(void *argument)
{
	struct task *task = argument;
	struct mount_attr writable = { .attr_clr = MOUNT_ATTR_RDONLY };
	int err = enter(task), place, tree;

	if (err)
		return err;
	place = open_path(task->folder);
	if (place < 0)
		return -errno;
	if (!is_that(place, &task->judged))
		return -ESTALE;
	tree = clone_tree(place);
	if (tree < 0 ||
	    mount_setattr(tree, "", AT_EMPTY_PATH, &writable, sizeof(writable)))
		return -errno;
	err = is_read_only(tree);
	if (err)
		return err < 0 ? err : -EROFS;
	err = read_mount(tree, &task->mount);
	if (err)
		return err;
	return attach_tree(tree, place) ? -errno : 0;
}

/* Whether the top of what is mounted at the name is that mount of ours. */
static bool is_ours(int folder, const char *name, const struct live_mount *ours)
{
	AUTO_CLOSE int fd =
		openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct live_mount found;

	return fd >= 0 && read_mount(fd, &found) == 0 && found.id == ours->id &&
	       found.unique == ours->unique;
}

/*
 * Read-only first: a process whose directory is below keeps the detached
 * mount. That fails where a file is open for writing, which stays so.
 */
static bool make_read_only_again(int folder, const char *name)
{
	AUTO_CLOSE int fd =
		openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY };

	return fd >= 0 && mount_setattr(fd, "", AT_EMPTY_PATH, &read_only,
					sizeof(read_only)) == 0;
}

/*
 * Of a call under way our threads have descriptors still; waiting for those is
 * no harm once nothing can be written any more.
 */
static int detach_patiently(const char *name)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };

	for (int left = DETACH_PATIENT_MS; left > 0; left--) {
		if (umount2(name, UMOUNT_NOFOLLOW) == 0)
			return 0;
		if (errno != EBUSY)
			return -errno;
		(void)nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

static int detach_there(void *argument)
{
	struct task *task = argument;
	int err = enter(task), folder;

	if (err)
		return err;
	folder = open_path(task->folder);
	if (folder < 0 || fchdir(folder))
		return -errno;
	if (!is_ours(folder, task->name, &task->mount))
		return -ESTALE;
	task->is_written = !make_read_only_again(folder, task->name);
	err = task->is_written ? -EBUSY : detach_patiently(task->name);
	if (err != -EBUSY)
		return err;
	task->is_kept = true;
	return umount2(task->name, UMOUNT_NOFOLLOW | MNT_DETACH) ? -errno : 0;
}

/* In the supervisor */

static int run(const struct supervisor *sup, int (*act)(void *argument),
	       struct task *task)
{
	struct task *shared = allocate_shared(sizeof(*shared));
	int err;

	if (!shared)
		return -errno;
	*shared = *task;
	shared->user_ns = sup->inside.user;
	shared->mount_ns = sup->inside.mount;
	err = run_in_child(0, act, shared);
	*task = *shared;
	(void)munmap(shared, sizeof(*shared));
	return err;
}

/* 1: a mount is wanted; 0: not; -ESTALE: the path leads elsewhere inside. */
static int needs_mount(struct supervisor *sup, const char *path,
		       const struct identity *host)
{
	AUTO_CLOSE int inside = -1;
	char shown[PATH_BYTES_MAX];
	struct stat status;

	if (!host->known)
		return 0;
	inside = open_plain(sup->root, path + 1, O_PATH);
	if (inside < 0)
		return -errno;
	if (fstat(inside, &status))
		return -errno;
	/* A file: who replaces it could not rename over a mount. */
	if (!S_ISDIR(status.st_mode))
		return 0;
	/* A tripwire's: to mount there would open it for reading, too. */
	if (tripwire_host_path(sup, inside, shown) == 0)
		return 0;
	return is_read_only(inside);
}

int live_mount_attach(struct supervisor *sup, const char *path,
		      const struct identity *judged,
		      struct live_mount *ret_mount)
{
	struct task task = { 0 };
	int err;

	if (path[1] == '\0')
		return -EINVAL; /* nobody's root would be the new one */
	err = look_at(path, &task.judged);
	if (err)
		return err;
	if (judged->known &&
	    !(task.judged.known && task.judged.device == judged->device &&
	      task.judged.inode == judged->inode))
		return -ESTALE;
	err = needs_mount(sup, path, &task.judged);
	if (err == 1) {
		(void)strcpy(task.folder, path);
		err = run(sup, attach_there, &task);
	}
	if (!err)
		*ret_mount = task.mount;
	return err;
}

/* Whether something is mounted below it, which makes any mount busy. */
static bool has_mounts_below(const struct mount_table *table,
			     const struct mount_entry *mount)
{
	const struct mount_entry *end = table->mounts + table->count;

	for (const struct mount_entry *m = mount + 1; m < end; m++)
		if (strcmp(m->point, mount->point) != 0 &&
		    rest_below(m->point, mount->point))
			return true;
	return false;
}

/* Where it is by now: its folder may have been renamed. 0: it is gone. */
static int find_place(const struct supervisor *sup, struct task *task,
		      bool *ret_below)
{
	struct mount_table table = { 0 };
	const struct mount_entry *mount;
	const char *name;
	int err = mount_table_read(sup->inside.mountinfo, &table);

	if (err)
		return err;
	mount = mount_table_find(&table, task->mount.id);
	if (mount) {
		*ret_below = has_mounts_below(&table, mount);
		name = strrchr(mount->point, '/');
		(void)snprintf(
			task->folder, sizeof(task->folder), "%.*s",
			name == mount->point ? 1 : (int)(name - mount->point),
			mount->point);
		(void)snprintf(task->name, sizeof(task->name), "%s", name + 1);
	}
	mount_table_free(&table);
	return mount != NULL;
}

int live_mount_detach(struct supervisor *sup, const struct live_mount *mount,
		      bool *ret_busy)
{
	struct task task = { .mount = *mount };
	bool below = false;
	int err = find_place(sup, &task, &below);

	*ret_busy = false;
	if (err <= 0)
		return err; /* 0: its folder was removed, and it with it */
	err = run(sup, detach_there, &task);
	if (err)
		return err;
	*ret_busy = task.is_written || (task.is_kept && !below);
	/* Who stays in it has paths that only look like the sandbox's own. */
	if (task.is_kept)
		sup->nested = true;
	return 0;
}
