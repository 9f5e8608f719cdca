/* Walking along a path one component at a time, for resolve.c. */
#pragma once

#include "../../common/limits.h"
#include "../supervisor/notify.h"

/* What was met on the way. */
struct steps {
	unsigned links; /* symbolic links, over several walks */
	/*
	 * It went through a descriptor (also by /proc/PID/fd): the end may lie
	 * on a mount that is not the caller's.
	 */
	bool by_descriptor;
	bool in_own; /* the end is /proc/PID of the caller, or below */
};

/*
 * From the folder `start` (taken over) along `path`, relative or absolute, to
 * a folder. A descriptor, or -errno.
 */
MUST_CHECK int walk(const struct call *call, int start, const char *path,
		    struct steps *steps);

enum { LINKS_MAX = 40 }; /* MAXSYMLINKS, path_resolution(7) */
