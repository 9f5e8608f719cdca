/*
 * The calls themselves, made by us in the place of the caller: on a folder and
 * one component in it, or on a descriptor. No path is looked up here, so
 * nothing can lead elsewhere than what was judged.
 */
#pragma once

#include "filecall.h"
#include "resolve.h"

/* Where a call acts. */
struct places {
	struct place at;   /* what is made, changed or removed */
	struct place from; /* rename, link: what it was */
};

/*
 * open(2): the descriptor, never of a folder, and without waiting for anything
 * (-ENXIO for a FIFO that nobody reads, -EAGAIN for a file under a lease).
 * -ELOOP: its last component is a symbolic link. The thread has the caller's
 * umask.
 */
MUST_CHECK int perform_open(const struct file_call *file, int flags,
			    const struct place *at);

/* All the others: 0 or -errno. */
MUST_CHECK int perform(const struct call *call, const struct file_call *file,
		       struct places *places);

/*
 * rename(2) and link(2) of what was judged by its content: a fresh file with
 * these bytes comes to stand there instead, since somebody may have the
 * caller's own open for writing.
 */
MUST_CHECK int perform_with_content(const struct file_call *file,
				    const struct places *places, int content);
