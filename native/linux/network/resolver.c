/*
 * The sandbox's DNS server, see resolver.h. Everything is bounded: lookups
 * that wait for the broker, questions that wait for one lookup, streams, and
 * the time that each may take. A question that finds no room is answered
 * SERVFAIL.
 */
#include "resolver.h"

#include <string.h>

#include "dns.h"

enum {
	WAITERS_MAX = 4 * LOOKUPS_MAX,
	KNOWN_MAX = 64, /* names that were looked up lately */
	EXISTS_MS = 30000,
	MISSING_MS = 2000, /* as long as one getaddrinfo(3) may take */
	DATAGRAMS = 32,	   /* before other sources get their turn */
};

/* Where an answer goes: a datagram's sender, or a stream. */
struct asker {
	struct socket_address from;
	struct in6_addr
		to; /* the address that was asked: answers come from it */
	struct stream *stream; /* NULL: a datagram */
};

struct stream {
	struct resolver *resolver;
	int fd; /* -1: free */
	struct loop_source source;
	struct loop_timer timer;
	unsigned char in[2 + DNS_MESSAGE_MAX];
	size_t length;
	bool waiting; /* for the broker: not read meanwhile */
};

struct waiter {
	struct waiter *next;
	struct dns_question question;
	struct asker asker;
};

/* One name that the broker resolves now. */
struct lookup {
	struct question question; /* first */
	struct resolver *resolver;
	struct lookup *next;
	struct loop_timer timer;
	struct subject subject;
	struct waiter *waiters;
};

struct resolver {
	struct supervisor *sup;
	struct loop_source udp, tcp;
	struct stream streams[DNS_STREAMS_MAX];
	struct lookup *lookups;
	unsigned lookup_count, waiter_count;
	struct known {
		const char *host;
		bool exists;
		int64_t until_ms;
	} known[KNOWN_MAX];
};

/* Sending */

static void close_stream(struct stream *stream)
{
	struct loop *loop = &stream->resolver->sup->loop;

	loop_disarm(loop, &stream->timer);
	loop_remove(loop, &stream->source);
	close_quietly(TAKE(stream->fd));
}

static void send_datagram(const struct resolver *resolver,
			  const struct asker *asker,
			  const unsigned char *answer, size_t length)
{
	union {
		struct cmsghdr header;
		unsigned char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control = { 0 };
	struct in6_pktinfo source = { .ipi6_addr = asker->to };
	/* sendmsg() wants them writable and leaves them alone. */
	struct iovec data;
	struct msghdr message;
	struct socket_address to = asker->from;
	unsigned char copy[DNS_ANSWER_MAX];

	memcpy(copy, answer, length);
	data = (struct iovec){ copy, length };
	control.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(source)),
		.cmsg_level = IPPROTO_IPV6,
		.cmsg_type = IPV6_PKTINFO,
	};
	memcpy(CMSG_DATA(&control.header), &source, sizeof(source));
	message = (struct msghdr){
		.msg_name = &to.storage,
		.msg_namelen = to.length,
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	/* Datagrams may get lost; the asker asks again. */
	(void)!sendmsg(resolver->udp.fd, &message, MSG_DONTWAIT);
}

static void send_stream(struct stream *stream, const unsigned char *answer,
			size_t length)
{
	unsigned char bytes[2 + DNS_ANSWER_MAX];

	bytes[0] = (unsigned char)(length >> 8);
	bytes[1] = (unsigned char)length;
	memcpy(bytes + 2, answer, length);
	/* Who does not read a kilobyte is not answered. */
	if (send(stream->fd, bytes, length + 2, MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)length + 2)
		close_stream(stream);
}

static void answer(struct resolver *resolver, const struct asker *asker,
		   const struct dns_question *question, enum dns_result result,
		   const struct dns_record *record)
{
	static const struct dns_record none;
	unsigned char bytes[DNS_ANSWER_MAX];
	size_t length =
		dns_write(question, result, record ? record : &none, bytes);

	if (!asker->stream)
		send_datagram(resolver, asker, bytes, length);
	else
		send_stream(asker->stream, bytes, length);
}

/* Names */

