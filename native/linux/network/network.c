/*
 * The sandbox's network: a namespace with nothing but lo, where every address
 * is local, so that nothing is unreachable and nothing leaves.
 *
 * It is born empty and without lo, and stays so until the first connect() or
 * bind() of the run is held: most commands make none, and setting it up takes
 * a tenth of a launch. Then a child of ours enters the namespace, sets it up
 * and leaves its sockets in the descriptors that it shares with us. DNS is
 * served on the loop. The redirection and the relay wait for the first
 * connection to the outside that is allowed.
 */
#include "network.h"

#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../supervisor/child.h"
#include "../supervisor/serving.h"
#include "netlink.h"
#include "nft.h"
#include "publish.h"
#include "resolver.h"

enum {
	LO_INDEX = 1, /* the first interface of any network namespace */
	DNS_PORT = 53,
	/* The sandbox cannot bind these two, sockets.c refuses it. */
	RELAY_PORT = 9,
	CLOSED_PORT = 10,
	BACKLOG = 4096,
};

/* fd63:6f72:646f:6e00::1, "cordon": a unique local address, RFC 4193. */
static const struct ip_address SANDBOX_ADDRESS_V6 = {
	.family = AF_INET6,
	.bytes = { 0xfd, 'c', 'o', 'r', 'd', 'o', 'n', [15] = 1 },
};

struct network {
	struct names *names;
	struct resolver *resolver;
	pthread_mutex_t lock;
	struct relay *relay; /* NULL: not started */
	bool redirects;	     /* to the relay what bears a mark */
};

/* Inside the namespace */

static size_t address_bytes(const struct ip_address *address)
{
	return address->family == AF_INET ? 4 : 16;
}

static void add_interface_up(struct netlink_batch *b)
{
	struct ifinfomsg lo = {
		.ifi_index = LO_INDEX,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};

	netlink_message(b, RTM_NEWLINK, 0, &lo, sizeof(lo));
}

/* Besides loopback, so that AI_ADDRCONFIG (getaddrinfo(3)) sees a network. */
static void add_address(struct netlink_batch *b,
			const struct ip_address *address)
{
	struct ifaddrmsg lo = {
		.ifa_family = (uint8_t)address->family,
		.ifa_prefixlen = (uint8_t)(8 * address_bytes(address)),
		.ifa_flags = IFA_F_NODAD, /* usable at once */
		.ifa_index = LO_INDEX,
	};

	netlink_message(b, RTM_NEWADDR, NLM_F_CREATE, &lo, sizeof(lo));
	netlink_attribute(b, IFA_LOCAL, address->bytes, address_bytes(address));
}

/* Every destination is this host; connections to it come from `source`. */
static void add_route(struct netlink_batch *b, const struct ip_address *source,
		      int flags)
{
	static const uint32_t lo = LO_INDEX;
	struct rtmsg route = {
		.rtm_family = (uint8_t)source->family,
		.rtm_table = RT_TABLE_LOCAL,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = source->family == AF_INET ? RT_SCOPE_HOST
						       : RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_LOCAL,
	};

	netlink_message(b, RTM_NEWROUTE, NLM_F_CREATE | flags, &route,
			sizeof(route));
	netlink_attribute(b, RTA_OIF, &lo, sizeof(lo));
	netlink_attribute(b, RTA_PREFSRC, source->bytes, address_bytes(source));
}

static int set_up_interface(void)
{
	struct netlink_batch b = { 0 };
	struct ip_address v4 = address_v4(SANDBOX_ADDRESS);
	AUTO_CLOSE int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	add_interface_up(&b);
	add_address(&b, &v4);
	add_address(&b, &SANDBOX_ADDRESS_V6);
	add_route(&b, &v4, 0);
	add_route(&b, &SANDBOX_ADDRESS_V6, NLM_F_ACK);
	return netlink_send(fd, &b);
}

/* An IPv6 socket on the unspecified address takes IPv4 too: ipv6(7). */
static int bind_any(int type, uint16_t port, int *ret_fd)
{
	static const int off = 0, on = 1;
	struct sockaddr_in6 any = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	AUTO_CLOSE int fd =
		socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) ||
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)))
		return -errno;
	if (type == SOCK_STREAM && listen(fd, BACKLOG))
		return -errno;
	/* An answer comes from where the question went, whatever that is. */
	if (type == SOCK_DGRAM &&
	    (setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on))))
		return -errno;
	*ret_fd = TAKE(fd);
	return 0;
}

int network_setup(struct net_sockets *ret_sockets, const char **ret_step)
{
	struct net_sockets sockets = NET_SOCKETS_NONE;
	int err;

	*ret_step = "interface lo";
	err = set_up_interface();
	if (err)
		return err;
	*ret_step = "netfilter";
	sockets.netfilter =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
	if (sockets.netfilter < 0)
		return -errno;
	*ret_step = "relay";
	err = bind_any(SOCK_STREAM, RELAY_PORT, &sockets.relay);
	if (err)
		return err;
	*ret_step = "DNS";
	err = bind_any(SOCK_DGRAM, DNS_PORT, &sockets.dns_udp);
	if (!err)
		err = bind_any(SOCK_STREAM, DNS_PORT, &sockets.dns_tcp);
	if (err)
		return err; /* the process ends here, and with it the rest */
	*ret_sockets = sockets;
	return 0;
}

