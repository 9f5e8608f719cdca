/*
 * Where a file is, as a path in the sandbox's own view: what rules and people
 * speak of. A nested sandbox has mounts of its own, in which a path may say
 * anything, so it is translated by what is mounted there.
 */
#pragma once

#include "../../common/limits.h"
#include "../supervisor/supervisor.h"

struct locations;

/* Before pid 1 cannot be looked at any more: its table of mounts. */
MUST_CHECK int locations_open(struct supervisor *sup,
			      struct locations **ret_locations);

/*
 * It lies in a file system that was made inside the run, or in none: it has no
 * path outside, and no rule is about it.
 */
enum { LOCATE_APART = 1 };

/*
 * The canonical path of an O_PATH descriptor that was resolved in the root of
 * `thread`. 0 with the path, LOCATE_APART, or -EACCES when it cannot be known.
 */
MUST_CHECK int locate(struct supervisor *sup, pid_t thread, int fd,
		      char ret_path[PATH_BYTES_MAX]);

/*
 * The same for one that came by a descriptor of the thread's: -EACCES also
 * when it lies on none of the sandbox's mounts, but on one of the host's.
 */
MUST_CHECK int locate_descriptor(struct supervisor *sup, pid_t thread, int fd,
				 char ret_path[PATH_BYTES_MAX]);

/* Whether a descriptor lies on one of the sandbox's own mounts. */
bool is_on_own_mount(struct supervisor *sup, int fd);