static void answer_name(struct resolver *resolver, const struct asker *asker,
			const struct dns_question *question)
{
	struct ip_address address;
	struct dns_record record = { .address = &address };

	if (question->type != DNS_A)
		answer(resolver, asker, question, DNS_OK, NULL);
	else if (names_take(network_names(resolver->sup), question->host,
			    &address))
		answer(resolver, asker, question, DNS_FAILED, NULL);
	else
		answer(resolver, asker, question, DNS_OK, &record);
}

/* RFC 6761, 6.3: not asked of anybody. */
static bool is_localhost(const char *host)
{
	static const char name[] = ".localhost";
	size_t length = strlen(host);

	return strcmp(host, name + 1) == 0 ||
	       (length > sizeof(name) &&
		strcmp(host + length - (sizeof(name) - 1), name) == 0);
}

static void answer_localhost(struct resolver *resolver,
			     const struct asker *asker,
			     const struct dns_question *question)
{
	struct ip_address v4 = address_v4(INADDR_LOOPBACK);
	struct ip_address v6 = { .family = AF_INET6, .bytes[15] = 1 };
	struct dns_record record = { 0 };

	if (question->type == DNS_A)
		record.address = &v4;
	else if (question->type == DNS_AAAA)
		record.address = &v6;
	answer(resolver, asker, question, DNS_OK, &record);
}

static void answer_reverse(struct resolver *resolver, const struct asker *asker,
			   const struct dns_question *question)
{
	struct ip_address address;
	struct dns_record record = { 0 };

	if (dns_reverse(question->host, &address) == 0)
		record.host = address_is_loopback(&address)
				      ? "localhost"
				      : names_find(network_names(resolver->sup),
						   &address);
	answer(resolver, asker, question,
	       record.host ? DNS_OK : DNS_NO_SUCH_NAME, &record);
}

/* Lookups that wait for the broker */

/* What is known about a name; NULL: nothing, or no longer. */
static const struct known *find_known(const struct resolver *resolver,
				      const char *host)
{
	int64_t now = loop_now_ms();

	for (size_t i = 0; i < KNOWN_MAX; i++) {
		const struct known *known = &resolver->known[i];

		if (known->host && known->until_ms > now &&
		    strcmp(known->host, host) == 0)
			return known;
	}
	return NULL;
}

static void remember(struct resolver *resolver, const char *host, bool exists)
{
	struct known *oldest = resolver->known;

	for (size_t i = 1; i < KNOWN_MAX; i++)
		if (resolver->known[i].until_ms < oldest->until_ms)
			oldest = &resolver->known[i];
	*oldest = (struct known){
		.host = host,
		.exists = exists,
		.until_ms = loop_now_ms() + (exists ? EXISTS_MS : MISSING_MS),
	};
}

static void take_stream_questions(struct stream *stream);

static void pause_stream(struct stream *stream)
{
	struct loop *loop = &stream->resolver->sup->loop;

	stream->waiting = true;
	loop_disarm(loop, &stream->timer);
	loop_remove(loop, &stream->source);
}

/* After its answer, unless that closed it. */
static void resume_stream(struct stream *stream)
{
	struct loop *loop = &stream->resolver->sup->loop;

	stream->waiting = false;
	if (stream->fd < 0)
		return;
	loop_arm(loop, &stream->timer, DNS_STREAM_MS);
	if (loop_add(loop, &stream->source, EPOLLIN))
		close_stream(stream);
	else
		take_stream_questions(stream);
}

/* Answers all who wait for it and frees it. */
static void end_lookup(struct lookup *lookup, enum dns_result result)
{
	struct resolver *resolver = lookup->resolver;
	struct lookup **at = &resolver->lookups;
	struct waiter *waiter, *next;

	while (*at != lookup)
		at = &(*at)->next;
	*at = lookup->next;
	resolver->lookup_count--;
	loop_disarm(&resolver->sup->loop, &lookup->timer);
	for (waiter = lookup->waiters; waiter; waiter = next) {
		next = waiter->next;
		resolver->waiter_count--;
		if (result == DNS_OK)
			answer_name(resolver, &waiter->asker,
				    &waiter->question);
		else
			answer(resolver, &waiter->asker, &waiter->question,
			       result, NULL);
		if (waiter->asker.stream)
			resume_stream(waiter->asker.stream);
		free(waiter);
	}
	free(lookup);
}

/*
 * Only "there is no such address" is an answer to a lookup. A refusal is not:
 * the name gets its address, and the connect fails with its own reason.
 */
