/*
 * The relay. For each connection two sockets, each the peer of the other:
 * `inner` was accepted in the sandbox's network namespace, `outer` was
 * dialled by the supervisor. What one of them has is moved to the other
 * through a pipe (splice(2): no byte is copied to us). All connections share
 * one pipe; when a peer takes no more, what is in the pipe stays there, the
 * pipe becomes that direction's own, and nothing more is read from that side
 * until it went (so the sender sees a full window). The end of a stream is
 * passed on as a half-close, a reset as a reset.
 */
#include "relay.h"

#include <fcntl.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6/ip6_tables.h>
#include <netinet/tcp.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "../../common/limits.h"
#include "../supervisor/mailbox.h"
#include "../supervisor/thread.h"

enum {
	ROUNDS = 8, /* reads from one socket before the others get a turn */
	ACCEPT_RETRY_MS = 100,
	ORPHAN_CHECK_S = 90, /* longer than an orphan lives: tcp(7) */
};

struct kept {
	int fd; /* -1: free */
	uint64_t ticket;
	struct ip_address address;
	uint16_t port;
	struct destination label;
	int64_t until_ms;
};

struct pipe {
	int reader, writer; /* -1: none */
};

struct connection;

struct side {
	int fd;
	struct loop_source source;
	struct connection *connection;
	struct side *peer;
	struct pipe pipe; /* what was read here and the peer did not take */
	size_t unsent;	  /* bytes in it */
	bool ended;	  /* nothing more will be read here */
	bool finished;	  /* and the peer was told */
};

struct connection {
	struct relay *relay;
	struct connection *next, **link;
	struct side inner, outer;
	struct destination label;
};

struct relay {
	struct loop loop;
	struct mailbox mailbox;
	struct loop_source listener;
	struct loop_timer listen_again;
	struct loop_timer expiry;
	struct connection *connections;
	unsigned connection_count;
	struct drain_request {
		struct message message;
		struct relay *relay;
	} drain_request;
	bool draining;
	sem_t drained;
	struct pipe pipe; /* empty; for whoever moves bytes now */
	struct pipe spare;

	pthread_mutex_t lock; /* of what follows: other threads use it */
	struct kept kept[DIALLED_MAX];
	uint64_t last_ticket;
};

/* Dialled connections that wait for their program */

static void close_expired(struct relay *relay)
{
	int64_t now = loop_now_ms();

	for (size_t i = 0; i < DIALLED_MAX; i++)
		if (relay->kept[i].fd >= 0 && relay->kept[i].until_ms <= now)
			close_quietly(TAKE(relay->kept[i].fd));
}

int relay_expect(struct relay *relay, const struct ip_address *address,
		 uint16_t port, const struct destination *label, int dialled,
		 uint64_t *ret_ticket)
{
	int err = -EAGAIN;

	(void)pthread_mutex_lock(&relay->lock);
	close_expired(relay);
	for (size_t i = 0; err && i < DIALLED_MAX; i++) {
		if (relay->kept[i].fd >= 0)
			continue;
		relay->kept[i] = (struct kept){
			.fd = TAKE(dialled),
			.ticket = ++relay->last_ticket,
			.address = *address,
			.port = port,
			.label = *label,
			.until_ms = loop_now_ms() + DIALLED_MS,
		};
		*ret_ticket = relay->last_ticket;
		err = 0;
	}
	(void)pthread_mutex_unlock(&relay->lock);
	close_quietly(dialled);
	return err;
}

void relay_forget(struct relay *relay, uint64_t ticket)
{
	(void)pthread_mutex_lock(&relay->lock);
	for (size_t i = 0; i < DIALLED_MAX; i++)
		if (relay->kept[i].fd >= 0 && relay->kept[i].ticket == ticket)
			close_quietly(TAKE(relay->kept[i].fd));
	(void)pthread_mutex_unlock(&relay->lock);
}

