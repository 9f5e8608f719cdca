/*
 * A child of ours that becomes like the caller of a held call, for what
 * depends on who acts and not only on what is named: in its user namespace,
 * with its capabilities there and no other; on demand also in its mount
 * namespace, root, directory and with its umask, and in its other namespaces.
 */
#pragma once

#include "../supervisor/notify.h"

enum enter_where {
	ENTER_USER,   /* only the user namespace and capabilities */
	ENTER_MOUNTS, /* its view of the file system as well */
	/* All of it; children of the child are in the pid namespace, too. */
	ENTER_NAMESPACES,
};

/*
 * Runs act(argument) in the child, which shares our descriptors and nothing
 * else. It may only make system calls, and gives 0 or -errno (above -256),
 * which is returned. -ESRCH: the caller is gone.
 */
MUST_CHECK int act_as_caller(const struct call *call, enum enter_where where,
			     int (*act)(void *argument), void *argument);
