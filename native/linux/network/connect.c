/*
 * connect(), held until it is decided. The address is copied once; the rule,
 * the person's answer and the check of each dialled address all refer to that
 * copy, and the call is then made on the caller's own socket by us.
 *
 * A connection to the outside: decide → ask → dial from here, so that the
 * program gets the true error → leave the dialled socket with the relay →
 * connect the program's socket, marked so that it is redirected to the relay.
 * Everything else stays in the sandbox's namespaces and is simply performed.
 */
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"
#include "../sockets/unixSockets.h"
#include "../supervisor/ask.h"
#include "../supervisor/denial.h"
#include "dial.h"
#include "network.h"

/* linux/in.h of newer kernels; an MPTCP socket connects by TCP. */
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

enum {
	LOOPBACK_MS = 50, /* for the sandbox's own to refuse a connection */
};

/* Refusals */

static struct wanted wish_for(const struct destination *to, int rule)
{
	return (struct wanted){
		.action = ACTION_CONNECT,
		.to = *to,
		.rule = rule,
	};
}

static int refuse(const struct call *call, const struct destination *to,
		  enum reason reason, int rule)
{
	struct wanted wanted = wish_for(to, rule);

	report_denial(call->sup, call->thread, &wanted, reason);
	return -EACCES;
}

/* Where an address leads; false: to nothing outside. */
static bool find_destination(const struct call *call,
			     const struct socket_address *address,
			     struct destination *ret_to)
{
	struct destination to = { 0 };

	if (address_of_socket(address, &to.address, &to.port) || to.port == 0)
		return false;
	to.host = names_find(network_names(call->sup), &to.address);
	*ret_to = to;
	return true;
}

void report_limit(const struct call *call)
{
	struct socket_address address;
	struct destination to;
	struct wanted wanted;

	if (copy_address(call, &address) ||
	    !find_destination(call, &address, &to))
		return;
	wanted = wish_for(&to, RULE_MODE);
	post_denial(call->sup, call->thread, &wanted, REASON_LIMIT);
}

/* Through the relay */

static int set_mark(const struct target_socket *socket, int mark)
{
	return setsockopt(socket->fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark))
		       ? -errno
		       : 0;
}

/* tcp(7), TCP_INFO; false: it has none (yet). */
static bool get_tcp_state(const struct target_socket *socket, int *ret_state)
{
	struct tcp_info info = { 0 };
	socklen_t length = sizeof(info);

	if (getsockopt(socket->fd, IPPROTO_TCP, TCP_INFO, &info, &length) ||
	    length == 0)
		return false;
	*ret_state = info.tcpi_state;
	return true;
}

/* Connects the caller's socket to a dialled one, which is taken over. */
static int join(const struct call *call, const struct target_socket *socket,
		const struct socket_address *address,
		const struct destination *to, struct relay *relay, int dialled)
{
	uint64_t ticket;
	int err;

	err = relay_expect(relay, &to->address, to->port, to, dialled, &ticket);
	if (err)
		return err;
	err = call_is_alive(call) ? set_mark(socket, MARK_REDIRECT) : -ESRCH;
	if (!err)
		err = perform_connect(socket, address);
	/* Later packets of a connection go where its first went. */
	(void)!set_mark(socket, MARK_NONE);
	if (err && err != -EINPROGRESS)
		relay_forget(relay, ticket);
	return err;
}

static bool is_wanted(const void *call)
{
	return call_is_alive(call);
}

static bool is_connecting(const void *socket)
{
	int state;

	return get_tcp_state(socket, &state) && state == TCP_SYN_SENT;
}

/* What the relay accepts may have been closed by its program since. */
static bool is_connected(const struct target_socket *socket)
{
	int state;

	return get_tcp_state(socket, &state) && state != TCP_SYN_SENT &&
	       state != TCP_CLOSE;
}

/* Until the caller's socket has found its way, or no longer looks for it. */
static void wait_until_connected(const struct target_socket *socket)
{
	struct pollfd connected = { .fd = socket->fd, .events = POLLOUT };
	int64_t until_ms = loop_now_ms() + DIALLED_MS;

	while (is_connecting(socket) && loop_now_ms() < until_ms)
		(void)poll(&connected, 1, ALIVE_CHECK_MS);
}

