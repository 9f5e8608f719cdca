/*
 * Published ports, see publish.h. A port is asked about, refused, or open, for
 * as long as somebody inside listens on it; that is looked at every
 * PUBLISH_CHECK_MS and with each connection. The host's listener is on
 * loopback only. A connection to it gets a socket of the sandbox's own
 * network, which is connected to the listener inside; then the relay carries
 * the bytes. All but the note_…() functions run on the loop's thread.
 */
#include "publish.h"

#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"
#include "../supervisor/ask.h"
#include "network.h"
#include "publishInside.h"

enum {
	HOST_BACKLOG = 128,
};

enum port_state { PORT_ASKED, PORT_REFUSED, PORT_OPEN };

struct published_port {
	struct question question; /* first */
	struct subject subject;
	struct publish *publish;
	struct published_port *next;
	enum port_state state;
	uint16_t port, host_port;
	uint64_t listener; /* cookie of the one that was met last */
	struct loop_source listeners[2]; /* IPv4, IPv6; fd -1: none */
};

/* A connection from the host that the listener inside has not taken yet. */
struct arriving {
	struct arriving *next;
	struct published_port *port;
	int inner, outer;
	struct loop_source source;
	int64_t until_ms;
};

struct publish {
	struct supervisor *sup;
	struct inner_network *inner; /* NULL: not entered yet */
	struct published_port *ports;
	struct arriving *arriving;
	size_t port_count, arriving_count;
	struct loop_timer check;
	uint16_t allowed[PUBLISHED_MAX]; /* by an answer given before */
	size_t allowed_count;

	pthread_mutex_t lock;		   /* of what follows */
	uint64_t bound[PUBLISH_BOUND_MAX]; /* cookies, the oldest goes first */
	size_t bound_next;
};

/* What the threads that answer calls tell */

static uint64_t cookie_of(int socket)
{
	uint64_t cookie;
	socklen_t length = sizeof(cookie);

	/* 0 is no socket's: socket(7), SO_COOKIE. */
	return getsockopt(socket, SOL_SOCKET, SO_COOKIE, &cookie, &length)
		       ? 0
		       : cookie;
}

void publish_note_bound(struct supervisor *sup, int socket)
{
	struct publish *publish = sup->publish;

	(void)pthread_mutex_lock(&publish->lock);
	publish->bound[publish->bound_next] = cookie_of(socket);
	publish->bound_next = (publish->bound_next + 1) % PUBLISH_BOUND_MAX;
	(void)pthread_mutex_unlock(&publish->lock);
}

/* One whose port the kernel chose is meant for its own program's ends. */
static bool has_chosen_port(struct publish *publish, uint64_t cookie)
{
	bool found = false;

	(void)pthread_mutex_lock(&publish->lock);
	for (size_t i = 0; i < PUBLISH_BOUND_MAX && !found; i++)
		found = cookie && publish->bound[i] == cookie;
	(void)pthread_mutex_unlock(&publish->lock);
	return found;
}

bool is_planned_port(const struct plan *plan, uint16_t port)
{
	for (size_t i = 0; i < plan->publish_port_count; i++)
		if (plan->publish_ports[i] == port)
			return true;
	return false;
}

struct listening {
	struct message message; /* first */
	struct publish *publish;
	struct subject subject;
	uint16_t port;
	uint64_t listener; /* its cookie */
};

static void take_listening(struct message *message);

void publish_note_listening(const struct call *call,
			    const struct target_socket *socket)
{
	struct publish *publish = call->sup->publish;
	struct socket_address local = { .length = sizeof(local.storage) };
	uint64_t cookie = cookie_of(socket->fd);
	struct listening *listening;
	struct ip_address address;
	uint16_t port;

	if (socket->home != HOME_SANDBOX || socket->type != SOCK_STREAM ||
	    getsockname(socket->fd, &local.any, &local.length) ||
	    address_of_socket(&local, &address, &port) ||
	    port < PUBLISH_PORT_MIN || !address_is_loopback(&address) ||
	    !has_chosen_port(publish, cookie) ||
	    mailbox_is_full(&call->sup->mailbox))
		return;
	listening = calloc(1, sizeof(*listening));
	if (!listening)
		return; /* not published; it listens all the same */
	listening->message.deliver = take_listening;
	listening->publish = publish;
	listening->port = port;
	listening->listener = cookie;
	subject_read(call->thread, call->sup->init, &listening->subject);
	mailbox_post(&call->sup->mailbox, &listening->message);
}

/* Frames */

static void send_published(const struct published_port *port)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "published");
	json_member_integer(&w, "port", port->port);
	json_member_integer(&w, "hostPort", port->host_port);
	json_member_string(&w, "address", "127.0.0.1");
	json_close_object(&w);
	broker_send(port->publish->sup, &w);
}

