/* Descriptors back into paths of the sandbox's own view, see locate.h. */
#include "locate.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../launch/uapi.h"
#include "../supervisor/mountinfo.h"
#include "../supervisor/opens.h"
#include "../supervisor/task.h"
#include "files.h"

struct locations {
	int mountinfo; /* of pid 1 */
	int own_links; /* our /proc/self/fd, O_PATH */
	pthread_mutex_t lock;
	struct mount_table own;
	unsigned generation; /* of the open list when it was read */
};

int locations_open(struct supervisor *sup, struct locations **ret_locations)
{
	struct locations *locations = calloc(1, sizeof(*locations));

	if (!locations)
		return -ENOMEM;
	locations->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	locations->mountinfo = task_open(sup->init, "mountinfo", O_RDONLY);
	locations->own_links =
		open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (locations->mountinfo < 0 || locations->own_links < 0) {
		free(locations);
		return -EACCES;
	}
	*ret_locations = locations;
	return 0;
}

/* The path as the kernel tells it, from the root of its mount namespace. */
static int read_path(const struct locations *locations, int fd,
		     char ret_path[PATH_BYTES_MAX])
{
	char name[16];
	ssize_t length;

	(void)snprintf(name, sizeof(name), "%d", fd);
	length = readlinkat(locations->own_links, name, ret_path,
			    PATH_BYTES_MAX - 1);
	if (length < 0)
		return -errno;
	ret_path[length] = '\0';
	/* "pipe:[1]" */
	return ret_path[0] == '/' ? 0 : LOCATE_APART;
}

static int read_mount_id(int fd, unsigned *ret_id)
{
	struct statx status;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status))
		return -errno;
	if (!(status.stx_mask & STATX_MNT_ID))
		return -EOPNOTSUPP;
	*ret_id = (unsigned)status.stx_mnt_id;
	return 0;
}

/*
 * With the lock held. Live mounts come, so an unknown one is looked for, and
 * go, which changes the generation of the open list.
 */
static bool is_own_mount(struct supervisor *sup, struct locations *locations,
			 unsigned id)
{
	unsigned generation = opens_generation(sup);
	struct mount_table table;

	if (generation == locations->generation &&
	    mount_table_find(&locations->own, id))
		return true;
	if (mount_table_read(locations->mountinfo, &table))
		return false;
	mount_table_free(&locations->own);
	locations->own = table;
	locations->generation = generation;
	return mount_table_find(&locations->own, id) != NULL;
}

/* A mount of a nested sandbox, with the strings that describe it. */
struct foreign {
	struct mount_table table;
	const struct mount_entry *mount;
	char root[PATH_BYTES_MAX]; /* of the task, from its namespace's */
};

static int find_foreign(pid_t thread, unsigned id, struct foreign *ret_foreign)
{
	AUTO_CLOSE int fd = task_open(thread, "mountinfo", O_RDONLY);
	int err = fd < 0 ? fd : mount_table_read(fd, &ret_foreign->table);

	if (!err)
		err = task_read_link(thread, "root", ret_foreign->root);
	if (err)
		return err;
	ret_foreign->mount = mount_table_find(&ret_foreign->table, id);
	return ret_foreign->mount ? 0 : -ENOENT;
}

/* Two parts as one path; "/" and "" count for nothing. */
static int join(const char *base, const char *rest,
		char ret_path[PATH_BYTES_MAX])
{
	int length;

	if (strcmp(base, "/") == 0 && rest[0])
		base = "";
	if (strcmp(rest, "/") == 0)
		rest = "";
	length = snprintf(ret_path, PATH_BYTES_MAX, "%s%s", base, rest);
	return length < PATH_BYTES_MAX ? 0 : -ENAMETOOLONG;
}

