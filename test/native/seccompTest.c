/* seccomp.c: the filter, run on calls by an interpreter of what it uses. */
#include "linux/launch/seccomp.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "linux/launch/uapi.h"

#include "check.h"

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

static struct filter filter;
static unsigned longest;

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t word;

	if (offset > sizeof(*data) - sizeof(word))
		exit(1);
	memcpy(&word, (const char *)data + offset, sizeof(word));
	return word;
}

/* Classic BPF, linux/filter.h; anything else ends the test. */
static uint32_t run(const struct seccomp_data *data)
{
	uint32_t a = 0;
	unsigned steps = 0;

	for (unsigned pc = 0; pc < filter.length; pc++) {
		const struct sock_filter *i = &filter.code[pc];

		steps++;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			a = load(data, i->k);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += a & i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			longest = steps > longest ? steps : longest;
			return i->k;
		default:
			exit(1);
		}
	}
	exit(1); /* fell off the end */
}

/* A call number may be one that no kernel has. */
static uint32_t call(long nr, uint64_t a0, uint64_t a1, uint64_t a2,
		     uint64_t a3)
{
	struct seccomp_data data = { .nr = (int)nr,
				     .arch = ARCH,
				     .args = { a0, a1, a2, a3 } };

	return run(&data);
}

enum {
	ALLOWED = SECCOMP_RET_ALLOW,
	HELD = SECCOMP_RET_USER_NOTIF,
};

static uint32_t failed(int err)
{
	return SECCOMP_RET_ERRNO | (uint32_t)err;
}

static void build(bool notify)
{
	if (build_filter(&filter, notify)) {
		printf("# the filter does not fit\n");
		exit(1);
	}
}

static void holds_connect_and_bind(void)
{
	build(true);
	CHECK(call(SYS_connect, 0, 0, 0, 0) == HELD);
	CHECK(call(SYS_bind, 0, 0, 0, 0) == HELD);
	CHECK(call(SYS_listen, 0, 0, 0, 0) == HELD);
	CHECK(call(SYS_socket, AF_INET, SOCK_DGRAM, 0, 0) == HELD);
	build(false);
	CHECK(call(SYS_connect, 0, 0, 0, 0) == ALLOWED);
	CHECK(call(SYS_bind, 0, 0, 0, 0) == ALLOWED);
	CHECK(call(SYS_listen, 0, 0, 0, 0) == ALLOWED);
	CHECK(call(SYS_socket, AF_INET, SOCK_DGRAM, 0, 0) == ALLOWED);
}

/* Low halves of the flags of open(2), and whether they change anything. */
static void holds_opens_that_change(void)
{
	static const uint64_t high = 0xffffffffULL << 32;
	static const unsigned changing[] = {
		O_WRONLY,
		O_RDWR,
		O_WRONLY | O_RDWR,
		O_CREAT,
		O_TRUNC,
		O_WRONLY | O_CREAT | O_EXCL,
		O_TMPFILE & ~O_DIRECTORY,
		O_TMPFILE | O_RDWR,
	};
	static const unsigned reading[] = {
		O_RDONLY,
		O_DIRECTORY,
		O_APPEND | O_CLOEXEC,
		O_NOFOLLOW | O_NONBLOCK | O_EXCL,
		O_PATH,
		O_PATH | O_RDWR | O_CREAT | O_TRUNC,
	};

	build(true);
	for (size_t i = 0; i < ARRAY_SIZE(changing); i++) {
		CHECK(call(SYS_openat, 0, 0, changing[i], 0) == HELD);
		CHECK(call(SYS_openat, 0, 0, high | changing[i], 0) == HELD);
#if defined(__x86_64__)
		CHECK(call(SYS_open, 0, changing[i], 0, 0) == HELD);
#endif
	}
	for (size_t i = 0; i < ARRAY_SIZE(reading); i++) {
		CHECK(call(SYS_openat, 0, 0, reading[i], 0) == ALLOWED);
		CHECK(call(SYS_openat, 0, 0, high | reading[i], 0) == ALLOWED);
#if defined(__x86_64__)
		CHECK(call(SYS_open, 0, reading[i], ~0U, 0) == ALLOWED);
#endif
	}
	CHECK(call(SYS_openat2, 0, 0, 0, 0) == failed(ENOSYS));
	build(false);
	CHECK(call(SYS_openat, 0, 0, O_RDWR | O_CREAT, 0) == ALLOWED);
	CHECK(call(SYS_openat2, 0, 0, 0, 0) == failed(ENOSYS));
}

