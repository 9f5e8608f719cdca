/*
 * The system call filter, see seccomp.h.
 *
 * Each call number has a rule; neighbours with the same rule form a range,
 * and the program is a binary tree over the ranges. That keeps it short to
 * run for each of the ~470 numbers, which the kernel does once at
 * installation to learn what is always allowed; those calls then never run
 * it (seccomp_cache_prepare() in kernel/seccomp.c).
 *
 * Arguments are compared on their low 32 bits where the kernel ignores the
 * rest. Strings and structures cannot be seen here: what depends on them is
 * held (connect, bind, all that changes files) or enforced by mounts and the
 * network namespace.
 */
#include "seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "uapi.h"

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#error "no system call table for this architecture"
#endif

/*
 * The last number we know, Linux 6.17 (file_setattr). What comes later has
 * not been looked at and is ENOSYS; so are the x32 calls (from 0x40000000).
 */
enum { LAST_CALL = 469 };

enum rule_kind {
	ALLOW,
	REFUSE, /* EPERM */
	ABSENT, /* ENOSYS: callers fall back to something else */
	HOLD,
	CHECK_IOCTL,
	CHECK_SOCKET,
	HOLD_SOCKET, /* its form with notifications: some are held */
	CHECK_SOCKETPAIR,
	CHECK_SENDTO,
	CHECK_SENDMSG,
	CHECK_SENDMMSG,
	CHECK_SETSOCKOPT,
	HOLD_OPEN, /* for writing or creating; the flags are an argument */
	HOLD_OPENAT,
	HOLD_TIMES,  /* with a path */
	CHECK_MOUNT, /* its form without notifications; with them it is held */
};

static const struct {
	short call;
	unsigned char rule;
} rules[] = {
	{ SYS_connect, HOLD },
	{ SYS_bind, HOLD },
	{ SYS_listen, HOLD },

	/*
	 * What changes something by path is performed by the supervisor
	 * (files.h). Also by descriptor: one that was opened for reading is
	 * enough to make a hook executable.
	 */
	{ SYS_openat, HOLD_OPENAT },
	{ SYS_mkdirat, HOLD },
	{ SYS_unlinkat, HOLD },
	{ SYS_renameat, HOLD },
	{ SYS_renameat2, HOLD },
	{ SYS_linkat, HOLD },
	{ SYS_symlinkat, HOLD },
	{ SYS_mknodat, HOLD },
	{ SYS_truncate, HOLD },
	{ SYS_fchmod, HOLD },
	{ SYS_fchmodat, HOLD },
	{ SYS_fchmodat2, HOLD },
	{ SYS_fchown, HOLD },
	{ SYS_fchownat, HOLD },
	{ SYS_utimensat, HOLD_TIMES },
	{ SYS_setxattr, HOLD },
	{ SYS_lsetxattr, HOLD },
	{ SYS_fsetxattr, HOLD },
	{ SYS_setxattrat, HOLD },
	{ SYS_removexattr, HOLD },
	{ SYS_lremovexattr, HOLD },
	{ SYS_fremovexattr, HOLD },
	{ SYS_removexattrat, HOLD },
	{ SYS_umask, HOLD },
#if defined(__x86_64__)
	{ SYS_open, HOLD_OPEN },
	{ SYS_creat, HOLD },
	{ SYS_mkdir, HOLD },
	{ SYS_rmdir, HOLD },
	{ SYS_unlink, HOLD },
	{ SYS_rename, HOLD },
	{ SYS_link, HOLD },
	{ SYS_symlink, HOLD },
	{ SYS_mknod, HOLD },
	{ SYS_chmod, HOLD },
	{ SYS_chown, HOLD },
	{ SYS_lchown, HOLD },
	{ SYS_utime, HOLD },
	{ SYS_utimes, HOLD },
	{ SYS_futimesat, HOLD_TIMES },
#endif
	/*
	 * Another view of the files, nesting.h. What makes new file systems
	 * step by step is absent: programs fall back to mount(2).
	 */
	{ SYS_mount, CHECK_MOUNT },
	{ SYS_chroot, HOLD },
	{ SYS_pivot_root, HOLD },
	{ SYS_umount2, HOLD },
	{ SYS_setns, HOLD },
	{ SYS_move_mount, HOLD },
	{ SYS_open_tree, HOLD },
	{ SYS_open_tree_attr, HOLD },
	{ SYS_mount_setattr, HOLD },
	{ SYS_fsopen, ABSENT },
	{ SYS_fspick, ABSENT },

	/* Their flags are in memory, where they change after we looked. */
	{ SYS_openat2, ABSENT },
	{ SYS_file_setattr, ABSENT },

	{ SYS_ioctl, CHECK_IOCTL },
	{ SYS_socket, CHECK_SOCKET },
	{ SYS_socketpair, CHECK_SOCKETPAIR },
	{ SYS_sendto, CHECK_SENDTO },
	{ SYS_sendmsg, CHECK_SENDMSG },
	{ SYS_sendmmsg, CHECK_SENDMMSG },
	{ SYS_setsockopt, CHECK_SETSOCKOPT },

	/* Does files and sockets past this filter. */
	{ SYS_io_uring_setup, ABSENT },
	{ SYS_io_uring_enter, ABSENT },
	{ SYS_io_uring_register, ABSENT },

	/* Not namespaced, or of use to attacks on the kernel only. */
	{ SYS_keyctl, REFUSE },
	{ SYS_add_key, REFUSE },
	{ SYS_request_key, REFUSE },
	{ SYS_bpf, REFUSE },
	{ SYS_perf_event_open, REFUSE },
	{ SYS_userfaultfd, REFUSE },
	{ SYS_kexec_load, REFUSE },
	{ SYS_kexec_file_load, REFUSE },
	{ SYS_init_module, REFUSE },
	{ SYS_finit_module, REFUSE },
	{ SYS_delete_module, REFUSE },
	{ SYS_reboot, REFUSE },
	{ SYS_swapon, REFUSE },
	{ SYS_swapoff, REFUSE },
	{ SYS_acct, REFUSE },
	{ SYS_settimeofday, REFUSE },
	{ SYS_clock_settime, REFUSE },
	{ SYS_clock_adjtime, REFUSE },
	{ SYS_quotactl, REFUSE },
	{ SYS_quotactl_fd, REFUSE },
	{ SYS_open_by_handle_at, REFUSE },
	{ SYS_fanotify_init, REFUSE },
	{ SYS_lookup_dcookie, REFUSE },
	{ SYS_vhangup, REFUSE },
	{ SYS_syslog, REFUSE },
#if defined(__x86_64__)
	{ SYS_iopl, REFUSE },
	{ SYS_ioperm, REFUSE },
#endif
};

