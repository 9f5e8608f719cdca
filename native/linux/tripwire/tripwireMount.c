/*
 * The tripwires' file system is mounted by the child, since the device must
 * be opened in the user namespace that the mount belongs to. Each tripwire is
 * a clone of a part of it: a mount of its own costs several times as much.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "../launch/init.h"
#include "tripwire.h"

/*
 * Where the whole of it is mounted while the sandbox's mounts are made:
 * open_tree(2) clones only what is attached (before Linux 6.15). No plan has
 * mounts there.
 */
static const char whole[] = "/proc";

enum { LISTING_BYTES = 32 << 10 };

static bool has_tripwires(const struct plan *plan)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].op == MOUNT_TRIPWIRE)
			return true;
	return false;
}

/* "ro" is the file system's as well: not even a remount makes it writable. */
static int mount_whole(int device)
{
	char options[96];

	(void)snprintf(options, sizeof(options),
		       "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device,
		       geteuid(), getegid());
	if (mount("cordon", whole, "fuse", MS_NOSUID | MS_NODEV | MS_RDONLY,
		  options))
		return -errno;
	return 0;
}

static int mount_device(int *ret_device)
{
	AUTO_CLOSE int device =
		open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int err;

	if (device < 0)
		return -errno;
	err = mount_whole(device);
	if (err)
		return err;
	*ret_device = TAKE(device);
	return 0;
}

int tripwire_try(void)
{
	int device = -1, err = mount_device(&device);

	if (err)
		return -err;
	err = umount2(whole, MNT_DETACH) ? errno : 0;
	close_quietly(device);
	return err;
}

/* Without a request: it knows its own number. */
static int find_number(int root, int *ret_number)
{
	struct statx status;

	if (statx(root, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status))
		return -errno;
	/* File systems without a disk have numbers of 20 bits, makedev(3). */
	*ret_number = (int)status.stx_dev_minor;
	return status.stx_dev_major == 0 ? 0 : -ENODEV;
}

/*
 * No device may be left here: when the supervisor dies, the kernel ends all
 * waiting for it only if nobody else has the device open.
 */
static int hand_device_over(int control, int device)
{
	AUTO_CLOSE int owned = device;
	AUTO_CLOSE int root = open(whole, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct handed_device handed = { .fd = owned, .root = root };
	int err;

	if (root < 0)
		return -errno;
	err = find_number(root, &handed.number);
	return err ? err : send_device(control, &handed);
}

/* The kernel learns of all parts at once, instead of asking for each. */
static void learn_parts(int root)
{
	char entries[LISTING_BYTES];

	while (getdents64(root, entries, sizeof(entries)) > 0)
		;
}

/* From here on the supervisor answers; it knows the parts by their index. */
static int clone_parts(const struct plan *plan, int *trees)
{
	AUTO_CLOSE int root = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[24];

	if (root < 0)
		return -errno;
	learn_parts(root);
	for (size_t i = 0; i < plan->mount_count; i++) {
		if (plan->mounts[i].op != MOUNT_TRIPWIRE)
			continue;
		(void)snprintf(name, sizeof(name), "%zu", i);
		trees[i] = open_tree(root, name,
				     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		if (trees[i] < 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

static void close_parts(const struct plan *plan, int *trees)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].op == MOUNT_TRIPWIRE)
			close_quietly(TAKE(trees[i]));
}

int tripwire_clone_trees(const struct plan *plan, int control, int *trees)
{
	AUTO_CLOSE int device = -1;
	int err;

	if (!has_tripwires(plan))
		return 0;
	err = mount_device(&device);
	if (err)
		return err;
	err = hand_device_over(control, TAKE(device));
	if (!err)
		err = clone_parts(plan, trees);
	if (err) {
		close_parts(plan, trees);
		(void)umount2(whole, MNT_DETACH);
	}
	return err;
}

int tripwire_put_away(const struct plan *plan, int folder)
{
	if (!has_tripwires(plan))
		return 0;
	if (mkdirat(folder, "closed", 0700) ||
	    move_mount(AT_FDCWD, whole, folder, "closed", 0))
		return -errno;
	return 0;
}
