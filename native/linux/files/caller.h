/*
 * The caller of a held call, as far as the performing of it depends on the
 * task: where its paths begin, and its umask.
 */
#pragma once

#include <sys/stat.h>

#include "../supervisor/notify.h"

/* What is known about the umasks of the run's tasks; one for a supervisor. */
struct umasks;
/* Before "go": every task begins with ours. */
MUST_CHECK int umasks_open(struct umasks **ret_umasks);

/*
 * umask(2), held: it is continued, since it has no argument that could be
 * exchanged, and its effect is waited for. CALL_ANSWERED.
 */
MUST_CHECK int answer_umask(struct umasks *umasks, const struct call *call);

/* Makes the caller's umask this thread's own. */
MUST_CHECK int take_umask(struct umasks *umasks, const struct call *call);

/*
 * The caller's "/" as an O_PATH descriptor: the sandbox's own, borrowed, as
 * long as nobody inside can have another; else opened anew, in *ret_owned.
 */
MUST_CHECK int caller_root(const struct call *call, int *ret_owned);

/*
 * Where a relative path begins, O_PATH: the caller's working directory for
 * AT_FDCWD, else its descriptor. EBADF, ENOTDIR, as openat(2).
 */
MUST_CHECK int caller_directory(const struct call *call, int directory);

/* The file of a descriptor of the caller's, O_PATH; AT_FDCWD as above. */
MUST_CHECK int caller_file(const struct call *call, int fd);