/* The rest of a connect whose call was answered EINPROGRESS. */
static void finish_later(const struct target_socket *socket,
			 const struct destination *to, struct relay *relay,
			 struct dialling *dialling)
{
	static const int once = 1;
	struct dial_wanted wanted = { is_connecting, socket };
	uint64_t ticket;
	int err, fd;

	err = dial(dialling, -1, &wanted, &fd);
	if (!err)
		err = relay_expect(relay, &to->address, to->port, to, fd,
				   &ticket);
	if (!err) {
		(void)!set_mark(socket, MARK_REDIRECT);
		wait_until_connected(socket);
		(void)!set_mark(socket, MARK_NONE);
		if (!is_connected(socket))
			relay_forget(relay, ticket);
		return;
	}
	if (err == -ECONNREFUSED)
		(void)!set_mark(socket, MARK_REFUSE);
	else /* the next time that nobody answers is the last: ETIMEDOUT */
		(void)setsockopt(socket->fd, IPPROTO_TCP, TCP_SYNCNT, &once,
				 sizeof(once));
	wait_until_connected(socket);
	(void)!set_mark(socket, MARK_NONE);
}

/*
 * A program whose socket does not block goes on while its connection is being
 * made, with timers of its own. So its first packet is dropped and its kernel
 * tries again each second, by when it is known where that packet may go.
 */
static int connect_later(const struct call *call,
			 const struct target_socket *socket,
			 const struct socket_address *address,
			 const struct destination *to, struct relay *relay,
			 struct dialling *dialling)
{
	int err = set_mark(socket, MARK_HOLD);

	if (!err)
		err = perform_connect(socket, address);
	if (err != -EINPROGRESS) {
		(void)!set_mark(socket, MARK_NONE);
		return err;
	}
	call_answer(call, err);
	finish_later(socket, to, relay, dialling);
	return CALL_ANSWERED;
}

/* Dials and joins. */
static int connect_through(const struct call *call,
			   const struct target_socket *socket,
			   const struct socket_address *address,
			   const struct destination *to,
			   const struct ip_address *addresses, size_t count)
{
	AUTO_DIALLING struct dialling dialling =
		dial_begin(addresses, count, to->port);
	struct dial_wanted wanted = { is_wanted, call };
	bool blocks = !(fcntl(socket->fd, F_GETFL) & O_NONBLOCK);
	struct relay *relay;
	int err, fd;

	if (network_open_relay(call->sup, &relay))
		return refuse(call, to, REASON_INTERNAL, RULE_MODE);
	err = dial(&dialling, blocks ? -1 : DIAL_PATIENT_MS, &wanted, &fd);
	if (err == -EAGAIN)
		return connect_later(call, socket, address, to, relay,
				     &dialling);
	if (err)
		return err;
	return join(call, socket, address, to, relay, fd);
}

/* Removes what a rule forbids; returns that rule when nothing is left. */
static int keep_permitted(const struct plan *plan, uint16_t port,
			  struct answer *answer)
{
	size_t kept = 0;
	int rule = RULE_MODE, forbidden;

	for (size_t i = 0; i < answer->address_count; i++) {
		forbidden = find_forbidden(plan, &answer->addresses[i], port);
		if (forbidden == RULE_MODE)
			answer->addresses[kept++] = answer->addresses[i];
		else
			rule = forbidden;
	}
	answer->address_count = kept;
	return kept ? RULE_MODE : rule;
}

/* Fills the addresses to dial, or refuses. */
static int decide_addresses(const struct call *call,
			    const struct destination *to,
			    struct answer *ret_answer)
{
	const struct plan *plan = call->sup->plan;
	struct decision decision = decide(plan, to);
	struct answer answer = { .allowed = true, .address_count = 1 };
	struct wanted wanted = wish_for(to, decision.rule);
	int err, forbidden;

