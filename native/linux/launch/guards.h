/*
 * Protection by mounts where nobody can judge calls: mounts of the plan that
 * are made only without a listener. That is known once the filter stands, and
 * the filter forbids what opens a path safely: so the places are opened
 * before, and covered after it.
 */
#pragma once

#include "plan.h"

/* Opened places, in the order of the plan. */
struct guards;

/* Before the filter. Dies when a place that is there cannot be opened. */
struct guards *open_guards(const struct plan *plan);

/*
 * Makes them read-only and enters the working directory anew, which may lie
 * below one. Needs capabilities over the mounts. Frees the guards; dies when
 * it fails.
 */
void apply_guards(const struct plan *plan, struct guards *guards);

/* Leaves the places as they are. */
void close_guards(struct guards *guards);
