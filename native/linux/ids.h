/* User and group numbers of a caller in a user namespace of its own. */
#pragma once

#include "notify.h"

/*
 * Into ours, as the kernel does for chown(2); -1 stays -1. -EINVAL: a number
 * that its namespace does not map.
 */
MUST_CHECK int translate_ids(const struct call *call, uid_t *user,
			     gid_t *group);

/*
 * One number by the text of a uid_map, user_namespaces(7). Pure. In the
 * sandbox's own namespace, which maps one number onto itself, all the others
 * stay what they are outside: the kernel is to say EPERM to them.
 */
MUST_CHECK int translate_id(char *map, unsigned *id);