/* Emitting instructions */

static int emit(struct filter *f, struct sock_filter instruction)
{
	if (f->length == FILTER_MAX)
		return -E2BIG;
	f->code[f->length++] = instruction;
	return 0;
}

#define LOAD(field)                                             \
	((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
				      offsetof(struct seccomp_data, field)))
/* The low half; both our systems are little endian. */
#define LOAD_ARGUMENT(n) LOAD(args[n])
#define LOAD_ARGUMENT_HIGH(n)                                                  \
	((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                \
				      offsetof(struct seccomp_data, args[n]) + \
					      4))
#define MASK(k) ((struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, k))
#define GIVE(k) ((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, k))
#define GIVE_ERRNO(err) GIVE(SECCOMP_RET_ERRNO | (err))
#define GIVE_ALLOW GIVE(SECCOMP_RET_ALLOW)
/* Skips `yes` instructions when it holds, else `no`. */
#define IF_EQUAL(k, yes, no) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no))
#define IF_ANY_BIT(k, yes, no) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, k, yes, no))
#define IF_AT_LEAST(k, yes, no) \
	((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, k, yes, no))
#define SKIP(k) ((struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, k))

static int emit_all(struct filter *f, const struct sock_filter *code,
		    size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = emit(f, code[i]);
	return err;
}

#define EMIT(f, ...)                                                   \
	emit_all(f, (const struct sock_filter[]){ __VA_ARGS__ },       \
		 sizeof((const struct sock_filter[]){ __VA_ARGS__ }) / \
			 sizeof(struct sock_filter))

/*
 * Typing into the terminal that we share (tty_ioctl(4)). Only the low half
 * of the request counts for the kernel.
 */
static int emit_ioctl(struct filter *f)
{
	return EMIT(f, LOAD_ARGUMENT(1), IF_EQUAL(TIOCSTI, 1, 0),
		    IF_EQUAL(TIOCLINUX, 0, 1), GIVE_ERRNO(EPERM), GIVE_ALLOW);
}

/*
 * Unix datagram sockets could be sent to any socket of the host by path, in
 * a structure we cannot see. Other families than these are not isolated by
 * the network namespace (vsock), or nobody needs them here.
 */