static void lookup_settled(struct question *question,
			   const struct answer *answer)
{
	struct lookup *lookup = (struct lookup *)question;
	bool missing = answer->allowed && answer->address_count == 0;

	if (answer->allowed)
		remember(lookup->resolver, question->wanted.to.host, !missing);
	end_lookup(lookup, missing ? DNS_NO_SUCH_NAME : DNS_OK);
}

static void lookup_late(void *owner)
{
	struct lookup *lookup = owner;

	broker_withdraw(lookup->resolver->sup, &lookup->question);
	end_lookup(lookup, DNS_FAILED);
}

/* Joins the lookup of that name, or begins it; NULL: no room. */
static struct lookup *find_lookup(struct resolver *resolver, const char *host,
				  int rule)
{
	struct supervisor *sup = resolver->sup;
	struct ip_address address;
	struct lookup *lookup = resolver->lookups;

	while (lookup && strcmp(lookup->question.wanted.to.host, host) != 0)
		lookup = lookup->next;
	if (lookup)
		return lookup;
	/* Its name is kept by `names`, for as long as the run. */
	if (resolver->lookup_count == LOOKUPS_MAX ||
	    names_take(network_names(sup), host, &address))
		return NULL;
	lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return NULL;
	lookup->resolver = resolver;
	lookup->timer =
		(struct loop_timer){ .due = lookup_late, .owner = lookup };
	/* Who sent it is not told; pid 1 is ours and does not keep us waiting.
	 */
	subject_read(sup->init, sup->init, &lookup->subject);
	lookup->question = (struct question){
		.wanted = { .action = ACTION_LOOKUP,
			    .to.host = names_find(network_names(sup), &address),
			    .rule = rule,
			    .wants_addresses = true },
		.subject = &lookup->subject,
		.settled = lookup_settled,
	};
	lookup->next = resolver->lookups;
	resolver->lookups = lookup;
	resolver->lookup_count++;
	return lookup;
}

static void look_up(struct resolver *resolver, const struct asker *asker,
		    const struct dns_question *question, int rule)
{
	const struct known *known = find_known(resolver, question->host);
	struct lookup *lookup;
	struct waiter *waiter = NULL;

	if (known && known->exists) {
		answer_name(resolver, asker, question);
		return;
	}
	if (known) {
		answer(resolver, asker, question, DNS_NO_SUCH_NAME, NULL);
		return;
	}
	lookup = find_lookup(resolver, question->host, rule);
	if (lookup && resolver->waiter_count < WAITERS_MAX)
		waiter = calloc(1, sizeof(*waiter));
	if (!waiter) {
		answer(resolver, asker, question, DNS_FAILED, NULL);
		if (lookup && !lookup->waiters)
			end_lookup(lookup, DNS_FAILED);
		return;
	}
	waiter->question = *question;
	waiter->asker = *asker;
	waiter->next = lookup->waiters;
	lookup->waiters = waiter;
	resolver->waiter_count++;
	if (asker->stream)
		pause_stream(asker->stream);
	if (waiter->next)
		return; /* asked already */
	loop_arm(&resolver->sup->loop, &lookup->timer, LOOKUP_MS);
	broker_ask(resolver->sup, &lookup->question);
}

static void take_question(struct resolver *resolver, const struct asker *asker,
			  const unsigned char *message, size_t length)
{
	struct dns_question question;
	enum dns_result result;
	const char *host = question.host;
	int rule;

	if (dns_read(message, length, &question, &result))
		return;
	if (result != DNS_OK)
		answer(resolver, asker, &question, result, NULL);
	else if (question.type == DNS_PTR)
		answer_reverse(resolver, asker, &question);
	else if (is_localhost(host))
		answer_localhost(resolver, asker, &question);
	else if (!is_host_name(host))
		answer(resolver, asker, &question, DNS_NO_SUCH_NAME, NULL);
	else if (may_look_up(resolver->sup->plan, host, &rule))
		look_up(resolver, asker, &question, rule);
	else
		answer_name(resolver, asker, &question);
}

/* Datagrams */

/* The address that the datagram was sent to: ipv6(7), IPV6_RECVPKTINFO. */
static void read_destination(struct msghdr *message, struct in6_addr *ret_to)
{
	struct in6_pktinfo info;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c;
	     c = CMSG_NXTHDR(message, c)) {
		if (c->cmsg_level != IPPROTO_IPV6 ||
		    c->cmsg_type != IPV6_PKTINFO)
			continue;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		*ret_to = info.ipi6_addr;
	}
}

