/* The maps of a user namespace, user_namespaces(7). Pure. */
#pragma once

#include "../../common/cordon.h"

/*
 * One number by the text of a uid_map, as whoever reads it counts. -EINVAL: it
 * is not mapped. In the sandbox's own namespace, which maps one number onto
 * itself, all the others stay what they are outside: the kernel is to say
 * EPERM to them.
 */
MUST_CHECK int translate_id(const char *map, unsigned *id);