/* From the path in a foreign mount to that in its file system. */
static int path_in_system(const struct foreign *foreign, const char *path,
			  char ret_path[PATH_BYTES_MAX])
{
	char point[PATH_BYTES_MAX];
	int err = join(foreign->root, foreign->mount->point, point);
	const char *rest = err ? NULL : rest_below(path, point);

	if (!rest)
		return -EACCES;
	return join(foreign->mount->root, rest, ret_path);
}

static bool leads_to(const struct supervisor *sup, const char *path, int fd)
{
	AUTO_CLOSE int found = open_plain(sup->root, path[1] ? path + 1 : ".",
					  O_PATH | O_NOFOLLOW);
	struct stat wanted, is;

	return found >= 0 && fstat(found, &is) == 0 &&
	       fstat(fd, &wanted) == 0 && is.st_dev == wanted.st_dev &&
	       is.st_ino == wanted.st_ino;
}

/*
 * The place of `path` of that file system in the sandbox's own view: where it
 * really leads to the file, else where it would if nothing was put over it.
 */
static int find_own(struct locations *locations, const struct supervisor *sup,
		    const struct mount_entry *foreign, const char *path, int fd,
		    char ret_path[PATH_BYTES_MAX])
{
	const struct mount_table *own = &locations->own;
	char candidate[PATH_BYTES_MAX];
	size_t longest = 0;
	int err = LOCATE_APART;

	for (size_t i = own->count; i-- > 0;) {
		const struct mount_entry *mount = &own->mounts[i];
		const char *rest;

		if (mount->major != foreign->major ||
		    mount->minor != foreign->minor)
			continue;
		rest = rest_below(path, mount->root);
		if (err == LOCATE_APART)
			err = -EACCES;
		if (!rest || join(mount->point, rest, candidate))
			continue;
		if (leads_to(sup, candidate, fd)) {
			memcpy(ret_path, candidate, sizeof(candidate));
			return 0;
		}
		if (strlen(mount->root) > longest) {
			longest = strlen(mount->root);
			memcpy(ret_path, candidate, sizeof(candidate));
			err = 0;
		}
	}
	return err;
}

static int translate(struct locations *locations, const struct supervisor *sup,
		     pid_t thread, int fd, unsigned id,
		     char path[PATH_BYTES_MAX])
{
	struct foreign foreign = { 0 };
	char inner[PATH_BYTES_MAX];
	int err = find_foreign(thread, id, &foreign);

	if (!err)
		err = path_in_system(&foreign, path, inner);
	if (!err)
		err = find_own(locations, sup, foreign.mount, inner, fd, path);
	mount_table_free(&foreign.table);
	return err < 0 ? -EACCES : err;
}

bool is_on_own_mount(struct supervisor *sup, int fd)
{
	struct locations *locations = files_locations(sup);
	unsigned id;
	bool is_own;

	if (read_mount_id(fd, &id))
		return false;
	(void)pthread_mutex_lock(&locations->lock);
	is_own = is_own_mount(sup, locations, id);
	(void)pthread_mutex_unlock(&locations->lock);
	return is_own;
}

int locate_descriptor(struct supervisor *sup, pid_t thread, int fd,
		      char ret_path[PATH_BYTES_MAX])
{
	struct locations *locations = files_locations(sup);
	unsigned id;
	int err = read_path(locations, fd, ret_path);

	if (err)
		return err < 0 ? -EACCES : err;
	if (read_mount_id(fd, &id))
		return -EACCES;
	(void)pthread_mutex_lock(&locations->lock);
	if (!is_own_mount(sup, locations, id))
		err = translate(locations, sup, thread, fd, id, ret_path);
	(void)pthread_mutex_unlock(&locations->lock);
	return err;
}

int locate(struct supervisor *sup, pid_t thread, int fd,
	   char ret_path[PATH_BYTES_MAX])
{
	int err;

	/* A detached live mount has paths of its own, too. */
	if (sup->nested || opens_generation(sup))
		return locate_descriptor(sup, thread, fd, ret_path);
	err = read_path(files_locations(sup), fd, ret_path);
	return err < 0 ? -EACCES : err;
}
