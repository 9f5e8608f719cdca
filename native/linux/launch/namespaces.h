/* Making the sandbox's namespaces, and saying why that is impossible. */
#pragma once

#include <sys/types.h>

#include "../../common/cordon.h"

/*
 * Clones this process into new user, mount, pid, network, ipc and uts
 * namespaces. Returns like fork(2): the pid, 0 in the child, -errno.
 */
MUST_CHECK pid_t clone_into_namespaces(int *ret_pidfd);

/* In the child: the same user and group ids inside as outside. */
MUST_CHECK int map_identity(uid_t user, gid_t group);

/*
 * Why that err came, as a sentence with the way out where there is one.
 * unmapped_root: it came from map_identity() for user 0.
 */
const char *explain_namespaces(int err, bool unmapped_root);

/* Ends the launcher with the reason and the way out. */
_Noreturn void die_without_namespaces(int err, bool unmapped_root);