/* Calls that are held whatever their arguments are. */
static const short held[] = {
	SYS_mkdirat,	   SYS_unlinkat,     SYS_renameat,
	SYS_renameat2,	   SYS_linkat,	     SYS_symlinkat,
	SYS_mknodat,	   SYS_truncate,     SYS_fchmod,
	SYS_fchmodat,	   SYS_fchmodat2,    SYS_fchown,
	SYS_fchownat,	   SYS_setxattr,     SYS_lsetxattr,
	SYS_fsetxattr,	   SYS_setxattrat,   SYS_removexattr,
	SYS_lremovexattr,  SYS_fremovexattr, SYS_removexattrat,
	SYS_umask,	   SYS_mount,	     SYS_chroot,
	SYS_pivot_root,	   SYS_umount2,	     SYS_setns,
	SYS_move_mount,	   SYS_open_tree,    SYS_open_tree_attr,
	SYS_mount_setattr,
#if defined(__x86_64__)
	SYS_creat,	   SYS_mkdir,	     SYS_rmdir,
	SYS_unlink,	   SYS_rename,	     SYS_link,
	SYS_symlink,	   SYS_mknod,	     SYS_chmod,
	SYS_chown,	   SYS_lchown,	     SYS_utime,
	SYS_utimes,
#endif
};

static bool is_held(long nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		if (held[i] == nr)
			return true;
	return false;
}

static void holds_times_of_paths(void)
{
	build(true);
	CHECK(call(SYS_utimensat, 3, 0, 0, 0) == ALLOWED);
	CHECK(call(SYS_utimensat, 3, 0x1000, 0, 0) == HELD);
	CHECK(call(SYS_utimensat, 3, 1ULL << 32, 0, 0) == HELD);
#if defined(__x86_64__)
	CHECK(call(SYS_futimesat, 3, 0, 0, 0) == ALLOWED);
	CHECK(call(SYS_futimesat, 3, 1ULL << 40, 0, 0) == HELD);
#endif
	build(false);
	CHECK(call(SYS_utimensat, 3, 0x1000, 0, 0) == ALLOWED);
}

static void refuses_new_file_systems(void)
{
	static const uint64_t old[] = {
		MS_BIND,   MS_BIND | MS_REC, MS_REMOUNT,
		MS_MOVE,   MS_PRIVATE,	     MS_SLAVE,
		MS_SHARED, MS_UNBINDABLE,    MS_MGC_VAL | MS_BIND
	};
	static const uint64_t new[] = { 0, MS_NOSUID | MS_NODEV | MS_RDONLY,
					MS_MGC_VAL, 1ULL << 44 };

	build(false);
	for (size_t i = 0; i < ARRAY_SIZE(old); i++)
		CHECK(call(SYS_mount, 0, 0, 0, old[i]) == ALLOWED);
	for (size_t i = 0; i < ARRAY_SIZE(new); i++)
		CHECK(call(SYS_mount, 0, 0, 0, new[i]) == failed(EPERM));
	CHECK(call(SYS_fsopen, 0, 0, 0, 0) == failed(ENOSYS));
}

/*
 * Every number: those in the lists are refused or held, all others allowed.
 */