/* The oldest one for that address, with its label; -1 when there is none. */
static int take_dialled(struct relay *relay, const struct ip_address *address,
			uint16_t port, struct destination *ret_label)
{
	struct kept *oldest = NULL;
	int fd = -1;

	(void)pthread_mutex_lock(&relay->lock);
	close_expired(relay);
	for (size_t i = 0; i < DIALLED_MAX; i++) {
		struct kept *kept = &relay->kept[i];

		if (kept->fd >= 0 && kept->port == port &&
		    address_equal(&kept->address, address) &&
		    (!oldest || kept->ticket < oldest->ticket))
			oldest = kept;
	}
	if (oldest) {
		*ret_label = oldest->label;
		fd = TAKE(oldest->fd);
	}
	(void)pthread_mutex_unlock(&relay->lock);
	return fd;
}

/* Connections */

static void close_pipe(struct pipe *pipe)
{
	close_quietly(TAKE(pipe->reader));
	close_quietly(TAKE(pipe->writer));
}

/* Makes sure that the shared pipe is there. */
static int have_pipe(struct relay *relay)
{
	static const struct pipe none = { -1, -1 };
	int fds[2];

	if (relay->pipe.reader >= 0)
		return 0;
	if (relay->spare.reader >= 0) {
		relay->pipe = relay->spare;
		relay->spare = none;
		return 0;
	}
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	/* Refused to a user who has many: pipe(7). Then it is slower. */
	(void)fcntl(fds[0], F_SETPIPE_SZ, RELAY_PIPE_BYTES);
	relay->pipe = (struct pipe){ fds[0], fds[1] };
	return 0;
}

/* The shared pipe becomes the side's own, with what is in it. */
static void keep_pipe(struct side *side, size_t unsent)
{
	struct relay *relay = side->connection->relay;

	side->pipe = relay->pipe;
	side->unsent = unsent;
	relay->pipe = (struct pipe){ -1, -1 };
}

static void give_back_pipe(struct side *side)
{
	struct relay *relay = side->connection->relay;

	if (relay->spare.reader >= 0)
		close_pipe(&relay->spare);
	relay->spare = side->pipe;
	side->pipe = (struct pipe){ -1, -1 };
}

static void close_reset(int fd)
{
	static const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	/* Without it the peer sees an ordinary end: socket(7). */
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close_quietly(fd);
}

static void tell_drained(struct relay *relay)
{
	if (!relay->draining)
		return;
	for (const struct connection *c = relay->connections; c; c = c->next)
		if (!c->inner.finished)
			return;
	relay->draining = false;
	(void)sem_post(&relay->drained);
}

static void end_connection(struct connection *connection, bool reset)
{
	struct relay *relay = connection->relay;
	struct side *sides[] = { &connection->inner, &connection->outer };

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		loop_remove(&relay->loop, &sides[i]->source);
		if (reset)
			close_reset(sides[i]->fd);
		else
			close_quietly(sides[i]->fd);
		close_pipe(&sides[i]->pipe);
	}
	*connection->link = connection->next;
	if (connection->next)
		connection->next->link = connection->link;
	relay->connection_count--;
	free(connection);
	tell_drained(relay);
}

/*
 * 0: all `length` bytes of the pipe went; else -EAGAIN or why the peer is
 * broken, with *ret_left. (No SIGPIPE: this thread blocks all signals.)
 */
static int send_from(const struct pipe *pipe, const struct side *to,
		     size_t length, size_t *ret_left)
{
	ssize_t sent;
	int err = 0;

	while (length && !err) {
		sent = RETRY(splice(pipe->reader, NULL, to->fd, NULL, length,
				    SPLICE_F_NONBLOCK | SPLICE_F_MOVE));
		if (sent > 0)
			length -= (size_t)sent;
		else
			err = sent < 0 ? -errno : -EPIPE;
	}
	*ret_left = length;
	return err;
}

