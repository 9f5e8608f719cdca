/*
 * Performs connect(), bind() and listen() for a caller on its own socket.
 *
 * What keeps it inside: an inet or netlink socket acts in the network
 * namespace it was made in, whoever makes the call, and so does an abstract
 * unix address. A unix socket's path is another matter: unixConnect.c,
 * unixBind.c.
 */
#include "sockets.h"

#include "../../common/limits.h"
#include "../network/publish.h"
#include "../supervisor/task.h"
#include "unixSockets.h"

enum { UNPRIVILEGED_PORT = 1024 /* ip_unprivileged_port_start, ip(7) */ };

void target_socket_close(const struct target_socket *socket)
{
	close_quietly(socket->fd);
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
	/* EBADF: the caller's mistake. */
	int err = task_take_descriptor(call->thread, (int)call->arguments[0],
				       &socket.fd);

	if (err)
		return err;
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
	int err;

	if (length < 0 || (size_t)length > sizeof(address.storage))
		return -EINVAL;
	address.length = (socklen_t)length;
	err = task_read_memory(call->thread, call->arguments[1],
			       &address.storage, (size_t)length);
	if (err)
		return err;
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

int perform_connect(const struct target_socket *socket,
		    const struct socket_address *address)
{
	return connect(socket->fd, &address->any, address->length) ? -errno : 0;
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
	int err = take_socket_and_address(call, &socket, &address);

	if (err)
		return err;
	if (socket.home == HOME_HOST || is_privileged(&socket, &address))
		return -EACCES;
	if (socket.domain == AF_UNIX)
		return bind_unix(call, &socket, &address);
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