static int emit_socket(struct filter *f, bool pair, bool hold)
{
	enum { TYPE_MASK = 0xf }; /* SOCK_TYPE_MASK in linux/net.h */
	int err = EMIT(f, LOAD_ARGUMENT(0), IF_EQUAL(AF_UNIX, 0, 6),
		       LOAD_ARGUMENT(1), MASK(TYPE_MASK),
		       IF_EQUAL(SOCK_DGRAM, 1, 0), IF_EQUAL(SOCK_RAW, 0, 1),
		       GIVE_ERRNO(EPROTONOSUPPORT), GIVE_ALLOW);

	if (err || pair)
		return err ? err : EMIT(f, GIVE_ERRNO(EAFNOSUPPORT));
	err = EMIT(f, IF_EQUAL(AF_INET, 6, 0), IF_EQUAL(AF_INET6, 5, 0),
		   IF_EQUAL(AF_NETLINK, 0, 3), LOAD_ARGUMENT(2),
		   IF_EQUAL(NETLINK_ROUTE, 0, 1), GIVE_ALLOW,
		   GIVE_ERRNO(EAFNOSUPPORT));
	/* It can send without a connect or bind that tells us of it. */
	if (!err && hold)
		err = EMIT(f, LOAD_ARGUMENT(1), MASK(TYPE_MASK),
			   IF_EQUAL(SOCK_DGRAM, 0, 1),
			   GIVE(SECCOMP_RET_USER_NOTIF));
	return err ? err : EMIT(f, GIVE_ALLOW);
}

/* A connect inside a send: callers fall back to a real one, tcp(7). */
static int emit_send(struct filter *f, struct sock_filter load_flags)
{
	return EMIT(f, load_flags, IF_ANY_BIT(MSG_FASTOPEN, 0, 1),
		    GIVE_ERRNO(EOPNOTSUPP), GIVE_ALLOW);
}

static int emit_setsockopt(struct filter *f)
{
	return EMIT(f, LOAD_ARGUMENT(1), IF_EQUAL(IPPROTO_TCP, 0, 3),
		    LOAD_ARGUMENT(2), IF_EQUAL(TCP_FASTOPEN_CONNECT, 0, 1),
		    GIVE_ERRNO(EOPNOTSUPP), GIVE_ALLOW);
}

/*
 * open(2) ignores the high half of its flags. With O_PATH it ignores all flags
 * that could change something.
 */
static int emit_open(struct filter *f, struct sock_filter load_flags)
{
	static const unsigned changing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC |
					 (O_TMPFILE & ~O_DIRECTORY);

	return EMIT(f, load_flags, IF_ANY_BIT(O_PATH, 1, 0),
		    IF_ANY_BIT(changing, 1, 0), GIVE_ALLOW,
		    GIVE(SECCOMP_RET_USER_NOTIF));
}

/*
 * Without a path the times of a descriptor are set: whether that may be is the
 * mount's to say, and there is nothing in memory that could change.
 */
static int emit_times(struct filter *f)
{
	return EMIT(f, LOAD_ARGUMENT(1), IF_EQUAL(0, 0, 3),
		    LOAD_ARGUMENT_HIGH(1), IF_EQUAL(0, 0, 1), GIVE_ALLOW,
		    GIVE(SECCOMP_RET_USER_NOTIF));
}

/*
 * Nobody could tell an overlay, which writes round other mounts, from a tmpfs:
 * only what moves or covers old ones is let by. With the mark of programs of
 * before Linux 2.4 the high bits are no flags, path_mount() in fs/namespace.c.
 */
static int emit_mount(struct filter *f)
{
	static const unsigned low = MS_REMOUNT | MS_BIND | MS_MOVE;
	static const unsigned high =
		MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;

	return EMIT(f, LOAD_ARGUMENT(3), MASK(MS_MGC_MSK),
		    IF_EQUAL(MS_MGC_VAL, 0, 2), LOAD_ARGUMENT(3),
		    IF_ANY_BIT(low, 3, 2), LOAD_ARGUMENT(3),
		    IF_ANY_BIT(low | high, 1, 0), GIVE_ERRNO(EPERM),
		    GIVE_ALLOW);
}

static int emit_rule(struct filter *f, enum rule_kind rule)
{
	switch (rule) {
	case ALLOW:
		return EMIT(f, GIVE_ALLOW);
	case REFUSE:
		return EMIT(f, GIVE_ERRNO(EPERM));
	case ABSENT:
		return EMIT(f, GIVE_ERRNO(ENOSYS));
	case HOLD:
		return EMIT(f, GIVE(SECCOMP_RET_USER_NOTIF));
	case CHECK_IOCTL:
		return emit_ioctl(f);
	case CHECK_SOCKET:
		return emit_socket(f, false, false);
	case HOLD_SOCKET:
		return emit_socket(f, false, true);
	case CHECK_SOCKETPAIR:
		return emit_socket(f, true, false);
	case CHECK_SENDTO:
	case CHECK_SENDMMSG:
		return emit_send(f, LOAD_ARGUMENT(3));
	case CHECK_SENDMSG:
		return emit_send(f, LOAD_ARGUMENT(2));
	case CHECK_SETSOCKOPT:
		return emit_setsockopt(f);
	case HOLD_OPEN:
		return emit_open(f, LOAD_ARGUMENT(1));
	case HOLD_OPENAT:
		return emit_open(f, LOAD_ARGUMENT(2));
	case HOLD_TIMES:
		return emit_times(f);
	case CHECK_MOUNT:
		return emit_mount(f);
	}
	return -EINVAL;
}