static int send_unsent(struct side *side)
{
	int err;

	if (!side->unsent)
		return 0;
	err = send_from(&side->pipe, side->peer, side->unsent, &side->unsent);
	if (!err)
		give_back_pipe(side);
	return err;
}

/* Moves what is there now; -EAGAIN: one of the two would have to wait. */
static int move_once(struct side *side)
{
	struct relay *relay = side->connection->relay;
	ssize_t got;
	size_t left;
	int err = have_pipe(relay);

	if (err)
		return err;
	got = RETRY(splice(side->fd, NULL, relay->pipe.writer, NULL,
			   RELAY_PIPE_BYTES,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE));
	if (got < 0)
		return -errno;
	side->ended = got == 0;
	err = send_from(&relay->pipe, side->peer, (size_t)got, &left);
	if (left)
		keep_pipe(side, left);
	return err;
}

/* Moves what there is. 0 or -EAGAIN: later more; else the stream is broken. */
static int pump(struct side *side)
{
	int err;

	for (int round = 0; round < ROUNDS && !side->finished; round++) {
		err = send_unsent(side);
		if (!err && !side->ended)
			err = move_once(side);
		if (err)
			return err;
		if (side->ended) {
			/* It may have been reset meanwhile: seen when read. */
			(void)shutdown(side->peer->fd, SHUT_WR);
			side->finished = true;
		}
	}
	return 0;
}

/*
 * A side that may not be read now is taken off the loop: EPOLLHUP is reported
 * whether it is wanted or not (epoll_ctl(2)), for as long as it is not read.
 * One that has ended stays, so that its reset is noticed.
 */
static int watch(struct side *side)
{
	struct loop *loop = &side->connection->relay->loop;
	uint32_t events = 0;

	if (!side->ended && !side->unsent)
		events |= EPOLLIN;
	if (side->peer->unsent)
		events |= EPOLLOUT;
	if (!events && !side->ended) {
		loop_remove(loop, &side->source);
		return 0;
	}
	if (side->source.added)
		return loop_change(loop, &side->source, events);
	return loop_add(loop, &side->source, events);
}

/* Does what the events allow; 0, or why the connection is broken. */
static int move_bytes(struct side *side, uint32_t events)
{
	bool broken = events & (EPOLLERR | EPOLLHUP);
	int err;

	if (side->peer->unsent && (broken || events & EPOLLOUT)) {
		err = pump(side->peer);
		if (err && err != -EAGAIN)
			return err;
	}
	if (side->ended)
		return broken ? -ECONNRESET : 0;
	if (broken || events & EPOLLIN) {
		err = pump(side);
		if (err && err != -EAGAIN)
			return err;
	}
	return 0;
}

static void side_ready(void *owner, uint32_t events)
{
	struct side *side = owner;
	struct connection *connection = side->connection;

	if (move_bytes(side, events)) {
		end_connection(connection, true);
		return;
	}
	if (connection->inner.finished && connection->outer.finished) {
		end_connection(connection, false);
		return;
	}
	if (watch(&connection->inner) || watch(&connection->outer)) {
		end_connection(connection, true);
		return;
	}
	tell_drained(connection->relay);
}

/*
 * A program that closed its socket cannot be told from one that only wrote
 * its last byte; once the kernel has forgotten the former, a probe tells.
 */
