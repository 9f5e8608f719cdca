/*
 * Keeps closed places covered. A mount goes with the file that it covers:
 * when the host replaces that (editors save by rename) the kernel detaches
 * the mount, and what is new is open. So the folders of all places are
 * watched (inotify(7)), of a place that is not there yet the folder that is
 * nearest to it; what appears is covered anew, by a child in the sandbox's
 * namespaces. Between the two it can be read: a matter of milliseconds, or
 * until the watch begins. That is not at once, because the end of an inotify
 * instance takes longer than a whole short run (some 15 ms).
 */
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

#include "../../common/limits.h"
#include "../launch/tree.h"
#include "../launch/uapi.h"
#include "../supervisor/child.h"
#include "../supervisor/thread.h"
#include "tripwireService.h"

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
	struct loop_timer begin;
	int inotify;
	struct watched *watched; /* as tw->places */
};

/* What a child finds and does; memory of both. */
struct round {
	const struct tripwires *tw;
	bool is_open[]; /* as tw->places: something there is not covered */
};

/* In the child: only system calls */

/* We wait for its server, so we must not be one who has the device open. */
static int enter(const struct tripwires *tw)
{
	if (close(tw->device) || setns(tw->sup->inside.user, CLONE_NEWUSER) ||
	    setns(tw->sup->inside.mount, CLONE_NEWNS))
		return -errno;
	return 0;
}

/* Those on our file system are covered, or all around them is. */
static int look_there(void *argument)
{
	struct round *round = argument;
	const struct tripwires *tw = round->tw;
	int err = enter(tw);

	for (size_t i = 0; !err && i < tw->sup->plan->mount_count; i++) {
		AUTO_CLOSE int place = -1;
		struct statx status;

		if (!tw->places[i].mount)
			continue;
		place = open_path(tw->places[i].mount->path);
		round->is_open[i] =
			place >= 0 &&
			statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0,
			      &status) == 0 &&
			makedev(status.stx_dev_major, status.stx_dev_minor) !=
				tw->number;
	}
	return err;
}

static void name_part(size_t index, char ret_name[PART_BYTES])
{
	(void)snprintf(ret_name, PART_BYTES, "%zu", index);
}

static int cover_there(void *argument)
{
	struct round *round = argument;
	const struct tripwires *tw = round->tw;
	char part[PART_BYTES];
	int err = enter(tw);

	for (size_t i = 0; !err && i < tw->sup->plan->mount_count; i++) {
		AUTO_CLOSE int place = -1;
		AUTO_CLOSE int tree = -1;

		if (!round->is_open[i])
			continue;
		name_part(i, part);
		place = open_path(tw->places[i].mount->path);
		tree = open_tree(tw->root, part,
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		/* It went or changed again: the next event tells. */
		if (place >= 0 && tree >= 0)
			(void)!attach_tree(tree, place);
	}
	return err;
}

/* In the supervisor, on the keeper's thread */

/* The kernel remembers what was at the place before. */
static void forget_part(const struct tripwires *tw, size_t index)
{
	struct fuse_notify_inval_entry_out what = { .parent = NODE_ROOT };
	struct fuse_out_header header = { .error = FUSE_NOTIFY_INVAL_ENTRY };
	char message[sizeof(header) + sizeof(what) + PART_BYTES];
	char *part = message + sizeof(header) + sizeof(what);

	name_part(index, part);
	what.namelen = (uint32_t)strnlen(part, PART_BYTES);
	header.len =
		(uint32_t)(sizeof(header) + sizeof(what) + what.namelen + 1);
	memcpy(message, &header, sizeof(header));
	memcpy(message + sizeof(header), &what, sizeof(what));
	/* ENOENT: it knows of none. */
	(void)!write(tw->device, message, header.len);
}

/* What could not be covered is looked at again with the next event. */
static void cover_open_places(const struct tripwires *tw)
{
	size_t count = tw->sup->plan->mount_count;
	struct round *round = allocate_shared(sizeof(*round) + count);
	bool any = false;

	if (!round)
		return;
	round->tw = tw;
	if (run_in_child(0, look_there, round) == 0)
		for (size_t i = 0; i < count; i++) {
			if (!round->is_open[i])
				continue;
			forget_part(tw, i);
			any = true;
		}
	if (any)
		(void)!run_in_child(0, cover_there, round);
	(void)munmap(round, sizeof(*round) + count);
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
	for (size_t i = 0; i < tw->sup->plan->mount_count; i++)
		if (tw->places[i].mount &&
		    concerns(&tw->keeper->watched[i], event, name))
			watch_place(tw, i);
}

static void follow_events(struct tripwires *tw)
{
	char events[EVENTS_BYTES];
	struct inotify_event event;
	ssize_t length;

	while ((length = RETRY(read(tw->keeper->inotify, events,
				    sizeof(events)))) > 0) {
		for (ssize_t at = 0; at < length;
		     at += (ssize_t)(sizeof(event) + event.len)) {
			memcpy(&event, events + at, sizeof(event));
			follow_event(tw, &event, events + at + sizeof(event));
		}
		cover_open_places(tw);
	}
}

static void *keep(void *argument)
{
	struct tripwires *tw = argument;

	tw->keeper->inotify = inotify_init1(IN_CLOEXEC);
	/* EMFILE: the user has none left; then it is looked at once. */
	for (size_t i = 0; i < tw->sup->plan->mount_count; i++)
		if (tw->places[i].mount && tw->keeper->inotify >= 0)
			watch_place(tw, i);
	cover_open_places(tw);
	if (tw->keeper->inotify >= 0)
		follow_events(tw);
	return NULL;
}

static void begin_keeping(void *owner)
{
	struct tripwires *tw = owner;

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
	if (!keeper->watched) {
		free(keeper);
		return -ENOMEM;
	}
	tw->keeper = keeper;
	keeper->begin =
		(struct loop_timer){ .due = begin_keeping, .owner = tw };
	loop_arm(&tw->sup->loop, &keeper->begin, TRIPWIRE_KEEP_MS);
	return 0;
}
