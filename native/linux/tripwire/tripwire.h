/*
 * Closed places whose reads are asked for instead of refused ("tripwires").
 *
 * All tripwires of a run are one FUSE file system (fuse(4)), mounted in the
 * sandbox's own namespaces: below its root each place has a folder or a file,
 * and a clone of that covers the place. The supervisor answers its requests
 * from the host's real place. Names and metadata are free; a program that
 * opens a file waits until somebody has answered, and is then served
 * read-only from here. Nothing is mounted by a grant: it is an entry of
 * opens.h, so taking it back is at once.
 *
 * Nobody but the kernel speaks on the device. No request waits for another:
 * what needs an answer is an entry in a list, and the serving thread resolves
 * no path through the sandbox.
 */
#pragma once

#include "../../common/limits.h"
#include "../supervisor/supervisor.h"

/*
 * In the child, while it can mount: mounts the file system, hands its device
 * to the supervisor, and puts a detached tree for each tripwire into
 * trees[i] of plan->mounts[i]; -1: there is nothing at the path. -errno, with
 * no tree made: there can be no tripwires here.
 */
MUST_CHECK int tripwire_clone_trees(const struct plan *plan, int control,
				    int *trees);
/*
 * Moves the whole of it from where it hides /proc into a folder that nobody
 * sees: what appears at a place later is covered by a part of it.
 */
MUST_CHECK int tripwire_put_away(const struct plan *plan, int folder);

/* Tries to mount one; 0 or an errno. For --probe, in a child that ends. */
int tripwire_try(void);

/* The rest is the supervisor's. */

struct tripwires;

struct handed_device;

/*
 * Takes the device of the file system over. Before pid 1 makes itself
 * unreadable (init.c).
 */
MUST_CHECK int tripwire_start(struct supervisor *sup,
			      const struct handed_device *device);

/* Before there is a loop: waits until fd or a request is there, answers it. */
void tripwire_answer_until(struct supervisor *sup, int fd);

/* From the loop: a thread answers from the first request on. */
MUST_CHECK int tripwire_watch(struct supervisor *sup);

/*
 * After read grants were taken back: what was opened under them reads no
 * further, what the kernel kept of it is dropped, mappings included. From
 * any thread that holds no lock; waits for requests under way.
 */
void tripwire_revoked(struct supervisor *sup);

/*
 * The host's path of a file that an O_PATH descriptor refers to, wherever the
 * tripwire is mounted. -ENOENT: it is in none of ours. Not on the loop.
 */
MUST_CHECK int tripwire_host_path(struct supervisor *sup, int fd,
				  char ret_path[PATH_BYTES_MAX]);
