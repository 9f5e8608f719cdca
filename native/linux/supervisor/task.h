/*
 * A task of the sandbox as /proc shows it to us. `thread` is a thread's id as
 * the host counts, like the one in a notification. Whoever uses what these
 * give asks call_is_alive() afterwards: the id may belong to another by then.
 */
#pragma once

#include <sys/types.h>

#include "../../common/cordon.h"
#include "../../common/limits.h"

/* Opens /proc/THREAD/NAME, close-on-exec: a descriptor, or -errno. */
MUST_CHECK int task_open(pid_t thread, const char *name, int flags);

/* The target of the link /proc/THREAD/NAME. */
MUST_CHECK int task_read_link(pid_t thread, const char *name,
			      char ret_target[PATH_BYTES_MAX]);

/* /proc/THREAD/status, whole and zero-terminated: proc_pid_status(5). */
enum { TASK_STATUS_BYTES_MAX = 4096 };
MUST_CHECK int task_read_status(pid_t thread,
				char ret_status[TASK_STATUS_BYTES_MAX]);

/* What such a text has after a field's name ("\nUmask:\t"), as a number. */
MUST_CHECK int task_status_number(const char *status, const char *field,
				  int base, unsigned long long *ret_number);

/* Of the thread, before Linux 6.9 of its process: pidfd_open(2). */
MUST_CHECK int task_open_pidfd(pid_t thread, int *ret_pidfd);

/* A duplicate of a descriptor, with everything shared: pidfd_getfd(2). */
MUST_CHECK int task_take_descriptor(pid_t thread, int fd, int *ret_fd);

/* Exactly that many bytes of its memory; -EFAULT. */
MUST_CHECK int task_read_memory(pid_t thread, uint64_t address, void *ret_bytes,
				size_t size);

/*
 * A zero-terminated string of at most `size` bytes with its zero. -EFAULT;
 * -ENAMETOOLONG: longer.
 */
MUST_CHECK int task_read_string(pid_t thread, uint64_t address,
				char *ret_string, size_t size);
