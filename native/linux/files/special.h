/*
 * What a path can lead to that depends on who uses it: the links of /proc,
 * the controlling terminal, FIFOs, and what is in /proc.
 */
#pragma once

#include <sys/stat.h>

#include "../../common/limits.h"
#include "../supervisor/notify.h"

/* Whether it lies in a file system of the type proc(5). */
bool is_proc(int fd);

/*
 * What /proc/self and /proc/thread-self are for the caller. -EINVAL: it is
 * neither of the two. `folder` is in a proc(5).
 */
MUST_CHECK int special_text(const struct call *call, int folder,
			    const char *name, char ret_text[PATH_BYTES_MAX]);

/* A link in a proc(5) whose text is a path like any other's. */
bool is_plain_proc_link(int folder, const char *name);

/*
 * Where a link in /proc/PID leads, O_PATH. is_own: PID is the caller's
 * process; whether any other's may be followed depends on the caller.
 */
MUST_CHECK int special_jump(const struct call *call, int folder,
			    const char *name, bool is_own);

/*
 * Opens a file of a proc(5) with the credentials of the caller, which the
 * kernel asks for when it is written to. A descriptor, or -errno.
 */
MUST_CHECK int open_proc_file(const struct call *call, int file, int flags);

/* The device of /dev/tty. */
bool is_terminal_alias(const struct stat *status);
/* The controlling terminal of the caller; -ENXIO: it has none. */
MUST_CHECK int open_own_terminal(const struct call *call, int flags);

/*
 * Waits until somebody reads that FIFO, as open(2) does. Not to be called with
 * any lock held. A descriptor; -ESRCH: the caller has gone.
 */
MUST_CHECK int open_fifo(const struct call *call, int fifo, int flags);

/* Opens the file of a descriptor anew, open(2) of /proc/self/fd/N. */
MUST_CHECK int reopen(int file, int flags);
