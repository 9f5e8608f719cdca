/* Dials from the host, see dial.h. */
#include "dial.h"

#include <poll.h>

#include "../common/limits.h"

/* 0: it is decided. -ETIMEDOUT; -ESRCH: nobody waits any more. */
static int wait_connected(const struct call *call, int fd, int64_t until_ms)
{
	struct pollfd writable = { .fd = fd, .events = POLLOUT };
	int count;

	do {
		count = poll(&writable, 1, ALIVE_CHECK_MS);
		if (count < 0 && errno != EINTR)
			return -errno;
		if (count > 0)
			return 0;
		if (!call_is_alive(call))
			return -ESRCH;
	} while (loop_now_ms() < until_ms);
	return -ETIMEDOUT;
}

static int dial_one(const struct call *call, const struct ip_address *address,
		    uint16_t port, int timeout_ms, int *ret_fd)
{
	struct socket_address to = address_to_socket(address, port);
	AUTO_CLOSE int fd = socket(
		address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err, outcome;
	socklen_t length = sizeof(outcome);

	if (fd < 0)
		return -errno;
	if (connect(fd, &to.any, to.length)) {
		if (errno != EINPROGRESS)
			return -errno;
		err = wait_connected(call, fd, loop_now_ms() + timeout_ms);
		if (err)
			return err;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &outcome, &length))
			return -errno;
		if (outcome)
			return -outcome;
	}
	*ret_fd = TAKE(fd);
	return 0;
}

/* The host has no way there: says less than another address's error. */
static bool has_no_route(int err)
{
	return err == -ENETUNREACH || err == -EHOSTUNREACH ||
	       err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL;
}

int dial(const struct call *call, const struct ip_address *addresses,
	 size_t count, uint16_t port, int *ret_fd)
{
	int err, result = -EHOSTUNREACH;

	for (size_t i = 0; i < count; i++) {
		err = dial_one(call, &addresses[i], port,
			       i + 1 < count ? DIAL_MS : DIAL_LAST_MS, ret_fd);
		if (err == 0 || err == -ESRCH)
			return err;
		if (i == 0 || has_no_route(result) || !has_no_route(err))
			result = err;
	}
	return result;
}
