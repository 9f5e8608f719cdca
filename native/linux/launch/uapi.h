/*
 * Kernel interfaces that Debian 12's headers lack, and the few system calls
 * without a wrapper in its C library. Nothing else.
 */
#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/types.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* seccomp_unotify(2), Linux 6.6: the target and we share one CPU. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS _IOW('!', 4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* pidfd_open(2), Linux 6.9: of a thread, not only of a whole process. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

/* Calls of Linux 6.6 to 6.17; their numbers are the same everywhere. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

/* statx(2), Linux 6.8: never used again for another mount. */
#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U
#endif

/* landlock(7), ABI 6. */
#ifndef LANDLOCK_SCOPE_SIGNAL
#define LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0)
#define LANDLOCK_SCOPE_SIGNAL (1ULL << 1)
#endif

struct landlock_ruleset_v6 {
	__u64 handled_access_fs;
	__u64 handled_access_net;
	__u64 scoped;
};

/*
 * A path of the plan: no component of it may be a symbolic link (ELOOP).
 * Without O_NOFOLLOW, which would open the link itself (open(2), O_PATH).
 * Where a filter hides openat2(2) it goes component by component: tree.c.
 */
int open_plain(int directory, const char *path, int flags);
