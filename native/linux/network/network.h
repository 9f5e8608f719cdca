/*
 * The sandbox's network as the supervisor has it: the names that were looked
 * up, the relay, the redirection. Parts for notify.c and its threads.
 */
#pragma once

#include "../supervisor/broker.h"
#include "names.h"
#include "relay.h"

/* Marks of sockets (SO_MARK) that connect to the outside: nft.c. */
enum mark {
	MARK_NONE = 0,
	MARK_REDIRECT = 0x6301,
	MARK_REFUSE = 0x6302,
	MARK_HOLD = 0x6303,
};

/* Installs what the marks mean; also to find out whether that can be done. */
MUST_CHECK int network_redirect(int netfilter);

struct names *network_names(struct supervisor *sup);

/*
 * Sets the network up: before the first call that could need it is answered,
 * on the loop. Does nothing the second time.
 */
MUST_CHECK int network_begin(struct supervisor *sup);

/* Loopback, and the addresses that the sandbox has besides. */
bool is_sandbox_address(const struct ip_address *address);

/*
 * The relay, with the redirection in place; the first caller starts both.
 * Any thread.
 */
MUST_CHECK int network_open_relay(struct supervisor *sup,
				  struct relay **ret_relay);

/* The relay alone, for connections that come from the host. Any thread. */
MUST_CHECK int network_start_relay(struct supervisor *sup,
				   struct relay **ret_relay);

/*
 * Runs make(shared) in a child that is in the sandbox's network and shares our
 * descriptors, and the memory that is mapped so. It makes system calls only
 * and gives 0 or -errno, which is returned.
 */
MUST_CHECK int network_run_inside(struct supervisor *sup,
				  int (*make)(void *shared), void *shared);

/* Resets relayed connections of that destination. */
void network_revoke(struct supervisor *sup, const struct destination *to);
