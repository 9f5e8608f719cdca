/* Dials from the host, see dial.h. */
#include "dial.h"

#include <poll.h>

#include "../../common/limits.h"
#include "../supervisor/loop.h"

struct dialling dial_begin(const struct ip_address *addresses, size_t count,
			   uint16_t port)
{
	return (struct dialling){
		.addresses = addresses,
		.count = count,
		.port = port,
		.fd = -1,
	};
}

void dial_end(const struct dialling *dialling)
{
	close_quietly(dialling->fd);
}

/* The host has no way there: says less than another address's error. */
static bool has_no_route(int err)
{
	return err == -ENETUNREACH || err == -EHOSTUNREACH ||
	       err == -EAFNOSUPPORT || err == -EADDRNOTAVAIL;
}

static void note_failure(struct dialling *d, int err)
{
	close_quietly(TAKE(d->fd));
	if (d->err == 0 || has_no_route(d->err) || !has_no_route(err))
		d->err = err;
}

/* 0: fd is connected, or being connected; -errno. */
static int try_next(struct dialling *d)
{
	const struct ip_address *address = &d->addresses[d->next++];
	struct socket_address to = address_to_socket(address, d->port);

	d->fd = socket(address->family,
		       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return -errno;
	d->until_ms =
		loop_now_ms() + (d->next < d->count ? DIAL_MS : DIAL_LAST_MS);
	if (connect(d->fd, &to.any, to.length) && errno != EINPROGRESS)
		return -errno;
	return 0;
}

/* 0: connected; -EAGAIN: undecided after wait_ms; else it failed. */
static int wait_connected(const struct dialling *d, int wait_ms)
{
	struct pollfd writable = { .fd = d->fd, .events = POLLOUT };
	int count = poll(&writable, 1, wait_ms), outcome;
	socklen_t length = sizeof(outcome);

	if (count < 0 && errno != EINTR)
		return -errno;
	if (count <= 0)
		return loop_now_ms() < d->until_ms ? -EAGAIN : -ETIMEDOUT;
	if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &outcome, &length))
		return -errno;
	return -outcome;
}

int dial(struct dialling *d, int patience_ms, const struct dial_wanted *wanted,
	 int *ret_fd)
{
	int64_t patient_until = loop_now_ms() + patience_ms, left;
	int err = -EAGAIN;

	for (;;) {
		if (d->fd < 0 && d->next == d->count)
			return d->err ? d->err : -EHOSTUNREACH;
		if (d->fd < 0)
			err = try_next(d);
		left = ALIVE_CHECK_MS;
		if (patience_ms >= 0 && left > patient_until - loop_now_ms())
			left = patient_until - loop_now_ms();
		if (err == 0 || err == -EAGAIN)
			err = wait_connected(d, left > 0 ? (int)left : 0);
		if (err == 0) {
			*ret_fd = TAKE(d->fd);
			return 0;
		}
		if (err != -EAGAIN)
			note_failure(d, err);
		else if (!wanted->ask(wanted->context))
			return -ESRCH;
		else if (patience_ms >= 0 && loop_now_ms() >= patient_until)
			return -EAGAIN;
	}
}
