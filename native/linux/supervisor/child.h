/* What a child of the supervisor does in the sandbox's own namespaces. */
#pragma once

#include "../../common/cordon.h"

/*
 * Runs act(argument) in a child that shares with us what `flags` of clone(2)
 * say. It may make system calls only, since another thread may have held any
 * lock, and gives 0 or -errno (above -256), which is returned. Nobody inside
 * can attach to it.
 */
MUST_CHECK int run_in_child(unsigned long flags, int (*act)(void *argument),
			    void *argument);

/* Zeroed memory that a child shares, NULL and errno; for munmap(2). */
void *allocate_shared(size_t size);