	if (decision.effect == EFFECT_DENY)
		return refuse(call, to, REASON_RULE, decision.rule);
	if (decision.effect == EFFECT_ASK || to->host) {
		wanted.wants_addresses = decision.effect == EFFECT_ALLOW;
		err = ask_and_wait(call, &wanted, &answer);
		if (err)
			return err;
		if (!answer.allowed) {
			report_answer(call->sup, call->thread, &wanted,
				      &answer);
			return -EACCES;
		}
	} else {
		answer.addresses[0] = to->address;
	}
	if (answer.address_count == 0)
		return -EHOSTUNREACH;
	/* A bare address has been decided about by rules already. */
	if (to->host) {
		forbidden = keep_permitted(plan, to->port, &answer);
		if (forbidden != RULE_MODE)
			return refuse(call, to, REASON_RULE, forbidden);
	}
	*ret_answer = answer;
	return 0;
}

static int connect_outside(const struct call *call,
			   const struct target_socket *socket,
			   const struct socket_address *address,
			   const struct destination *to)
{
	struct answer answer;
	int err = decide_addresses(call, to, &answer);

	if (err)
		return err;
	return connect_through(call, socket, address, to, answer.addresses,
			       answer.address_count);
}

/* Ports of the host's own loopback that the plan lets in */

static bool is_host_port(const struct plan *plan, uint16_t port)
{
	for (size_t i = 0; i < plan->host_port_count; i++)
		if (plan->host_ports[i] == port)
			return true;
	return false;
}

/*
 * The sandbox's own server comes first. A socket that does not block has its
 * refusal a moment later; connecting once more collects it (connect(2)).
 */
static int connect_own(const struct target_socket *socket,
		       const struct socket_address *address)
{
	struct pollfd refused = { .fd = socket->fd, .events = POLLOUT };
	int err = perform_connect(socket, address);

	if (err == -EINPROGRESS && poll(&refused, 1, LOOPBACK_MS) == 1 &&
	    refused.revents & POLLERR)
		err = perform_connect(socket, address);
	return err;
}

static int connect_host_port(const struct call *call,
			     const struct target_socket *socket,
			     const struct socket_address *address,
			     const struct destination *to)
{
	struct ip_address loopback[] = {
		address_v4(INADDR_LOOPBACK),
		{ .family = AF_INET6, .bytes[15] = 1 },
	};
	int err = connect_own(socket, address);

	if (err != -ECONNREFUSED)
		return err;
	return connect_through(call, socket, address, to, loopback,
			       ARRAY_SIZE(loopback));
}

/* Which way */

/*
 * Fresh, so that connecting it begins a connection. Any other is told by the
 * kernel what it is: EISCONN, EALREADY, or that it is connected now.
 */
static bool is_fresh_stream(const struct target_socket *socket)
{
	int state;

	if (socket->type != SOCK_STREAM || (socket->protocol != IPPROTO_TCP &&
					    socket->protocol != IPPROTO_MPTCP))
		return false;
	/* MPTCP knows its state only once it is connecting. */
	return !get_tcp_state(socket, &state) || state == TCP_CLOSE;
}

static int connect_inet(const struct call *call,
			const struct target_socket *socket,
			const struct socket_address *address)
{
	struct destination to;

	/* An address of the other family is an error, or AF_UNSPEC. */
	if (!is_fresh_stream(socket) || socket->home != HOME_SANDBOX ||
	    address->length < sizeof(address->any.sa_family) ||
	    address->any.sa_family != socket->domain ||
	    !find_destination(call, address, &to))
		return perform_connect(socket, address);
	if (is_sandbox_address(&to.address)) {
		if (is_host_port(call->sup->plan, to.port))
			return connect_host_port(call, socket, address, &to);
		return perform_connect(socket, address);
	}
	return connect_outside(call, socket, address, &to);
}

int answer_connect(const struct call *call)
{
	AUTO_TARGET struct target_socket socket = TARGET_SOCKET_NONE;
	struct socket_address address;
	int err = take_socket_and_address(call, &socket, &address);

	if (err)
		return err;
	if (socket.home == HOME_HOST)
		return -EACCES;
	if (socket.domain == AF_INET || socket.domain == AF_INET6)
		return connect_inet(call, &socket, &address);
	if (socket.domain == AF_UNIX)
		return connect_unix(call, &socket, &address);
	return perform_connect(&socket, &address);
}
