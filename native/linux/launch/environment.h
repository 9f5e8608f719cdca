/* The command's environment: what is inherited, less what the plan drops. */
#pragma once

#include "plan.h"

/*
 * The plan's `keep` wins over `drop`; then `set`. CORDON_BROKER never goes
 * in. *ret_environment and its strings live as long as the plan and
 * `inherited`; free the array alone.
 */
MUST_CHECK int build_environment(const struct plan *plan,
				 char *const *inherited,
				 struct json_arena *arena,
				 char ***ret_environment);
