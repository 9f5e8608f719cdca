/*
 * Keeps closed places covered. A mount goes with the file that it covers:
 * when the host replaces that (editors save by rename) the kernel detaches
 * the mount, and what is new is open. So the folders of all places are
 * watched (inotify(7)), of a place that is not there yet the folder that is
 * nearest to it; what appears is covered anew, by a child in the sandbox's
 * namespaces. Between the two it can be read: a matter of milliseconds.
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>

#include "../common/limits.h"
#include "child.h"
#include "thread.h"
#include "tree.h"
#include "tripwire_service.h"
#include "uapi.h"

enum {
	EVENTS_BYTES = 4096,
	PART_BYTES = 24, /* an index as text */
	INTERESTING = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF,
};

/* What is waited for in a watched folder. */
struct watched {
	int folder;	  /* watch descriptor; -1: none */
	const char *name; /* a part of the place's path */
	size_t length;
};

struct keeper {
	int inotify;
	struct loop_source first_event;
	struct watched *watched; /* as tw->places */
};

/* In the child: only system calls */

struct cover {
	int user, mount; /* namespaces */
	int device, root;
	dev_t number;
	char path[PATH_BYTES_MAX];
	char part[PART_BYTES];
};

static int cover_there(void *argument)
{
	const struct cover *cover = argument;
	struct stat status;
	int place, tree;

	/* We wait for its server, so we must not be one who has it open. */
	if (close(cover->device) || setns(cover->user, CLONE_NEWUSER) ||
	    setns(cover->mount, CLONE_NEWNS))
		return -errno;
	place = open_path(cover->path);
	if (place < 0 || fstat(place, &status))
		return -errno;
	if (status.st_dev == cover->number)
		return 0; /* it is covered, or all around it is */
	tree = open_tree(cover->root, cover->part,
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return tree < 0 || attach_tree(tree, place) ? -errno : 0;
}

/* In the supervisor, on the keeper's thread */

/* The kernel remembers what was at the place before. */
static void forget_part(const struct tripwires *tw, const char *part)
{
	struct fuse_notify_inval_entry_out what = {
		.parent = NODE_ROOT,
		.namelen = (uint32_t)strlen(part),
	};
	struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + sizeof(what) + what.namelen +
				  1),
		.error = FUSE_NOTIFY_INVAL_ENTRY,
	};
	char message[sizeof(header) + sizeof(what) + PART_BYTES];

	memcpy(message, &header, sizeof(header));
	memcpy(message + sizeof(header), &what, sizeof(what));
	(void)strcpy(message + sizeof(header) + sizeof(what), part);
	/* ENOENT: it knows of none. */
	(void)!write(tw->device, message, header.len);
}

static int cover_place(const struct tripwires *tw, size_t index)
{
	struct cover *cover = allocate_shared(sizeof(*cover));
	int err;

	if (!cover)
		return -errno;
	cover->user = tw->sup->inside.user;
	cover->mount = tw->sup->inside.mount;
	cover->device = tw->device;
	cover->root = tw->root;
	cover->number = tw->number;
	(void)strcpy(cover->path, tw->places[index].mount->path);
	(void)snprintf(cover->part, sizeof(cover->part), "%zu", index);
	forget_part(tw, cover->part);
	err = run_in_child(0, cover_there, cover);
	(void)munmap(cover, sizeof(*cover));
	return err;
}

/* The nearest folder of the path that is there, and what follows it. */
static int open_nearest(const char *path, const char **ret_name)
{
	char folder[PATH_BYTES_MAX];
	int fd = -1;

	(void)strcpy(folder, path);
	while (fd < 0) {
		char *slash = strrchr(folder, '/');

		if (slash == folder)
			slash++;
		if (*slash == '\0')
			return -ENOENT;
		*ret_name = path + (slash - folder) + (*slash == '/');
		*slash = '\0';
		fd = open_plain(AT_FDCWD, folder, O_PATH | O_DIRECTORY);
	}
	return fd;
}

/* false: another part of the path has come meanwhile. */
static bool watch_once(struct keeper *keeper, const char *path,
		       struct watched *ret)
{
	AUTO_CLOSE int folder = open_nearest(path, &ret->name);
	char link[32], next[NAME_MAX + 1];

	ret->folder = -1;
	if (folder < 0)
		return true;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	ret->length = strcspn(ret->name, "/");
	ret->folder = inotify_add_watch(keeper->inotify, link, INTERESTING);
	if (ret->name[ret->length] == '\0' || ret->length > NAME_MAX)
		return true;
	memcpy(next, ret->name, ret->length);
	next[ret->length] = '\0';
	return faccessat(folder, next, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

static void watch_place(struct tripwires *tw, size_t index)
{
	const char *path = tw->places[index].mount->path;
	struct watched *watched = &tw->keeper->watched[index];
	int tries = 0;

	while (!watch_once(tw->keeper, path, watched) && tries < NAME_MAX)
		tries++;
}

static bool concerns(const struct watched *watched,
		     const struct inotify_event *event, const char *name)
{
	if (event->mask & IN_Q_OVERFLOW)
		return true;
	if (watched->folder != event->wd)
		return false;
	/* The folder itself has gone, or something has come into it. */
	return event->len == 0 ||
	       (strncmp(watched->name, name, watched->length) == 0 &&
		name[watched->length] == '\0');
}

static void follow_event(struct tripwires *tw,
			 const struct inotify_event *event, const char *name)
{
	for (size_t i = 0; i < tw->sup->plan->mount_count; i++) {
		if (!tw->places[i].mount ||
		    !concerns(&tw->keeper->watched[i], event, name))
			continue;
		watch_place(tw, i);
		/* ENOENT: not there yet; the next event tells. */
		(void)!cover_place(tw, i);
	}
}

static void *keep(void *argument)
{
	struct tripwires *tw = argument;
	char events[EVENTS_BYTES];
	struct inotify_event event;
	ssize_t length;

	while ((length = RETRY(
			read(tw->keeper->inotify, events, sizeof(events)))) > 0)
		for (ssize_t at = 0; at < length;
		     at += (ssize_t)(sizeof(event) + event.len)) {
			memcpy(&event, events + at, sizeof(event));
			follow_event(tw, &event, events + at + sizeof(event));
		}
	return NULL;
}

static void begin_keeping(void *owner, uint32_t events)
{
	struct tripwires *tw = owner;

	(void)events;
	loop_remove(&tw->sup->loop, &tw->keeper->first_event);
	if (start_thread(keep, tw, CALL_STACK_BYTES))
		stop_run(tw->sup, "internal");
}

int keep_covered(struct tripwires *tw)
{
	size_t count = tw->sup->plan->mount_count;
	struct keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper)
		return -ENOMEM;
	keeper->watched = calloc(count, sizeof(*keeper->watched));
	keeper->inotify = inotify_init1(IN_CLOEXEC);
	/* EMFILE: the user has no watches left. */
	if (!keeper->watched || keeper->inotify < 0) {
		free(keeper->watched);
		free(keeper);
		return 0;
	}
	tw->keeper = keeper;
	for (size_t i = 0; i < count; i++)
		if (tw->places[i].mount)
			watch_place(tw, i);
	keeper->first_event = (struct loop_source){
		.fd = keeper->inotify,
		.ready = begin_keeping,
		.owner = tw,
	};
	return loop_add(&tw->sup->loop, &keeper->first_event, EPOLLIN);
}
