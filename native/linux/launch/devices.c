/* A /dev with what every program expects and nothing more, see devices.h. */
#include "devices.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "tree.h"

static const char *const device_nodes[] = {
	"null", "zero", "full", "random", "urandom", "tty",
};

_Static_assert(ARRAY_SIZE(device_nodes) == DEVICE_NODES, "one place each");

/*
 * The inherited terminal as a file, so that ttyname(3) finds one; our own
 * /dev/pts does not have it. The path must lead to that very terminal: in a
 * container it may be another one's.
 */
static int clone_terminal(int terminal)
{
	AUTO_CLOSE int tree = -1;
	char link[32], path[64];
	struct stat wanted, found;
	ssize_t length;

	if (terminal < 0)
		return -1;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", terminal);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return -1;
	path[length] = '\0';
	tree = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || fstat(tree, &found) || fstat(terminal, &wanted) ||
	    found.st_dev != wanted.st_dev || found.st_ino != wanted.st_ino)
		return -1;
	return TAKE(tree);
}

void clone_devices(int terminal, struct devices *ret_devices)
{
	AUTO_CLOSE int dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);

	/* A host without one of them: the sandbox has none either. */
	for (size_t i = 0; i < DEVICE_NODES; i++)
		ret_devices->nodes[i] =
			open_tree(dev, device_nodes[i],
				  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	ret_devices->terminal = clone_terminal(terminal);
}

static int attach_node(int dev, const char *name, int tree)
{
	int place;

	if (tree < 0)
		return 0;
	place = openat(dev, name, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
	if (place < 0)
		return -1;
	close_quietly(place);
	if (move_mount(tree, "", dev, name, MOVE_MOUNT_F_EMPTY_PATH))
		return -1;
	close_quietly(tree);
	return 0;
}

static int fill_dev(int dev, const struct devices *devices)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "fd" },
		{ "/proc/self/fd/0", "stdin" },
		{ "/proc/self/fd/1", "stdout" },
		{ "/proc/self/fd/2", "stderr" },
		{ "pts/ptmx", "ptmx" },
	};

	for (size_t i = 0; i < DEVICE_NODES; i++)
		if (attach_node(dev, device_nodes[i], devices->nodes[i]))
			return -errno;
	/* ttyname(3) looks for the inherited terminal below /dev. */
	if (attach_node(dev, "console", devices->terminal))
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (symlinkat(links[i][0], dev, links[i][1]))
			return -errno;
	if (mkdirat(dev, "pts", 0755) || mkdirat(dev, "shm", 0777) ||
	    fchmodat(dev, "shm", 01777, 0))
		return -errno;
	return 0;
}

/*
 * The part of the tmpfs below /dev that stays writable, bound onto itself
 * before the rest becomes read-only.
 */
static int bind_shm(void)
{
	AUTO_CLOSE int shm = open_tree(AT_FDCWD, "/dev/shm",
				       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (shm < 0 ||
	    move_mount(shm, "", AT_FDCWD, "/dev/shm", MOVE_MOUNT_F_EMPTY_PATH))
		return -errno;
	return 0;
}

/*
 * The tmpfs has two folders: /dev itself is a mount of one of them, on top
 * of the whole, and files of ours are bound out of the other. Unlinked files
 * would do as well, but a nested sandbox could mount nothing over those.
 */
static int attach_dev(int *ret_files)
{
	AUTO_CLOSE int tmpfs = create_tmpfs("755");
	AUTO_CLOSE int dev = -1;
	int files;

	if (tmpfs < 0 ||
	    move_mount(tmpfs, "", AT_FDCWD, "/dev", MOVE_MOUNT_F_EMPTY_PATH) ||
	    mkdirat(tmpfs, "dev", 0755) || mkdirat(tmpfs, "files", 0755))
		return -errno;
	files = openat(tmpfs, "files", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (files < 0)
		return -errno;
	*ret_files = files;
	dev = open_tree(tmpfs, "dev", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (dev < 0 ||
	    move_mount(dev, "", AT_FDCWD, "/dev", MOVE_MOUNT_F_EMPTY_PATH))
		return -errno;
	return 0;
}

void mount_dev(const struct devices *devices, int *ret_files)
{
	AUTO_CLOSE int dev = -1;
	int err = attach_dev(ret_files);

	if (err)
		die("mounts", -err, "could not put a minimal /dev in place");
	dev = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = dev < 0 ? -errno : fill_dev(dev, devices);
	if (err)
		die("mounts", -err, "could not fill the minimal /dev");
	if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=620"))
		die("mounts", errno, "could not make terminals (/dev/pts)");
	err = bind_shm();
	if (err)
		die("mounts", -err, "could not make /dev/shm");
}

void close_dev(void)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };

	if (mount_setattr(AT_FDCWD, "/dev", 0, &attributes, sizeof(attributes)))
		die("mounts", errno, "could not make /dev read-only");
}