static void send_unpublished(const struct published_port *port,
			     const char *reason)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "unpublished");
	json_member_integer(&w, "port", port->port);
	json_member_string(&w, "reason", reason);
	json_close_object(&w);
	broker_send(port->publish->sup, &w);
}

/* Connections of the host */

static struct destination label_of(const struct published_port *port)
{
	/* Of no address family, as no connection to the outside is. */
	return (struct destination){ .port = port->port };
}

static void end_arriving(struct arriving *arriving)
{
	struct publish *publish = arriving->port->publish;
	struct arriving **at = &publish->arriving;

	while (*at != arriving)
		at = &(*at)->next;
	*at = arriving->next;
	publish->arriving_count--;
	loop_remove(&publish->sup->loop, &arriving->source);
	close_quietly(arriving->inner);
	close_quietly(arriving->outer);
	free(arriving);
}

/* The listener inside has answered, one way or the other. */
static void finish_arriving(void *owner, uint32_t events)
{
	struct arriving *arriving = owner;
	struct supervisor *sup = arriving->port->publish->sup;
	struct destination label = label_of(arriving->port);
	socklen_t length = sizeof(int);
	struct relay *relay;
	int outcome = 0;

	(void)events;
	if (getsockopt(arriving->inner, SOL_SOCKET, SO_ERROR, &outcome,
		       &length) == 0 &&
	    outcome == 0 && network_start_relay(sup, &relay) == 0) {
		loop_remove(&sup->loop, &arriving->source);
		relay_carry(relay, TAKE(arriving->inner), TAKE(arriving->outer),
			    &label);
	}
	end_arriving(arriving);
}

static void close_port(struct published_port *port, const char *reason);

/* Connects a new socket of the sandbox's; takes outer over. */
static int begin_arriving(struct published_port *port,
			  const struct ip_address *address, int outer)
{
	struct publish *publish = port->publish;
	struct socket_address to = address_to_socket(address, port->port);
	struct arriving *arriving;
	AUTO_CLOSE int outer_fd = outer;
	AUTO_CLOSE int inner = -1;
	int err;

	if (publish->arriving_count == ARRIVING_MAX)
		return -EAGAIN;
	err = inner_take_socket(publish->inner, address->family, &inner);
	if (err)
		return err;
	if (connect(inner, &to.any, to.length) && errno != EINPROGRESS)
		return -errno;
	arriving = calloc(1, sizeof(*arriving));
	if (!arriving)
		return -ENOMEM;
	arriving->port = port;
	arriving->source = (struct loop_source){
		.fd = inner,
		.ready = finish_arriving,
		.owner = arriving,
	};
	err = loop_add(&publish->sup->loop, &arriving->source, EPOLLOUT);
	if (err) {
		free(arriving);
		return err;
	}
	arriving->inner = TAKE(inner);
	arriving->outer = TAKE(outer_fd);
	arriving->until_ms = loop_now_ms() + ARRIVING_MS;
	arriving->next = publish->arriving;
	publish->arriving = arriving;
	publish->arriving_count++;
	return 0;
}

static void accept_from_host(struct published_port *port,
			     struct loop_source *listener)
{
	struct publish *publish = port->publish;
	struct ip_address address;
	int fd, err;

