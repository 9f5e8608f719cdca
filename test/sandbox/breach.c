/*
 * breach - attempts to get out of a boundary that are one call, or nearly
 *
 * How it is called: attempts.h.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define MS_BIND 4096
#define MS_REC 16384
#define MS_REMOUNT 32
#define MNT_DETACH 2

/* Not from <sys/mount.h>, which does not get along with <linux/mount.h>. */
int mount(const char *source, const char *target, const char *type,
	  unsigned long flags, const void *data);
int umount2(const char *target, int flags);

#include "attempts.h"

/* -- files -- */

static int try_write(char **a)
{
	return write_and_close(
		open(a[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static int try_append(char **a)
{
	return write_and_close(open(a[0], O_WRONLY | O_APPEND | O_CLOEXEC));
}

static int try_creat(char **a)
{
	return write_and_close(creat(a[0], 0644));
}

static int try_openat2(char **a)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0644 };

	return write_and_close(
		(int)syscall(SYS_openat2, AT_FDCWD, a[0], &how, sizeof(how)));
}

/* A descriptor that may only look is opened again for writing. */
static int try_reopen(char **a)
{
	char path[64];
	int fd = open(a[0], O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return write_and_close(open(path, O_WRONLY | O_TRUNC));
}

static int try_tmpfile(char **a)
{
	return write_and_close(open(a[0], O_TMPFILE | O_WRONLY, 0644));
}

static int try_shared_mapping(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	char *map;

	if (fd < 0)
		return -1;
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	if (mprotect(map, 4096, PROT_READ | PROT_WRITE) < 0)
		return -1;
	map[0] = 'X';
	return 0;
}

static int try_truncate(char **a)
{
	return truncate(a[0], 0);
}

static int try_mkdir(char **a)
{
	return mkdir(a[0], 0755);
}

static int try_rmdir(char **a)
{
	return rmdir(a[0]);
}

static int try_unlink(char **a)
{
	return unlink(a[0]);
}

static int try_rename(char **a)
{
	return rename(a[0], a[1]);
}

static int try_exchange(char **a)
{
	return renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE);
}

static int try_link(char **a)
{
	return link(a[0], a[1]);
}

static int try_symlink(char **a)
{
	return symlink(a[0], a[1]);
}

static int try_fifo(char **a)
{
	return mknod(a[0], S_IFIFO | 0644, 0);
}

static int try_chmod(char **a)
{
	return chmod(a[0], 0777);
}

static int try_fchmod(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : fchmod(fd, 0777);
}

static int try_fchmodat2(char **a)
{
	return (int)syscall(452, AT_FDCWD, a[0], 0777, 0);
}

static int try_chown(char **a)
{
	return chown(a[0], getuid(), getgid());
}

static int try_utimes(char **a)
{
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	return utimensat(AT_FDCWD, a[0], times, 0);
}

static int try_futimes(char **a)
{
	struct timespec times[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : futimens(fd, times);
}

static int try_setxattr(char **a)
{
	return setxattr(a[0], "user.breach", "x", 1, 0);
}

static int try_read(char **a)
{
	char byte;
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	errno = ENODATA; /* an empty file gives nothing away */
	return read(fd, &byte, 1) == 1 ? 0 : -1;
}

/* Succeeds when the folder shows at least one entry. */
static int try_list(char **a)
{
	DIR *dir = opendir(a[0]);
	struct dirent *entry;

	if (dir == NULL)
		return -1;
	while ((entry = readdir(dir)) != NULL)
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			return 0;
	errno = ENODATA;
	return -1;
}

static int try_open_writable(char **a)
{
	return close_only(open(a[0], O_WRONLY | O_CLOEXEC));
}

static int try_open(char **a)
{
	return close_only(open(a[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/* The folder that the working directory was before anything was mounted. */
static int try_write_below_parent_of_cwd(char **a)
{
	int up = open("..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return up < 0 ? -1
		      : write_and_close(
				openat(up, a[0], O_WRONLY | O_CREAT, 0644));
}

/* -- mounts -- */

static int clear_read_only(int fd, const char *path, unsigned int flags)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	return (int)syscall(SYS_mount_setattr, fd, path, flags, &attr,
			    sizeof(attr));
}

static int try_remount(char **a)
{
	return mount("none", a[0], NULL, MS_REMOUNT | MS_BIND, NULL);
}

static int try_set_writable(char **a)
{
	return clear_read_only(AT_FDCWD, a[0], 0);
}

static int try_set_writable_recursive(char **a)
{
	return clear_read_only(AT_FDCWD, a[0], AT_RECURSIVE);
}

static int try_unmount(char **a)
{
	return umount2(a[0], MNT_DETACH);
}

static int try_move_mount(char **a)
{
	return (int)syscall(SYS_move_mount, AT_FDCWD, a[0], AT_FDCWD, a[1], 0);
}

static int try_mount_tmpfs(char **a)
{
	return mount("none", a[0], "tmpfs", 0, NULL);
}

static int try_mount_proc(char **a)
{
	return mount("none", a[0], "proc", 0, NULL);
}

/* Uncovers what lies below the mounts in a[0] by binding it without them. */
static int try_bind_without_children(char **a)
{
	return mount(a[0], a[1], NULL, MS_BIND, NULL);
}

/* Binds with everything below and writes a[2] through the new place. */
static int try_bind_and_write(char **a)
{
	char path[4096];

	if (mount(a[0], a[1], NULL, MS_BIND | MS_REC, NULL) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", a[1], a[2]);
	return write_and_close(open(path, O_WRONLY | O_CREAT, 0644));
}

/* Binds with everything below and reads a[2] through the new place. */
static int try_bind_and_read(char **a)
{
	char path[4096];
	char *arguments[] = { path };

	if (mount(a[0], a[1], NULL, MS_BIND | MS_REC, NULL) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/%s", a[1], a[2]);
	return try_read(arguments);
}

static int clone_and_write(const char *path, const char *name,
			   unsigned int recursive)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path,
			      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | recursive);

	if (fd < 0)
		return -1;
	if (clear_read_only(fd, "", AT_EMPTY_PATH | recursive) < 0)
		return -1;
	return write_and_close(openat(fd, name, O_CREAT | O_WRONLY, 0644));
}

static int try_clone_and_write(char **a)
{
	return clone_and_write(a[0], a[1], 0);
}

static int try_clone_all_and_write(char **a)
{
	return clone_and_write(a[0], a[1], AT_RECURSIVE);
}

static int try_chroot(char **a)
{
	return chroot(a[0]);
}

static int try_pivot_root(char **a)
{
	return (int)syscall(SYS_pivot_root, a[0], a[0]);
}

static int try_setns(char **a)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : setns(fd, 0);
}

static int try_overlay(char **a)
{
	char options[16384];

	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s",
		 a[0], a[1], a[2]);
	return mount("overlay", a[3], "overlay", 0, options);
}

/* -- processes -- */

static int try_seize(char **a)
{
	return (int)ptrace(PTRACE_SEIZE, atoi(a[0]), NULL, NULL);
}

static int try_attach(char **a)
{
	return (int)ptrace(PTRACE_ATTACH, atoi(a[0]), NULL, NULL);
}

static int try_signal(char **a)
{
	return kill(atoi(a[0]), atoi(a[1]));
}

static int try_read_memory(char **a)
{
	char byte;
	struct iovec local = { &byte, 1 };
	struct iovec remote = { (void *)(uintptr_t)strtoull(a[1], NULL, 0), 1 };

	return process_vm_readv(atoi(a[0]), &local, 1, &remote, 1, 0) == 1 ? 0
									   : -1;
}

static int try_pidfd_getfd(char **a)
{
	int pidfd = (int)syscall(SYS_pidfd_open, atoi(a[0]), 0);

	return pidfd < 0 ? -1
			 : (int)syscall(SYS_pidfd_getfd, pidfd, atoi(a[1]), 0);
}

/* Succeeds when any descriptor beyond the standard three was inherited. */
static int try_inherited(char **a)
{
	int fd;

	(void)a;
	for (fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return 0;
	errno = EBADF;
	return -1;
}

static int try_gain_by_exec(char **a)
{
	(void)a;
	if (syscall(SYS_prctl, 39 /* PR_GET_NO_NEW_PRIVS */, 0, 0, 0, 0) == 1) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

/* -- terminal -- */

static int try_tiocsti(char **a)
{
	(void)a;
	return ioctl(0, TIOCSTI, "#");
}

/* The kernel looks at the low 32 bits of the request only. */
static int try_tiocsti_high_bits(char **a)
{
	(void)a;
	return (int)syscall(SYS_ioctl, 0, 0x100000000UL | TIOCSTI, "#");
}

static int try_tioclinux(char **a)
{
	char paste = 3;

	(void)a;
	return ioctl(0, TIOCLINUX, &paste);
}

/* -- kernel -- */

static int try_keyctl(char **a)
{
	(void)a;
	return (int)syscall(SYS_keyctl, 0, -3, 1);
}

static int try_add_key(char **a)
{
	(void)a;
	return (int)syscall(SYS_add_key, "user", "breach", "x", 1, -3);
}

static int try_request_key(char **a)
{
	(void)a;
	return (int)syscall(SYS_request_key, "user", "breach", NULL, -3);
}

static int try_io_uring(char **a)
{
	char parameters[256] = { 0 };

	(void)a;
	return close_only((int)syscall(SYS_io_uring_setup, 1, parameters));
}

static int try_userfaultfd(char **a)
{
	(void)a;
	return close_only(
		(int)syscall(SYS_userfaultfd, 1 /* USER_MODE_ONLY */));
}

static int try_bpf(char **a)
{
	char attr[128] = { 0 };

	(void)a;
	return close_only((int)syscall(SYS_bpf, 0, attr, sizeof(attr)));
}

static int try_perf(char **a)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = 1 };

	(void)a;
	attr.exclude_kernel = 1;
	return close_only(
		(int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static int try_open_by_handle(char **a)
{
	struct {
		struct file_handle handle;
		unsigned char bytes[128];
	} h = { .handle.handle_bytes = 128 };
	int id;
	int dir = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || name_to_handle_at(dir, a[1], &h.handle, &id, 0) < 0)
		return -1;
	return close_only(open_by_handle_at(dir, &h.handle, O_RDWR));
}

static int try_fanotify(char **a)
{
	(void)a;
	return close_only((int)syscall(SYS_fanotify_init, 0x200, 0));
}

static int try_quotactl(char **a)
{
	(void)a;
	return (int)syscall(SYS_quotactl, 0, NULL, 0, NULL);
}

static int try_clock(char **a)
{
	struct timespec now;

	(void)a;
	clock_gettime(CLOCK_REALTIME, &now);
	return clock_settime(CLOCK_REALTIME, &now);
}

static int try_unknown_call(char **a)
{
	return (int)syscall(atoi(a[0]), 0, 0, 0, 0, 0, 0);
}

#ifdef __x86_64__
/* The same calls by their numbers of other tables would pass a filter. */
static int try_i386(char **a)
{
	int status;
	pid_t pid = fork();

	(void)a;
	if (pid == 0) {
		int result;

		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(20)
				 : "memory", "r8", "r9", "r10", "r11");
		_exit(result > 0 ? 0 : 1);
	}
	if (waitpid(pid, &status, 0) < 0)
		return -1;
	errno = WIFSIGNALED(status) ? EOWNERDEAD : ENOSYS;
	return status == 0 ? 0 : -1;
}

static int try_x32(char **a)
{
	(void)a;
	return (int)syscall(0x40000000 | SYS_getppid) > 0 ? 0 : -1;
}
#else
static int try_i386(char **a)
{
	(void)a;
	errno = ENOSYS;
	return -1;
}
#define try_x32 try_i386
#endif

static int try_socket(char **a)
{
	return close_only(socket(atoi(a[0]), atoi(a[1]), atoi(a[2])));
}

/* -- unix sockets -- */

static int unix_address(const char *name, struct sockaddr_un *address,
			socklen_t *length)
{
	size_t n = strlen(name);

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (n >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address->sun_path, name, n);
	*length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	if (name[0] == '@') {
		/* Abstract: Node pads the names that it listens on. */
		address->sun_path[0] = '\0';
		*length = sizeof(*address);
	}
	return 0;
}

static int connect_unix(const char *name, int type)
{
	struct sockaddr_un address;
	socklen_t length;
	int fd;

	if (unix_address(name, &address, &length) < 0)
		return -1;
	fd = socket(AF_UNIX, type, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, length) < 0)
		return -1;
	return write(fd, "breach\n", 7) == 7 ? 0 : -1;
}

static int try_unix_stream(char **a)
{
	return connect_unix(a[0], SOCK_STREAM);
}

static int try_unix_seqpacket(char **a)
{
	return connect_unix(a[0], SOCK_SEQPACKET);
}

static int try_unix_datagram(char **a)
{
	return connect_unix(a[0], SOCK_DGRAM);
}

/* No filter sees the address of a sendmsg on a socket that a pair gave. */
static int try_unix_pair(char **a)
{
	struct sockaddr_un address;
	socklen_t length;
	int pair[2];

	if (unix_address(a[0], &address, &length) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) < 0)
		return -1;
	return sendto(pair[0], "breach\n", 7, 0, (struct sockaddr *)&address,
		      length) == 7
		       ? 0
		       : -1;
}

/* A name for a socket outside: a peer there could come to it. */
static int try_unix_bind(char **a)
{
	struct sockaddr_un address;
	socklen_t length;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (unix_address(a[0], &address, &length) < 0)
		return -1;
	return bind(fd, (struct sockaddr *)&address, length);
}

/* One thread connects, another changes the address and the descriptor. */
struct race {
	struct sockaddr_storage address;
	struct sockaddr_un bad;
	socklen_t bad_length;
	int fd;
	int inet;
	int path;
	atomic_bool over;
};

static void *swap_address(void *argument)
{
	struct race *race = argument;
	struct sockaddr_in good = { .sin_family = AF_INET,
				    .sin_port = htons(9),
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };

	while (!race->over) {
		dup2(race->path, race->fd);
		memcpy(&race->address, &race->bad, sizeof(race->bad));
		sched_yield();
		dup2(race->inet, race->fd);
		memcpy(&race->address, &good, sizeof(good));
		sched_yield();
	}
	return NULL;
}

static int is_connected(int fd)
{
	struct sockaddr_un peer;
	socklen_t length = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &length) == 0;
}

/* For two seconds; the host's listener is the judge as well. */
static int try_unix_race(char **a)
{
	struct race race = { .over = false };
	time_t end = time(NULL) + 3;
	pthread_t thread;
	int won = 0;

	if (unix_address(a[0], &race.bad, &race.bad_length) < 0)
		return -1;
	race.inet = socket(AF_INET, SOCK_STREAM, 0);
	race.path = socket(AF_UNIX, SOCK_STREAM, 0);
	race.fd = dup(race.inet);
	if (pthread_create(&thread, NULL, swap_address, &race) != 0)
		return -1;
	while (!won && time(NULL) < end) {
		(void)connect(race.fd, (struct sockaddr *)&race.address,
			      race.bad_length);
		won = is_connected(race.path);
	}
	race.over = true;
	pthread_join(thread, NULL);
	errno = EACCES;
	return won ? 0 : -1;
}

/* -- network -- */

static int inet_address(char **a, struct sockaddr_storage *address,
			socklen_t *length)
{
	struct sockaddr_in *four = (struct sockaddr_in *)address;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, a[0], &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons((uint16_t)atoi(a[1]));
		*length = sizeof(*four);
		return 0;
	}
	if (inet_pton(AF_INET6, a[0], &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons((uint16_t)atoi(a[1]));
		*length = sizeof(*six);
		return 0;
	}
	errno = EINVAL;
	return -1;
}

static int try_tcp(char **a)
{
	struct sockaddr_storage address;
	socklen_t length;
	int fd;

	if (inet_address(a, &address, &length) < 0)
		return -1;
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	return connect(fd, (struct sockaddr *)&address, length);
}

/* Data in the SYN, with the address in a sendto. */
static int try_tcp_fast_open(char **a)
{
	struct sockaddr_storage address;
	socklen_t length;
	int fd;

	if (inet_address(a, &address, &length) < 0)
		return -1;
	fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	return sendto(fd, "breach\n", 7, MSG_FASTOPEN,
		      (struct sockaddr *)&address, length) == 7
		       ? 0
		       : -1;
}

static int try_udp(char **a)
{
	struct sockaddr_storage address;
	socklen_t length;
	int fd;

	if (inet_address(a, &address, &length) < 0)
		return -1;
	fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	return sendto(fd, "breach\n", 7, 0, (struct sockaddr *)&address,
		      length) == 7
		       ? 0
		       : -1;
}

static int try_udp_connected(char **a)
{
	struct sockaddr_storage address;
	socklen_t length;
	int fd;

	if (inet_address(a, &address, &length) < 0)
		return -1;
	fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, length) < 0)
		return -1;
	return write(fd, "breach\n", 7) == 7 ? 0 : -1;
}

static const struct attempt attempts[] = {
	{ "write", 1, try_write },
	{ "append", 1, try_append },
	{ "creat", 1, try_creat },
	{ "openat2", 1, try_openat2 },
	{ "reopen", 1, try_reopen },
	{ "tmpfile", 1, try_tmpfile },
	{ "shared-mapping", 1, try_shared_mapping },
	{ "truncate", 1, try_truncate },
	{ "mkdir", 1, try_mkdir },
	{ "rmdir", 1, try_rmdir },
	{ "unlink", 1, try_unlink },
	{ "rename", 2, try_rename },
	{ "exchange", 2, try_exchange },
	{ "link", 2, try_link },
	{ "symlink", 2, try_symlink },
	{ "fifo", 1, try_fifo },
	{ "chmod", 1, try_chmod },
	{ "fchmod", 1, try_fchmod },
	{ "fchmodat2", 1, try_fchmodat2 },
	{ "chown", 1, try_chown },
	{ "utimes", 1, try_utimes },
	{ "futimes", 1, try_futimes },
	{ "setxattr", 1, try_setxattr },
	{ "read", 1, try_read },
	{ "list", 1, try_list },
	{ "open", 1, try_open },
	{ "open-writable", 1, try_open_writable },
	{ "write-below-parent", 1, try_write_below_parent_of_cwd },
	{ "remount", 1, try_remount },
	{ "set-writable", 1, try_set_writable },
	{ "set-writable-recursive", 1, try_set_writable_recursive },
	{ "unmount", 1, try_unmount },
	{ "move-mount", 2, try_move_mount },
	{ "mount-tmpfs", 1, try_mount_tmpfs },
	{ "mount-proc", 1, try_mount_proc },
	{ "bind-without-children", 2, try_bind_without_children },
	{ "bind-and-write", 3, try_bind_and_write },
	{ "bind-and-read", 3, try_bind_and_read },
	{ "clone-and-write", 2, try_clone_and_write },
	{ "clone-all-and-write", 2, try_clone_all_and_write },
	{ "overlay", 4, try_overlay },
	{ "chroot", 1, try_chroot },
	{ "pivot-root", 1, try_pivot_root },
	{ "setns", 1, try_setns },
	{ "seize", 1, try_seize },
	{ "attach", 1, try_attach },
	{ "signal", 2, try_signal },
	{ "read-memory", 2, try_read_memory },
	{ "take-descriptor", 2, try_pidfd_getfd },
	{ "inherited", 0, try_inherited },
	{ "gain-by-exec", 0, try_gain_by_exec },
	{ "tiocsti", 0, try_tiocsti },
	{ "tiocsti-high-bits", 0, try_tiocsti_high_bits },
	{ "tioclinux", 0, try_tioclinux },
	{ "keyctl", 0, try_keyctl },
	{ "add-key", 0, try_add_key },
	{ "request-key", 0, try_request_key },
	{ "io-uring", 0, try_io_uring },
	{ "userfaultfd", 0, try_userfaultfd },
	{ "bpf", 0, try_bpf },
	{ "perf", 0, try_perf },
	{ "open-by-handle", 2, try_open_by_handle },
	{ "fanotify", 0, try_fanotify },
	{ "quotactl", 0, try_quotactl },
	{ "clock", 0, try_clock },
	{ "unknown-call", 1, try_unknown_call },
	{ "i386", 0, try_i386 },
	{ "x32", 0, try_x32 },
	{ "socket", 3, try_socket },
	{ "unix-stream", 1, try_unix_stream },
	{ "unix-seqpacket", 1, try_unix_seqpacket },
	{ "unix-datagram", 1, try_unix_datagram },
	{ "unix-pair", 1, try_unix_pair },
	{ "unix-bind", 1, try_unix_bind },
	{ "unix-race", 1, try_unix_race },
	{ "tcp", 2, try_tcp },
	{ "tcp-fast-open", 2, try_tcp_fast_open },
	{ "udp", 2, try_udp },
	{ "udp-connected", 2, try_udp_connected },
};

int main(int argc, char **argv)
{
	return run_attempts("breach", attempts,
			    sizeof(attempts) / sizeof(attempts[0]), argc, argv);
}