/* The tree */

struct range {
	unsigned first; /* call number; it ends where the next one begins */
	enum rule_kind rule;
};

static int emit_tree(struct filter *f, const struct range *ranges, size_t count)
{
	size_t half = count / 2;
	unsigned short fork = f->length;
	size_t left;
	int err;

	if (count == 1)
		return emit_rule(f, ranges->rule);
	err = EMIT(f, IF_AT_LEAST(ranges[half].first, 0, 1), SKIP(0));
	if (!err)
		err = emit_tree(f, ranges, half);
	if (err)
		return err;
	left = (size_t)f->length - fork - 2;
	if (left <= UINT8_MAX) {
		/* Near enough for the condition's own 8 bits: no SKIP. */
		memmove(&f->code[fork + 1], &f->code[fork + 2],
			left * sizeof(f->code[0]));
		f->length--;
		f->code[fork].jt = (unsigned char)left;
		f->code[fork].jf = 0;
	} else {
		f->code[fork + 1].k = (unsigned)left;
	}
	return emit_tree(f, ranges + half, count - half);
}

static bool is_holding(enum rule_kind rule)
{
	return rule == HOLD || rule == HOLD_OPEN || rule == HOLD_OPENAT ||
	       rule == HOLD_TIMES;
}

/* The call that is made most often does not go through the tree. */
static int emit_first(struct filter *f, bool notify)
{
	int err = EMIT(f, LOAD(arch), IF_EQUAL(THIS_ARCH, 1, 0),
		       GIVE(SECCOMP_RET_KILL_PROCESS), LOAD(nr));
	enum { OPEN_LENGTH = 5 }; /* of emit_open() */

	if (!err && notify)
		err = EMIT(f, IF_EQUAL(SYS_openat, 0, OPEN_LENGTH));
	if (!err && notify)
		err = emit_rule(f, HOLD_OPENAT);
	return err;
}

int build_filter(struct filter *f, bool notify)
{
	unsigned char rule_of[LAST_CALL + 2] = { [0 ... LAST_CALL] = ALLOW,
						 [LAST_CALL + 1] = ABSENT };
	struct range ranges[2 * ARRAY_SIZE(rules) + 2] = { { 0 } };
	size_t count = 0;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (notify || !is_holding((enum rule_kind)rules[i].rule))
			rule_of[rules[i].call] = rules[i].rule;
	if (notify) {
		rule_of[SYS_socket] = HOLD_SOCKET;
		rule_of[SYS_mount] = HOLD;
	}
	for (unsigned call = 0; call < ARRAY_SIZE(rule_of); call++) {
		enum rule_kind rule = (enum rule_kind)rule_of[call];

		if (count == 0 || ranges[count - 1].rule != rule)
			ranges[count++] = (struct range){ call, rule };
	}
	f->length = 0;
	err = emit_first(f, notify);
	if (err)
		return err;
	return emit_tree(f, ranges, count);
}

/* The system call */

static int set_filter(const struct filter *f, unsigned long flags)
{
	struct sock_fprog program = {
		.len = f->length,
		.filter = (struct sock_filter *)(uintptr_t)f->code,
	};
	long result =
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	return result < 0 ? -errno : (int)result;
}

int install_filter(int *ret_listener)
{
	unsigned long sync = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
	struct filter filter;
	int listener, err;

	err = build_filter(&filter, true);
	if (err)
		return err;
	/*
	 * Killable: else a signal gives EINTR to the program, or asks the
	 * same question again and again (seccomp_unotify(2), Linux 5.19).
	 */
	listener = set_filter(&filter,
			      SECCOMP_FILTER_FLAG_NEW_LISTENER |
				      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	if (listener >= 0) {
		/* Before Linux 6.6 it is only slower. */
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, sync);
		*ret_listener = listener;
		return 0;
	}
	/* One listener in a chain of filters: we are in another sandbox. */
	if (listener != -EBUSY)
		return listener;
	err = build_filter(&filter, false);
	if (!err)
		err = set_filter(&filter, 0);
	if (!err)
		*ret_listener = -1;
	return err;
}
