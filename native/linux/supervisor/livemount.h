/*
 * Mounts that make a folder writable while its programs run, made and undone
 * in the sandbox's own mount namespace by a child that enters it. Before it
 * became read-only the top of what is cloned was the host's, so only that is
 * opened again: what is mounted below (masks, tripwires, other file systems)
 * is cloned with it as it is.
 *
 * A process whose directory lies below keeps the old, read-only mount until
 * it enters the folder anew.
 */
#pragma once

#include <sys/stat.h>

#include "supervisor.h"

/* Which file or folder it was, whatever its name leads to by now. */
struct identity {
	bool known;
	dev_t device;
	ino_t inode;
};

/* Of what a plain path leads to on the host; unknown when to nothing. */
struct identity identify(const char *path);

/* A mount of ours. unique: STATX_MNT_ID_UNIQUE; 0 before Linux 6.8. */
struct live_mount {
	unsigned id; /* as in mountinfo, proc_pid_mountinfo(5); 0: none */
	uint64_t unique;
};

/*
 * Makes the folder writable for the sandbox. *ret_mount has id 0 when no
 * mount was wanted: it is writable there, or a file, or a tripwire's, or
 * nothing is there (yet).
 * -ESTALE: the path leads elsewhere inside, or to another folder than judged.
 * -EROFS: the file system itself is read-only. May wait; not on the loop.
 */
MUST_CHECK int live_mount_attach(struct supervisor *sup, const char *path,
				 const struct identity *judged,
				 struct live_mount *ret_mount);

/*
 * Undoes exactly that mount. Whether a program still has a file or its
 * directory there; it then keeps what it has open, and nothing else.
 */
MUST_CHECK int live_mount_detach(struct supervisor *sup,
				 const struct live_mount *mount,
				 bool *ret_busy);
