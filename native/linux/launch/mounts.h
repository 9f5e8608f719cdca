/* The sandbox's view of the file system. */
#pragma once

#include "plan.h"

struct view {
	const char *host_name; /* for /etc/hosts */
	bool owner_is_root;    /* user 0: /proc/sys would be writable */
	int terminal; /* a descriptor of the inherited terminal, or -1 */
	int control;  /* to the supervisor, for the tripwires' device */
};

/*
 * isolate_filesystem() - build the sandbox's view of the file system
 * Does:         everything in the plan's mounts but guards (guards.h), own /dev
 *               and /proc, resolver files, and the working directory in the
 *               new view
 * Must not yet: drop capabilities or add a filter: both would forbid mounting
 * Needs:        user, mount and pid namespaces; the checked plan
 * Tolerates:    ENOENT of a path to protect, pin or mask: nothing is there
 * Returns the gaps: GAP_PROC, GAP_FUSE; dies when anything else fails.
 */
int isolate_filesystem(const struct plan *plan, const struct view *view);
