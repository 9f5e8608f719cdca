/*
 * The unix sockets that this run has bound to a path. A run may connect to
 * these and to no other: a socket that a program of the host left in a folder
 * that is writable here is still the host's. Safe to be used by several
 * threads.
 */
#pragma once

#include <sys/stat.h>

#include "../../common/cordon.h"

struct bound_sockets;

MUST_CHECK int bound_open(struct bound_sockets **ret_bound);

/* Whether one more can be remembered; asked before it is bound. */
bool bound_has_room(struct bound_sockets *bound);

/* Remembers the file of a socket that was bound just now. */
MUST_CHECK int bound_add(struct bound_sockets *bound, int socket);

/* Whether that file is one of them. */
bool bound_has(struct bound_sockets *bound, const struct stat *file);
