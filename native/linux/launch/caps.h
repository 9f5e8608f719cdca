/* Capabilities: everything goes, for good. */
#pragma once

#include "../../common/cordon.h"

/*
 * Drops the bounding, ambient and all other sets and sets no_new_privs.
 * Works as well when some or all of that was the case before.
 */
MUST_CHECK int drop_privileges(void);

/*
 * Of this thread only. A supervisor that root runs acts for callers that have
 * none; over the sandbox's own user namespace it needs none, since it made it.
 */
MUST_CHECK int drop_own_capabilities(void);