static void notice_orphans(int inner)
{
	static const int on = 1, idle = ORPHAN_CHECK_S;

	(void)setsockopt(inner, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(inner, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
}

static void set_up_side(struct connection *connection, struct side *side,
			struct side *peer, int fd)
{
	static const int on = 1;

	/* The two ends decide what to hold back; in between nothing is. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	side->fd = fd;
	side->pipe = (struct pipe){ -1, -1 };
	side->connection = connection;
	side->peer = peer;
	side->source = (struct loop_source){
		.fd = fd,
		.ready = side_ready,
		.owner = side,
	};
}

/* Takes both sockets over. */
static int start_connection(struct relay *relay, int inner, int outer,
			    const struct destination *label)
{
	struct connection *c;

	if (relay->connection_count == RELAYED_MAX)
		return -EAGAIN;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->relay = relay;
	c->label = *label;
	set_up_side(c, &c->inner, &c->outer, inner);
	set_up_side(c, &c->outer, &c->inner, outer);
	notice_orphans(inner);
	c->next = relay->connections;
	c->link = &relay->connections;
	if (c->next)
		c->next->link = &c->next;
	relay->connections = c;
	relay->connection_count++;
	if (watch(&c->inner) || watch(&c->outer))
		end_connection(c, true);
	return 0;
}

/* Where the program connected to, before the redirection. */
static int original_destination(int fd, struct ip_address *ret_address,
				uint16_t *ret_port)
{
	struct socket_address to = { .length = sizeof(to.storage) };

	if (getsockopt(fd, SOL_IP, SO_ORIGINAL_DST, &to.storage, &to.length)) {
		to.length = sizeof(to.storage);
		if (getsockopt(fd, SOL_IPV6, IP6T_SO_ORIGINAL_DST, &to.storage,
			       &to.length))
			return -errno; /* was never redirected */
	}
	return address_of_socket(&to, ret_address, ret_port);
}

static void start_or_reset(struct relay *relay, int inner, int outer,
			   const struct destination *label)
{
	if (start_connection(relay, inner, outer, label) == 0)
		return;
	close_reset(inner);
	close_reset(outer);
}

static void admit(struct relay *relay, int inner)
{
	struct destination label;
	struct ip_address address;
	uint16_t port;
	int outer = -1;

	if (original_destination(inner, &address, &port) == 0)
		outer = take_dialled(relay, &address, port, &label);
	if (outer < 0) {
		close_reset(inner);
		return;
	}
	start_or_reset(relay, inner, outer, &label);
}

static void accept_all(void *owner, uint32_t events)
{
	struct relay *relay = owner;
	int fd;

	(void)events;
	for (;;) {
		fd = RETRY(accept4(relay->listener.fd, NULL, NULL,
				   SOCK_CLOEXEC | SOCK_NONBLOCK));
		if (fd >= 0) {
			admit(relay, fd);
			continue;
		}
		if (errno == ECONNABORTED)
			continue;
		if (errno == EAGAIN)
			return;
		/* Out of descriptors: the loop would report it for ever. */
		loop_remove(&relay->loop, &relay->listener);
		loop_arm(&relay->loop, &relay->listen_again, ACCEPT_RETRY_MS);
		return;
	}
}

static void listen_again(void *owner)
{
	struct relay *relay = owner;

	if (loop_add(&relay->loop, &relay->listener, EPOLLIN))
		loop_arm(&relay->loop, &relay->listen_again, ACCEPT_RETRY_MS);
}

static void expire_kept(void *owner)
{
	struct relay *relay = owner;

	(void)pthread_mutex_lock(&relay->lock);
	close_expired(relay);
	(void)pthread_mutex_unlock(&relay->lock);
	loop_arm(&relay->loop, &relay->expiry, DIALLED_MS);
}

/* Messages from other threads */

struct carrying {
	struct message message; /* first */
	struct relay *relay;
	int inner, outer;
	struct destination label;
};

static void carry(struct message *message)
{
	struct carrying *carrying = (struct carrying *)message;

	start_or_reset(carrying->relay, carrying->inner, carrying->outer,
		       &carrying->label);
	free(carrying);
}

void relay_carry(struct relay *relay, int inner, int outer,
		 const struct destination *label)
{
	struct carrying *carrying = malloc(sizeof(*carrying));

	if (!carrying) {
		close_reset(inner);
		close_reset(outer);
		return;
	}
	*carrying = (struct carrying){
		.message.deliver = carry,
		.relay = relay,
		.inner = inner,
		.outer = outer,
		.label = *label,
	};
	mailbox_post(&relay->mailbox, &carrying->message);
}

struct revocation {
	struct message message;
	struct relay *relay;
	struct destination label;
	char host[HOST_BYTES_MAX];
};

static bool same_label(const struct destination *a, const struct destination *b)
{
	if (a->port != b->port || !a->host != !b->host)
		return false;
	return a->host ? strcmp(a->host, b->host) == 0
		       : address_equal(&a->address, &b->address);
}

static void reset_revoked(struct message *message)
{
	struct revocation *revocation = (struct revocation *)message;
	struct relay *relay = revocation->relay;
	struct connection *c = relay->connections, *next;

	for (; c; c = next) {
		next = c->next;
		if (same_label(&c->label, &revocation->label))
			end_connection(c, true);
	}
	(void)pthread_mutex_lock(&relay->lock);
	for (size_t i = 0; i < DIALLED_MAX; i++)
		if (relay->kept[i].fd >= 0 &&
		    same_label(&relay->kept[i].label, &revocation->label))
			close_quietly(TAKE(relay->kept[i].fd));
	(void)pthread_mutex_unlock(&relay->lock);
	free(revocation);
}

void relay_revoke(struct relay *relay, const struct destination *label)
{
	struct revocation *revocation = calloc(1, sizeof(*revocation));

	if (!revocation)
		abort(); /* a revoked connection must not go on */
	revocation->message.deliver = reset_revoked;
	revocation->relay = relay;
	revocation->label = *label;
	if (label->host) {
		(void)strncpy(revocation->host, label->host, HOST_MAX);
		revocation->label.host = revocation->host;
	}
	mailbox_post(&relay->mailbox, &revocation->message);
}

static void drain(struct message *message)
{
	struct relay *relay = ((struct drain_request *)message)->relay;

	accept_all(relay, EPOLLIN); /* connected, and not yet accepted */
	relay->draining = true;
	tell_drained(relay);
}

void relay_drain(struct relay *relay, int timeout_ms)
{
	struct timespec until;
	int result;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	relay->drain_request = (struct drain_request){
		.message.deliver = drain,
		.relay = relay,
	};
	mailbox_post(&relay->mailbox, &relay->drain_request.message);
	result = RETRY(sem_clockwait(&relay->drained, CLOCK_MONOTONIC, &until));
	(void)result; /* in time or not: the run has ended */
}

/* Start */

static void *run_relay(void *argument)
{
	struct relay *relay = argument;

	/* Without a relay nothing gets out, so an error closes, not opens. */
	(void)!loop_run(&relay->loop);
	return NULL;
}

static int set_up_relay(struct relay *relay, int listener)
{
	int err = loop_open(&relay->loop);

	if (err)
		return err;
	relay->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (size_t i = 0; i < DIALLED_MAX; i++)
		relay->kept[i].fd = -1;
	relay->pipe = relay->spare = (struct pipe){ -1, -1 };
	if (sem_init(&relay->drained, 0, 0))
		return -errno;
	relay->listener = (struct loop_source){
		.fd = listener,
		.ready = accept_all,
		.owner = relay,
	};
	relay->listen_again =
		(struct loop_timer){ .due = listen_again, .owner = relay };
	relay->expiry =
		(struct loop_timer){ .due = expire_kept, .owner = relay };
	err = mailbox_open(&relay->mailbox, &relay->loop);
	if (!err)
		err = loop_add(&relay->loop, &relay->listener, EPOLLIN);
	if (!err)
		loop_arm(&relay->loop, &relay->expiry, DIALLED_MS);
	return err;
}

int relay_start(int listener, struct relay **ret_relay)
{
	struct relay *relay = calloc(1, sizeof(*relay));
	int err;

	if (!relay)
		return -ENOMEM;
	err = set_up_relay(relay, listener);
	if (!err)
		err = start_thread(run_relay, relay, 0);
	if (err) {
		loop_close(&relay->loop);
		free(relay);
		return err;
	}
	*ret_relay = relay;
	return 0;
}