	for (;;) {
		fd = RETRY(accept4(listener->fd, NULL, NULL,
				   SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (fd < 0 && errno == ECONNABORTED)
			continue;
		/* Out of descriptors: heard again at the next check. */
		if (fd < 0 && errno != EAGAIN)
			loop_remove(&publish->sup->loop, listener);
		if (fd < 0)
			return;
		err = inner_find(publish->inner, port->port, &address);
		if (err) {
			close_quietly(fd);
			if (err == -ENOENT) {
				close_port(port, "closed");
				return;
			}
			continue;
		}
		/* What cannot be carried is hung up. */
		(void)!begin_arriving(port, &address, fd);
	}
}

static void host_ready_v4(void *owner, uint32_t events)
{
	struct published_port *port = owner;

	(void)events;
	accept_from_host(port, &port->listeners[0]);
}

static void host_ready_v6(void *owner, uint32_t events)
{
	struct published_port *port = owner;

	(void)events;
	accept_from_host(port, &port->listeners[1]);
}

/* The host's listeners */

static int listen_on_host(const struct ip_address *address, uint16_t port,
			  int *ret_fd)
{
	static const int on = 1;
	struct socket_address at = address_to_socket(address, port);
	AUTO_CLOSE int fd = socket(
		address->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 ||
	    /* Connections that have ended do not keep the port: ip(7). */
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (address->family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
	    bind(fd, &at.any, at.length) || listen(fd, HOST_BACKLOG))
		return -errno;
	*ret_fd = TAKE(fd);
	return 0;
}

static int port_of(int socket, uint16_t *ret_port)
{
	struct socket_address local = { .length = sizeof(local.storage) };
	struct ip_address address;

	if (getsockname(socket, &local.any, &local.length))
		return -errno;
	return address_of_socket(&local, &address, ret_port);
}

static int open_listeners(struct published_port *port)
{
	const struct ip_address v4 = address_v4(INADDR_LOOPBACK);
	const struct ip_address v6 = { .family = AF_INET6, .bytes[15] = 1 };
	int err = listen_on_host(&v4, port->port, &port->listeners[0].fd);

	if (err == -EADDRINUSE)
		err = listen_on_host(&v4, 0, &port->listeners[0].fd);
	if (!err)
		err = port_of(port->listeners[0].fd, &port->host_port);
	if (err)
		return err;
	/* Some programs try this one first; taken or absent, it is left. */
	(void)!listen_on_host(&v6, port->host_port, &port->listeners[1].fd);
	return 0;
}

static int hear(struct published_port *port)
{
	struct loop *loop = &port->publish->sup->loop;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(port->listeners) && !err; i++)
		if (port->listeners[i].fd >= 0 && !port->listeners[i].added)
			err = loop_add(loop, &port->listeners[i], EPOLLIN);
	return err;
}

static void close_listeners(struct published_port *port)
{
	for (size_t i = 0; i < ARRAY_SIZE(port->listeners); i++) {
		loop_remove(&port->publish->sup->loop, &port->listeners[i]);
		close_quietly(TAKE(port->listeners[i].fd));
	}
}

/* Ports */

static void forget_port(struct published_port *port)
{
	struct publish *publish = port->publish;
	struct published_port **at = &publish->ports;

	while (*at != port)
		at = &(*at)->next;
	*at = port->next;
	publish->port_count--;
	broker_withdraw(publish->sup, &port->question);
	free(port);
}

/* Nothing of it can be reached from the host any more. */
static void stop_publishing(struct published_port *port, const char *reason)
{
	struct publish *publish = port->publish;
	struct destination label = label_of(port);
	struct arriving *arriving = publish->arriving, *next;

	close_listeners(port);
	for (; arriving; arriving = next) {
		next = arriving->next;
		if (arriving->port == port)
			end_arriving(arriving);
	}
	network_revoke(publish->sup, &label);
	port->state = PORT_REFUSED;
	send_unpublished(port, reason);
}

static void close_port(struct published_port *port, const char *reason)
{
	if (port->state == PORT_OPEN)
		stop_publishing(port, reason);
	forget_port(port);
}

static void open_port(struct published_port *port)
{
	struct relay *relay;
	int err = network_start_relay(port->publish->sup, &relay);

	if (!err)
		err = open_listeners(port);
	if (!err)
		err = hear(port);
	if (!err) {
		port->state = PORT_OPEN;
		send_published(port);
		return;
	}
	close_listeners(port);
	port->state = PORT_REFUSED;
	send_unpublished(port, "failed");
}

static void settle_port(struct question *question, const struct answer *answer)
{
	struct published_port *port = (struct published_port *)question;

	if (answer->allowed)
		open_port(port);
	else
		port->state = PORT_REFUSED;
}

static struct published_port *find_port(const struct publish *publish,
					uint16_t number)
{
	struct published_port *port = publish->ports;

	while (port && port->port != number)
		port = port->next;
	return port;
}

static bool is_allowed(const struct publish *publish, uint16_t port)
{
	for (size_t i = 0; i < publish->allowed_count; i++)
		if (publish->allowed[i] == port)
			return true;
	return is_planned_port(publish->sup->plan, port);
}

static void check_ports(void *owner);

static struct published_port *add_port(struct publish *publish, uint16_t number,
				       const struct subject *subject)
{
	struct published_port *port = calloc(1, sizeof(*port));

	if (!port)
		return NULL;
	port->publish = publish;
	port->port = number;
	port->subject = *subject;
	port->question = (struct question){
		.wanted = { .action = ACTION_PUBLISH,
			    .rule = RULE_MODE,
			    .to.port = number },
		.subject = &port->subject,
		.settled = settle_port,
	};
	port->listeners[0] = (struct loop_source){
		.fd = -1,
		.ready = host_ready_v4,
		.owner = port,
	};
	port->listeners[1] = (struct loop_source){
		.fd = -1,
		.ready = host_ready_v6,
		.owner = port,
	};
	port->next = publish->ports;
	publish->ports = port;
	publish->port_count++;
	loop_arm(&publish->sup->loop, &publish->check, PUBLISH_CHECK_MS);
	return port;
}

/* Somebody inside listens on it. */
static void meet_port(struct publish *publish, uint16_t number,
		      const struct subject *subject)
{
	bool allowed = is_allowed(publish, number);
	struct published_port *port = find_port(publish, number);

	if (!allowed &&
	    (port || publish->sup->plan->publish_mode != PUBLISH_ASK))
		return;
	if (!publish->inner && inner_open(publish->sup, &publish->inner))
		return; /* it stays in the sandbox */
	if (!port && publish->port_count < PUBLISHED_MAX)
		port = add_port(publish, number, subject);
	if (!port || port->state == PORT_OPEN)
		return;
	if (allowed) {
		broker_withdraw(publish->sup, &port->question);
		open_port(port);
	} else {
		broker_ask(publish->sup, &port->question);
	}
}

/*
 * Whoever was refused is gone, if nobody but the one that has come now listens
 * there: a server that was started again is asked about again.
 */
static bool is_alone(const struct published_port *port)
{
	return inner_count(port->publish->inner, port->port) == 1;
}

static void take_listening(struct message *message)
{
	struct listening *listening = (struct listening *)message;

	struct publish *publish = listening->publish;
	struct published_port *port = find_port(publish, listening->port);

	if (port && port->state == PORT_REFUSED &&
	    port->listener != listening->listener && is_alone(port))
		forget_port(port);
	meet_port(publish, listening->port, &listening->subject);
	port = find_port(publish, listening->port);
	if (port)
		port->listener = listening->listener;
	free(listening);
}

static void end_late_arrivals(struct publish *publish)
{
	struct arriving *arriving = publish->arriving, *next;
	int64_t now = loop_now_ms();

	for (; arriving; arriving = next) {
		next = arriving->next;
		if (arriving->until_ms <= now)
			end_arriving(arriving);
	}
}

static void check_ports(void *owner)
{
	struct publish *publish = owner;
	struct published_port *port = publish->ports, *next;
	struct ip_address address;

	end_late_arrivals(publish);
	for (; port; port = next) {
		next = port->next;
		if (inner_find(publish->inner, port->port, &address) == -ENOENT)
			close_port(port, "closed");
		else
			(void)!hear(port); /* or at the next check */
	}
	if (publish->ports)
		loop_arm(&publish->sup->loop, &publish->check,
			 PUBLISH_CHECK_MS);
}

/* From outside */

struct allowing {
	struct message message; /* first */
	struct publish *publish;
	uint16_t port;
};

static void take_allowing(struct message *message)
{
	struct allowing *allowing = (struct allowing *)message;
	struct publish *publish = allowing->publish;
	struct published_port *port = find_port(publish, allowing->port);

	if (!is_allowed(publish, allowing->port) &&
	    publish->allowed_count < PUBLISHED_MAX)
		publish->allowed[publish->allowed_count++] = allowing->port;
	if (port)
		meet_port(publish, allowing->port, &port->subject);
	free(allowing);
}

void publish_allow(struct supervisor *sup, uint16_t port)
{
	struct allowing *allowing = calloc(1, sizeof(*allowing));

	if (!allowing)
		return; /* then it is asked once more */
	allowing->message.deliver = take_allowing;
	allowing->publish = sup->publish;
	allowing->port = port;
	mailbox_post(&sup->mailbox, &allowing->message);
}

/* The next listener of that port is asked about. */
static void forbid(struct publish *publish, uint16_t port)
{
	for (size_t i = 0; i < publish->allowed_count; i++)
		if (publish->allowed[i] == port)
			publish->allowed[i] =
				publish->allowed[--publish->allowed_count];
}

void publish_revoke(struct supervisor *sup, uint16_t number)
{
	struct published_port *port;

	if (!sup->publish)
		return; /* nothing has begun */
	forbid(sup->publish, number);
	port = find_port(sup->publish, number);
	if (port && port->state == PORT_OPEN)
		stop_publishing(port, "revoked");
}

void publish_tell(struct supervisor *sup)
{
	const struct published_port *port =
		sup->publish ? sup->publish->ports : NULL;

	for (; port; port = port->next)
		if (port->state == PORT_OPEN)
			send_published(port);
}

void publish_finish(struct supervisor *sup)
{
	struct publish *publish = sup->publish;

	while (publish && publish->ports)
		close_port(publish->ports, "closed");
}

int publish_start(struct supervisor *sup)
{
	struct publish *publish = calloc(1, sizeof(*publish));

	if (!publish)
		return -ENOMEM;
	publish->sup = sup;
	publish->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	publish->check =
		(struct loop_timer){ .due = check_ports, .owner = publish };
	sup->publish = publish;
	return 0;
}