static void refuses_exactly(void)
{
	static const short refused[] = {
		SYS_keyctl,
		SYS_add_key,
		SYS_request_key,
		SYS_bpf,
		SYS_perf_event_open,
		SYS_userfaultfd,
		SYS_kexec_load,
		SYS_kexec_file_load,
		SYS_init_module,
		SYS_finit_module,
		SYS_delete_module,
		SYS_reboot,
		SYS_swapon,
		SYS_swapoff,
		SYS_acct,
		SYS_settimeofday,
		SYS_clock_settime,
		SYS_clock_adjtime,
		SYS_quotactl,
		443 /* quotactl_fd */,
		SYS_open_by_handle_at,
		SYS_fanotify_init,
		SYS_lookup_dcookie,
		SYS_vhangup,
		SYS_syslog,
#if defined(__x86_64__)
		SYS_iopl,
		SYS_ioperm,
#endif
	};
	static const short argument_counts[] = { SYS_socket, SYS_socketpair,
						 SYS_connect, SYS_bind,
						 SYS_listen };

	build(true);
	for (long nr = 0; nr < 470; nr++) {
		uint32_t wanted = ALLOWED;

		for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
			if (refused[i] == nr)
				wanted = failed(EPERM);
		if (nr >= 425 && nr <= 427) /* io_uring */
			wanted = failed(ENOSYS);
		if (nr == SYS_openat2 || nr == SYS_file_setattr ||
		    nr == SYS_fsopen || nr == SYS_fspick)
			wanted = failed(ENOSYS);
		if (is_held(nr))
			wanted = HELD;
		for (size_t i = 0; i < ARRAY_SIZE(argument_counts); i++)
			if (argument_counts[i] == nr)
				goto next;
		if (call(nr, 0, 0, 0, 0) != wanted) {
			printf("# call %ld\n", nr);
			check_failed = true;
		}
	next:;
	}
}

static void knows_no_others(void)
{
	build(true);
	CHECK(call(470, 0, 0, 0, 0) == failed(ENOSYS));
	CHECK(call(100000, 0, 0, 0, 0) == failed(ENOSYS));
	CHECK(call(0x40000000, 0, 0, 0, 0) == failed(ENOSYS)); /* x32 read */
	CHECK(call(0x40000000 | SYS_connect, 0, 0, 0, 0) == failed(ENOSYS));
	CHECK(call(-1, 0, 0, 0, 0) == failed(ENOSYS));
}

static void kills_other_systems(void)
{
	static const uint32_t others[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
					   AUDIT_ARCH_RISCV64, 0 };

	build(true);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct seccomp_data data = { .nr = SYS_getpid,
					     .arch = others[i] };

		CHECK(run(&data) == SECCOMP_RET_KILL_PROCESS);
	}
}

static void keeps_the_terminal(void)
{
	static const uint64_t high = 1ULL << 32;

	build(true);
	CHECK(call(SYS_ioctl, 0, TIOCSTI, 0, 0) == failed(EPERM));
	CHECK(call(SYS_ioctl, 0, high | TIOCSTI, 0, 0) == failed(EPERM));
	CHECK(call(SYS_ioctl, 0, TIOCLINUX, 0, 0) == failed(EPERM));
	CHECK(call(SYS_ioctl, 0, TIOCSPGRP, 0, 0) == ALLOWED);
	CHECK(call(SYS_ioctl, 0, TCGETS, 0, 0) == ALLOWED);
}