static void read_datagrams(void *owner, uint32_t events)
{
	struct resolver *resolver = owner;
	unsigned char bytes[DNS_MESSAGE_MAX];
	union {
		struct cmsghdr header;
		unsigned char bytes[256];
	} control;
	ssize_t length;

	(void)events;
	for (int i = 0; i < DATAGRAMS; i++) {
		struct asker asker = { 0 };
		struct iovec data = { bytes, sizeof(bytes) };
		struct msghdr message = {
			.msg_name = &asker.from.storage,
			.msg_namelen = sizeof(asker.from.storage),
			.msg_iov = &data,
			.msg_iovlen = 1,
			.msg_control = control.bytes,
			.msg_controllen = sizeof(control.bytes),
		};

		length = RETRY(
			recvmsg(resolver->udp.fd, &message, MSG_DONTWAIT));
		if (length < 0)
			return;
		if (message.msg_flags & MSG_TRUNC)
			continue;
		asker.from.length = message.msg_namelen;
		read_destination(&message, &asker.to);
		take_question(resolver, &asker, bytes, (size_t)length);
	}
}

/* Streams: one question after the other, RFC 7766 */

static void stream_late(void *owner)
{
	close_stream(owner);
}

static void take_stream_questions(struct stream *stream)
{
	struct asker asker = { .stream = stream };
	size_t length, whole;

	while (stream->fd >= 0 && !stream->waiting && stream->length >= 2) {
		length = (size_t)(stream->in[0] << 8 | stream->in[1]);
		whole = length + 2;
		if (length > DNS_MESSAGE_MAX) {
			close_stream(stream);
			return;
		}
		if (stream->length < whole)
			return;
		take_question(stream->resolver, &asker, stream->in + 2, length);
		stream->length -= whole;
		memmove(stream->in, stream->in + whole, stream->length);
	}
}

static void read_stream(void *owner, uint32_t events)
{
	struct stream *stream = owner;
	struct loop *loop = &stream->resolver->sup->loop;
	ssize_t got;

	(void)events;
	got = RETRY(recv(stream->fd, stream->in + stream->length,
			 sizeof(stream->in) - stream->length, MSG_DONTWAIT));
	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		close_stream(stream);
		return;
	}
	stream->length += (size_t)got;
	loop_arm(loop, &stream->timer, DNS_STREAM_MS);
	take_stream_questions(stream);
}

static void accept_stream(void *owner, uint32_t events)
{
	struct resolver *resolver = owner;
	struct stream *stream = resolver->streams;
	struct stream *end = stream + DNS_STREAMS_MAX;
	int fd = accept4(resolver->tcp.fd, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	while (stream < end && stream->fd >= 0)
		stream++;
	if (stream == end) {
		close_quietly(fd);
		return;
	}
	*stream = (struct stream){
		.resolver = resolver,
		.fd = fd,
		.source = { .fd = fd, .ready = read_stream, .owner = stream },
		.timer = { .due = stream_late, .owner = stream },
	};
	loop_arm(&resolver->sup->loop, &stream->timer, DNS_STREAM_MS);
	if (loop_add(&resolver->sup->loop, &stream->source, EPOLLIN))
		close_stream(stream);
}

int resolver_start(struct supervisor *sup, struct resolver **ret_resolver)
{
	struct resolver *resolver = calloc(1, sizeof(*resolver));
	int err;

	if (!resolver)
		return -ENOMEM;
	resolver->sup = sup;
	for (size_t i = 0; i < DNS_STREAMS_MAX; i++)
		resolver->streams[i].fd = -1;
	resolver->udp = (struct loop_source){
		.fd = sup->sockets.dns_udp,
		.ready = read_datagrams,
		.owner = resolver,
	};
	resolver->tcp = (struct loop_source){
		.fd = sup->sockets.dns_tcp,
		.ready = accept_stream,
		.owner = resolver,
	};
	err = loop_add(&sup->loop, &resolver->udp, EPOLLIN);
	if (!err)
		err = loop_add(&sup->loop, &resolver->tcp, EPOLLIN);
	if (err) {
		loop_remove(&sup->loop, &resolver->udp);
		free(resolver);
		return err;
	}
	*ret_resolver = resolver;
	return 0;
}
