/*
 * What is open to this run besides its mounts: the plan's own, and what
 * answers opened. Any thread may look; it is the last word for whoever judges
 * or performs a call.
 */
#pragma once

#include "supervisor.h"

/* Before "go": the plan's own. */
MUST_CHECK int opens_start(struct supervisor *sup);
/* After the run, when nobody looks any more. */
void opens_finish(struct supervisor *sup);

/* Whether an entry is the path or contains it. */
bool opens_cover(struct supervisor *sup, enum access access, const char *path);
/* The same for one entry that lies at or below `within`, and covers path. */
bool opens_cover_within(struct supervisor *sup, enum access access,
			const char *path, const char *within);

/* 0 also when it is there already. -ENOSPC: over OPENS_MAX. */
MUST_CHECK int opens_add(struct supervisor *sup, enum access access,
			 const char *path);
/* -ENOENT: it was not there. *ret_busy: a program still has part of it. */
MUST_CHECK int opens_remove(struct supervisor *sup, enum access access,
			    const char *path, bool *ret_busy);

/* Why opens_add() failed, as a sentence. */
const char *opens_explain(int err);

/* Whether there is exactly that entry. */
bool opens_has(struct supervisor *sup, enum access access, const char *path);
/* Removes what is neither the plan's nor stays. */
void opens_keep(struct supervisor *sup,
		bool (*stays)(const struct open *open, const void *of),
		const void *of);

/* Changes with each removal: what was let by under an older one is to be
 * looked at again. */
unsigned opens_generation(struct supervisor *sup);
