/*
 * Sandboxes inside ours. Whoever makes namespaces of their own may mount
 * there, which no rule about paths would see through: an overlay writes into
 * a folder without going along its path. So new file systems are made by us,
 * and only of the types that lead nowhere; what moves or covers existing ones
 * the kernel may do.
 */
#pragma once

#include "notify.h"

/* Whether the call may give a task another view than the sandbox's own. */
bool is_nesting_call(const struct call *call);

/* What it is to return, or CALL_ANSWERED. */
MUST_CHECK int answer_nesting_call(const struct call *call);
