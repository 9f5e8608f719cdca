/*
 * What is open to this run besides its mounts: the plan's own, and what
 * answers opened. Any thread may look; it is the last word for whoever judges
 * or performs a call.
 */
#pragma once

#include "livemount.h"

/* Before "go": the plan's own. */
MUST_CHECK int opens_start(struct supervisor *sup);
/*
 * Mounts those that want it. May wait for tripwires to be served, so not
 * before the loop runs, and not on it.
 */
void opens_mount_planned(struct supervisor *sup);
/* After the run, when nobody looks any more. */
void opens_finish(struct supervisor *sup);

/* Whether the plan mounts just this folder writable: it needs no mount of ours.
 */
bool is_writable_by_plan(const struct plan *plan, const char *path);

/* Whether an entry is the path or contains it. */
bool opens_cover(struct supervisor *sup, enum access access, const char *path);
/* The same for one entry that lies at or below `within`, and covers path. */
bool opens_cover_within(struct supervisor *sup, enum access access,
			const char *path, const char *within);

/*
 * 0 also when it is there already. A folder that is to be written and is
 * read-only inside is mounted first; `judged` is what was asked about. When
 * it fails nothing is open: opens_explain(). Waits; not on the loop.
 */
MUST_CHECK int opens_add(struct supervisor *sup, enum access access,
			 const char *path, const struct identity *judged);
/*
 * -ENOENT: it was not there. *ret_busy: a program still has part of it.
 * Anything else: it can still be reached by its mount.
 */
MUST_CHECK int opens_remove(struct supervisor *sup, enum access access,
			    const char *path, bool *ret_busy);

/* Why opens_add() failed, for a person. */
const char *opens_explain(int err);

/* Whether there is exactly that entry. */
bool opens_has(struct supervisor *sup, enum access access, const char *path);
/* What is to become of the entries but the plan's. */
struct opens_keeping {
	bool (*stays)(const struct open *open, void *of);
	/* Has been removed; err as of opens_remove(). */
	void (*removed)(const struct open *open, int err, bool busy, void *of);
	void *of;
};
void opens_keep(struct supervisor *sup, const struct opens_keeping *keeping);

/* Changes with each removal: what was let by under an older one is to be
 * looked at again. */
unsigned opens_generation(struct supervisor *sup);
