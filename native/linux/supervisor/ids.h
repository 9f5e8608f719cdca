/* User and group numbers of a caller in a user namespace of its own. */
#pragma once

#include "notify.h"

/*
 * Into ours, as the kernel does for chown(2); -1 stays -1. -EINVAL: a number
 * that its namespace does not map.
 */
MUST_CHECK int translate_ids(const struct call *call, uid_t *user,
			     gid_t *group);
