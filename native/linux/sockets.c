/*
 * Performs connect(), bind() and listen() for a caller on its own socket.
 *
 * What keeps it inside. An inet or netlink socket acts in the network
 * namespace it was made in, whoever makes the call, and so does an abstract
 * unix address. A unix socket's path is another matter: no mount stops a
 * connect to a socket. So a path is resolved in the caller's own root, and
 * connected to only when it leads to a socket that this run has bound; what
 * was resolved is held by descriptor, never looked up again. A bind to a path
 * is made by a child that enters the caller's mount namespace, root,
 * directory and umask, since the kernel keeps the path as the socket's name;
 * the mounts say where a name can be made.
 */
#include "sockets.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "../common/limits.h"
#include "publish.h"
#include "uapi.h"

enum {
	PROC_PATH_MAX = 48,
	UNPRIVILEGED_PORT = 1024, /* ip_unprivileged_port_start, ip(7) */
	STATUS_BYTES_MAX = 4096,
};

void target_socket_close(const struct target_socket *socket)
{
	close_quietly(socket->fd);
}

static int open_proc(pid_t thread, const char *name, int flags)
{
	char path[PROC_PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", thread, name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* What /proc/TID/status has after a field's name, as a number. */
static int read_status(pid_t thread, const char *field, int base,
		       long *ret_number)
{
	AUTO_CLOSE int fd = open_proc(thread, "status", O_RDONLY);
	char status[STATUS_BYTES_MAX];
	const char *found;
	ssize_t got;

	if (fd < 0)
		return fd;
	got = RETRY(read(fd, status, sizeof(status) - 1));
	if (got < 0)
		return -errno;
	status[got] = '\0';
	found = strstr(status, field);
	if (!found)
		return -EBADMSG;
	*ret_number = strtol(found + strlen(field), NULL, base);
	return 0;
}

/* The id in a notification is a thread's: pidfd_open(2). */
static int open_pidfd(pid_t thread, int *ret_pidfd)
{
	int fd = (int)syscall(SYS_pidfd_open, thread, PIDFD_THREAD);
	long process;
	int err;

	if (fd < 0 && errno == EINVAL) {
		/* Before kernel 6.9 only a process can be opened. */
		err = read_status(thread, "\nTgid:\t", 10, &process);
		if (err)
			return err;
		fd = (int)syscall(SYS_pidfd_open, (pid_t)process, 0);
	}
	if (fd < 0)
		return -errno;
	*ret_pidfd = fd;
	return 0;
}

static int namespace_cookie(int fd, uint64_t *ret_cookie)
{
	socklen_t length = sizeof(*ret_cookie);

	if (getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, ret_cookie, &length))
		return -errno;
	return 0;
}

static int find_home(const struct call *call, int fd,
		     enum socket_home *ret_home)
{
	AUTO_CLOSE int ours = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t its_cookie, cookie;
	int err;

	err = namespace_cookie(fd, &its_cookie);
	if (!err)
		err = namespace_cookie(call->sup->sockets.relay, &cookie);
	if (err)
		return err;
	if (its_cookie == cookie) {
		*ret_home = HOME_SANDBOX;
		return 0;
	}
	if (ours < 0)
		return -errno;
	err = namespace_cookie(ours, &cookie);
	if (!err)
		*ret_home = its_cookie == cookie ? HOME_HOST : HOME_NESTED;
	return err;
}

static int get_option(int fd, int option, int *ret_value)
{
	socklen_t length = sizeof(*ret_value);

	if (getsockopt(fd, SOL_SOCKET, option, ret_value, &length))
		return -errno;
	return 0;
}

static int take_socket(const struct call *call,
		       struct target_socket *ret_socket)
{
	AUTO_TARGET struct target_socket socket = TARGET_SOCKET_NONE;
	AUTO_CLOSE int pidfd = -1;
	int err;

	err = open_pidfd(call->thread, &pidfd);
	if (err)
		return -ESRCH;
	socket.fd = (int)syscall(SYS_pidfd_getfd, pidfd,
				 (int)call->arguments[0], 0);
	if (socket.fd < 0)
		return -errno; /* EBADF: the caller's mistake */
	/* ENOTSOCK, or EBADF for an O_PATH descriptor, as for the caller. */
	err = get_option(socket.fd, SO_DOMAIN, &socket.domain);
	if (!err)
		err = get_option(socket.fd, SO_TYPE, &socket.type);
	if (!err)
		err = get_option(socket.fd, SO_PROTOCOL, &socket.protocol);
	if (!err)
		err = find_home(call, socket.fd, &socket.home);
	if (err)
		return err;
	*ret_socket = socket;
	socket.fd = -1;
	return 0;
}

/* As the kernel takes an address over: move_addr_to_kernel(). */
int copy_address(const struct call *call, struct socket_address *ret_address)
{
	struct socket_address address = { 0 };
	int length = (int)call->arguments[2];
	struct iovec to = { &address.storage, 0 };
	/* Its address is a number to us. */
	struct iovec from = { (void *)(uintptr_t)call->arguments[1], 0 };

	if (length < 0 || (size_t)length > sizeof(address.storage))
		return -EINVAL;
	address.length = (socklen_t)length;
	to.iov_len = from.iov_len = (size_t)length;
	if (length &&
	    process_vm_readv(call->thread, &to, 1, &from, 1, 0) != length)
		return -EFAULT;
	*ret_address = address;
	return 0;
}

int take_socket_and_address(const struct call *call,
			    struct target_socket *ret_socket,
			    struct socket_address *ret_address)
{
	AUTO_TARGET struct target_socket socket = TARGET_SOCKET_NONE;
	int err;

	err = take_socket(call, &socket);
	if (!err)
		err = copy_address(call, ret_address);
	/* Only now is it sure that it was the caller's, and not another's. */
	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	*ret_socket = socket;
	socket.fd = -1;
	return 0;
}

/* Unix sockets by path */

/* The path as a string; -EINVAL for what the kernel refuses, unix(7). */
static int unix_path(const struct socket_address *address,
		     char ret_path[sizeof(struct sockaddr_un)])
{
	static const size_t before = offsetof(struct sockaddr_un, sun_path);
	const char *bytes = (const char *)&address->storage;

	if (address->length <= before ||
	    address->length > sizeof(struct sockaddr_un) ||
	    address->any.sa_family != AF_UNIX)
		return -EINVAL;
	memcpy(ret_path, bytes + before, address->length - before);
	ret_path[address->length - before] = '\0';
	return 0;
}

static int read_link(pid_t thread, const char *name,
		     char ret_target[PATH_BYTES_MAX])
{
	char link[PROC_PATH_MAX];
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/%d/%s", thread, name);
	length = readlink(link, ret_target, PATH_BYTES_MAX - 1);
	if (length < 0)
		return -errno;
	ret_target[length] = '\0';
	return 0;
}

/* The caller's directory, as it sees that below its own root. */
static int caller_directory(pid_t thread, char ret_path[PATH_BYTES_MAX])
{
	char root[PATH_BYTES_MAX], directory[PATH_BYTES_MAX];
	size_t length;
	int err;

	err = read_link(thread, "root", root);
	if (!err)
		err = read_link(thread, "cwd", directory);
	if (err)
		return err;
	if (strcmp(root, "/") == 0)
		root[0] = '\0';
	length = strlen(root);
	/* Outside its root, or deleted: nothing is found from there. */
	if (strncmp(directory, root, length) != 0 ||
	    (directory[length] != '/' && directory[length] != '\0'))
		return -ENOENT;
	memcpy(ret_path, directory + length, strlen(directory + length) + 1);
	return 0;
}

/* An absolute path as the caller sees it, of one that may be relative. */
static int absolute_path(pid_t thread, const char *path,
			 char ret_path[PATH_BYTES_MAX])
{
	char directory[PATH_BYTES_MAX];
	int err, written;

	if (path[0] == '/') {
		(void)snprintf(ret_path, PATH_BYTES_MAX, "%s", path);
		return 0;
	}
	err = caller_directory(thread, directory);
	if (err)
		return err;
	written = snprintf(ret_path, PATH_BYTES_MAX, "%s/%s", directory, path);
	return written < PATH_BYTES_MAX ? 0 : -ENAMETOOLONG;
}

static int open_in_root(pid_t thread, const char *path, int *ret_fd)
{
	AUTO_CLOSE int root = open_proc(thread, "root", O_PATH | O_DIRECTORY);
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd;

	if (root < 0)
		return root;
	fd = (int)RETRY(syscall(SYS_openat2, root, path, &how, sizeof(how)));
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int perform_connect(const struct target_socket *socket,
		    const struct socket_address *address)
{
	return connect(socket->fd, &address->any, address->length) ? -errno : 0;
}

int connect_unix(const struct call *call, const struct target_socket *socket,
		 const struct socket_address *address,
		 char ret_path[PATH_BYTES_MAX])
{
	char path[sizeof(struct sockaddr_un)], whole[PATH_BYTES_MAX];
	struct sockaddr_un found = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = -1;
	struct stat file;
	int err;

	/* Abstract: the network namespace has those. Invalid: it says so. */
	if (unix_path(address, path) || path[0] == '\0')
		return perform_connect(socket, address);
	err = absolute_path(call->thread, path, whole);
	if (!err)
		err = open_in_root(call->thread, whole, &fd);
	if (!err && fstat(fd, &file))
		err = -errno;
	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	if (!S_ISSOCK(file.st_mode))
		return -ECONNREFUSED;
	if (!bound_has(notify_bound(call->sup), &file)) {
		memcpy(ret_path, whole, sizeof(whole));
		return -EACCES;
	}
	(void)snprintf(found.sun_path, sizeof(found.sun_path),
		       "/proc/self/fd/%d", fd);
	return connect(socket->fd, (const struct sockaddr *)&found,
		       sizeof(found))
		       ? -errno
		       : 0;
}

/* Bind to a path, in a child */

struct surroundings {
	int user_ns, mount_ns, root, directory; /* -1: none */
	mode_t umask;
};

static void close_surroundings(const struct surroundings *s)
{
	close_quietly(s->user_ns);
	close_quietly(s->mount_ns);
	close_quietly(s->root);
	close_quietly(s->directory);
}

static int open_surroundings(pid_t thread, struct surroundings *s)
{
	long mask;
	int err;

	s->mount_ns = open_proc(thread, "ns/mnt", O_RDONLY);
	if (s->mount_ns < 0)
		return s->mount_ns;
	/* Whoever owns the mount namespace may enter it, setns(2). */
	s->user_ns = ioctl(s->mount_ns, NS_GET_USERNS);
	if (s->user_ns < 0)
		return -errno;
	s->root = open_proc(thread, "root", O_PATH | O_DIRECTORY);
	if (s->root < 0)
		return s->root;
	s->directory = open_proc(thread, "cwd", O_PATH | O_DIRECTORY);
	if (s->directory < 0)
		return s->directory;
	err = read_status(thread, "\nUmask:\t", 8, &mask);
	if (!err)
		s->umask = (mode_t)mask;
	return err;
}

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { 0 };

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

/* In the child: only system calls, the other threads may hold any lock. */
static int bind_there(const struct surroundings *s, int fd,
		      const struct socket_address *address)
{
	if (setns(s->user_ns, CLONE_NEWUSER) ||
	    setns(s->mount_ns, CLONE_NEWNS) || fchdir(s->root) || chroot(".") ||
	    fchdir(s->directory))
		return -errno;
	if (drop_capabilities())
		return -EPERM;
	(void)umask(s->umask);
	return bind(fd, &address->any, address->length) ? -errno : 0;
}

/* The errno is the child's exit code: they are all below 256. */
static int bind_in_child(const struct surroundings *s, int fd,
			 const struct socket_address *address)
{
	pid_t child;
	int status;

	/* No exit signal: main.c waits for its own child and no other. */
	child = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
	if (child < 0)
		return -errno;
	if (child == 0)
		_exit(-bind_there(s, fd, address));
	if (RETRY(waitpid(child, &status, (int)__WCLONE)) != child)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

static int bind_path(const struct call *call, int fd,
		     const struct socket_address *address)
{
	struct bound_sockets *bound = notify_bound(call->sup);
	struct surroundings s = { -1, -1, -1, -1, 0 };
	int err = open_surroundings(call->thread, &s);

	if (!call_is_alive(call))
		err = -ESRCH;
	if (!err && !bound_has_room(bound))
		err = -ENOSPC;
	if (!err)
		err = bind_in_child(&s, fd, address);
	close_surroundings(&s);
	/* One that is not remembered is bound, and nobody may connect. */
	return err ? err : bound_add(bound, fd);
}

static bool is_inet(const struct target_socket *socket)
{
	return socket->domain == AF_INET || socket->domain == AF_INET6;
}

/* The sandbox has no capability for these; we, performing it, would. */
static bool is_privileged(const struct target_socket *socket,
			  const struct socket_address *address)
{
	struct ip_address ip;
	uint16_t port;

	return is_inet(socket) && address_of_socket(address, &ip, &port) == 0 &&
	       port != 0 && port < UNPRIVILEGED_PORT;
}

static int bind_address(const struct call *call,
			const struct target_socket *socket,
			const struct socket_address *address)
{
	struct ip_address ip;
	uint16_t port;

	if (bind(socket->fd, &address->any, address->length))
		return -errno;
	if (is_inet(socket) && address_of_socket(address, &ip, &port) == 0 &&
	    port != 0)
		publish_note_bound(call->sup, socket->fd);
	return 0;
}

int answer_bind(const struct call *call)
{
	AUTO_TARGET struct target_socket socket = TARGET_SOCKET_NONE;
	struct socket_address address;
	char path[sizeof(struct sockaddr_un)];
	int err;

	err = take_socket_and_address(call, &socket, &address);
	if (err)
		return err;
	if (socket.home == HOME_HOST || is_privileged(&socket, &address))
		return -EACCES;
	if (socket.domain == AF_UNIX && unix_path(&address, path) == 0 &&
	    path[0] != '\0')
		return bind_path(call, socket.fd, &address);
	return bind_address(call, &socket, &address);
}

/* One that was inherited may listen again, not begin to. */
static bool may_listen(const struct target_socket *socket)
{
	int listens;

	return socket->home != HOME_HOST ||
	       (get_option(socket->fd, SO_ACCEPTCONN, &listens) == 0 &&
		listens);
}

int answer_listen(const struct call *call)
{
	AUTO_TARGET struct target_socket socket = TARGET_SOCKET_NONE;
	int err = take_socket(call, &socket);

	if (!call_is_alive(call))
		return -ESRCH;
	if (err)
		return err;
	if (!may_listen(&socket))
		return -EACCES;
	if (listen(socket.fd, (int)call->arguments[1]))
		return -errno;
	if (is_inet(&socket))
		publish_note_listening(call, &socket);
	return 0;
}