/* Outside */

/* Relayed connections take two descriptors each, questions some more. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* else there are fewer */
}

int network_start(struct supervisor *sup)
{
	struct network *network = calloc(1, sizeof(*network));
	int err;

	if (!network)
		return -ENOMEM;
	network->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	err = names_open(&network->names);
	if (err) {
		free(network);
		return err;
	}
	sup->network = network;
	err = publish_start(sup);
	if (!err)
		err = serving_start(sup);
	if (err)
		return err;
	sup->sockets = (struct net_sockets)NET_SOCKETS_NONE;
	raise_descriptor_limit();
	/*
	 * Without notifications nothing tells when it is needed. A sandbox
	 * around this one may refuse it: then nothing can be reached.
	 */
	if (sup->listener < 0 && network_begin(sup)) {
		struct gap gap = describe_gap(GAP_REDIRECT);

		add_gap(sup, gap.promise, gap.reason);
	}
	return 0;
}

/* What the child that sets it up has to say. */
struct setting_up {
	const char *step;
	struct net_sockets sockets;
};

static int set_up_there(void *shared)
{
	struct setting_up *result = shared;

	return network_setup(&result->sockets, &result->step);
}

struct inside_call {
	const struct inside *inside;
	int (*make)(void *shared);
	void *shared;
};

static int enter_and_make(void *argument)
{
	const struct inside_call *call = argument;

	if (setns(call->inside->user, CLONE_NEWUSER) ||
	    setns(call->inside->net, CLONE_NEWNET))
		return -errno;
	return call->make(call->shared);
}

int network_run_inside(struct supervisor *sup, int (*make)(void *shared),
		       void *shared)
{
	struct inside_call call = { &sup->inside, make, shared };

	return run_in_child(CLONE_FILES, enter_and_make, &call);
}

static void report_failure(struct supervisor *sup, const char *step, int err)
{
	char line[256];

	(void)snprintf(line, sizeof(line),
		       "cordon: the network of the sandbox could not be set "
		       "up (%s: %s); nothing can be reached",
		       step, strerror(-err));
	print_line(sup, line);
}

int network_begin(struct supervisor *sup)
{
	struct setting_up *result;
	int err;

	if (sup->network->resolver)
		return 0;
	result = allocate_shared(sizeof(*result));
	if (!result)
		return -errno;
	*result = (struct setting_up){
		.step = "entering it",
		.sockets = NET_SOCKETS_NONE,
	};
	err = network_run_inside(sup, set_up_there, result);
	if (!err) {
		sup->sockets = result->sockets;
		result->step = "DNS";
		err = resolver_start(sup, &sup->network->resolver);
	}
	if (err)
		report_failure(sup, result->step, err);
	(void)munmap(result, sizeof(*result));
	return err;
}

bool is_sandbox_address(const struct ip_address *address)
{
	struct ip_address v4 = address_v4(SANDBOX_ADDRESS);

	return address_is_loopback(address) || address_equal(address, &v4) ||
	       address_equal(address, &SANDBOX_ADDRESS_V6);
}

struct names *network_names(struct supervisor *sup)
{
	return sup->network->names;
}

int network_redirect(int netfilter)
{
	static const struct redirection rules = {
		.redirect_mark = MARK_REDIRECT,
		.relay_port = RELAY_PORT,
		.refuse_mark = MARK_REFUSE,
		.closed_port = CLOSED_PORT,
		.hold_mark = MARK_HOLD,
	};

	return nft_install(netfilter, &rules);
}

/* With the lock held. */
static int have_relay(struct supervisor *sup, struct relay **ret_relay)
{
	struct network *network = sup->network;
	int err = 0;

	if (!network->relay)
		err = relay_start(sup->sockets.relay, &network->relay);
	if (!err)
		*ret_relay = network->relay;
	return err;
}

int network_open_relay(struct supervisor *sup, struct relay **ret_relay)
{
	struct network *network = sup->network;
	int err = 0;

	(void)pthread_mutex_lock(&network->lock);
	if (!network->redirects)
		err = network_redirect(sup->sockets.netfilter);
	network->redirects = !err;
	if (!err)
		err = have_relay(sup, ret_relay);
	(void)pthread_mutex_unlock(&network->lock);
	return err;
}

int network_start_relay(struct supervisor *sup, struct relay **ret_relay)
{
	int err;

	(void)pthread_mutex_lock(&sup->network->lock);
	err = have_relay(sup, ret_relay);
	(void)pthread_mutex_unlock(&sup->network->lock);
	return err;
}

static struct relay *started_relay(struct supervisor *sup)
{
	struct network *network = sup->network;
	struct relay *relay;

	if (!network)
		return NULL;
	(void)pthread_mutex_lock(&network->lock);
	relay = network->relay;
	(void)pthread_mutex_unlock(&network->lock);
	return relay;
}

void network_revoke(struct supervisor *sup, const struct destination *to)
{
	struct relay *relay = started_relay(sup);

	if (relay)
		relay_revoke(relay, to);
}

void network_finish(struct supervisor *sup, int timeout_ms)
{
	struct relay *relay = started_relay(sup);

	publish_finish(sup);
	if (relay)
		relay_drain(relay, timeout_ms);
}