static void socket_families(void)
{
	static const uint64_t high = 1ULL << 32;

	build(true);
	for (uint64_t family = 0; family < 64; family++) {
		uint32_t got = call(SYS_socket, family, SOCK_STREAM, 0, 0);
		bool wanted = family == AF_UNIX || family == AF_INET ||
			      family == AF_INET6 || family == AF_NETLINK;

		if (got != (wanted ? ALLOWED : failed(EAFNOSUPPORT))) {
			printf("# family %d\n", (int)family);
			check_failed = true;
		}
		CHECK(call(SYS_socketpair, family, SOCK_STREAM, 0, 0) ==
		      (family == AF_UNIX ? ALLOWED : failed(EAFNOSUPPORT)));
	}
	CHECK(call(SYS_socket, AF_INET, SOCK_DGRAM, 0, 0) == HELD);
	CHECK(call(SYS_socket, AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0, 0) ==
	      HELD);
	CHECK(call(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, 0) ==
	      ALLOWED);
	CHECK(call(SYS_socket, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER, 0) ==
	      failed(EAFNOSUPPORT));
	CHECK(call(SYS_socket, high | AF_VSOCK, SOCK_STREAM, 0, 0) ==
	      failed(EAFNOSUPPORT));
}

static void no_unix_datagrams(void)
{
	static const long calls[] = { SYS_socket, SYS_socketpair };
	static const uint64_t flags[] = { 0, SOCK_CLOEXEC, SOCK_NONBLOCK,
					  SOCK_CLOEXEC | SOCK_NONBLOCK,
					  1ULL << 32 };

	build(true);
	for (size_t c = 0; c < ARRAY_SIZE(calls); c++)
		for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
			CHECK(call(calls[c], AF_UNIX, flags[f] | SOCK_DGRAM, 0,
				   0) == failed(EPROTONOSUPPORT));
			CHECK(call(calls[c], AF_UNIX, flags[f] | SOCK_RAW, 0,
				   0) == failed(EPROTONOSUPPORT));
			CHECK(call(calls[c], AF_UNIX, flags[f] | SOCK_STREAM, 0,
				   0) == ALLOWED);
			CHECK(call(calls[c], AF_UNIX, flags[f] | SOCK_SEQPACKET,
				   0, 0) == ALLOWED);
		}
}

static void no_connect_in_send(void)
{
	build(true);
	CHECK(call(SYS_sendto, 0, 0, 0, MSG_FASTOPEN) == failed(EOPNOTSUPP));
	CHECK(call(SYS_sendto, 0, 0, 0, MSG_NOSIGNAL) == ALLOWED);
	CHECK(call(SYS_sendmsg, 0, 0, MSG_FASTOPEN | MSG_DONTWAIT, 0) ==
	      failed(EOPNOTSUPP));
	CHECK(call(SYS_sendmsg, 0, 0, 0, MSG_FASTOPEN) == ALLOWED);
	CHECK(call(SYS_sendmmsg, 0, 0, 0, MSG_FASTOPEN) == failed(EOPNOTSUPP));
	CHECK(call(SYS_setsockopt, 0, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0) ==
	      failed(EOPNOTSUPP));
	CHECK(call(SYS_setsockopt, 0, IPPROTO_TCP, TCP_NODELAY, 0) == ALLOWED);
	CHECK(call(SYS_setsockopt, 0, SOL_SOCKET, TCP_FASTOPEN_CONNECT, 0) ==
	      ALLOWED);
}

static void stays_short(void)
{
	build(true);
	longest = 0;
	for (long nr = -1; nr < 600; nr++)
		(void)call(nr, AF_NETLINK, TIOCSTI, 0, 0);
	CHECK(longest <= 24);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "connect and bind are held when there is a supervisor",
		  holds_connect_and_bind },
		{ "opens that write or create are held",
		  holds_opens_that_change },
		{ "times are held where there is a path",
		  holds_times_of_paths },
		{ "exactly the listed calls are refused or held",
		  refuses_exactly },
		{ "new file systems are refused when nobody looks at them",
		  refuses_new_file_systems },
		{ "call numbers we do not know are ENOSYS", knows_no_others },
		{ "calls of another architecture kill", kills_other_systems },
		{ "nothing is typed into the terminal", keeps_the_terminal },
		{ "sockets are unix, inet, inet6 and routes", socket_families },
		{ "there are no unix datagram sockets", no_unix_datagrams },
		{ "nothing connects inside a send", no_connect_in_send },
		{ "no call takes many steps", stays_short },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
