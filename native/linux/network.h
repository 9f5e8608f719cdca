/*
 * The sandbox's network as the supervisor has it: the names that were looked
 * up, the relay, the redirection. Parts for notify.c and its threads.
 */
#pragma once

#include "denial.h"
#include "names.h"
#include "relay.h"

/* The mark that the redirection looks for: "cd", ours alone in there. */
enum { REDIRECT_MARK = 0x6364 };

struct names *network_names(struct supervisor *sup);
struct denials *network_denials(struct supervisor *sup);

/* Loopback, and the addresses that the sandbox has besides. */
bool is_sandbox_address(const struct ip_address *address);

/*
 * The relay, with the redirection in place; the first caller starts both.
 * Any thread.
 */
MUST_CHECK int network_open_relay(struct supervisor *sup,
				  struct relay **ret_relay);

/* Resets relayed connections of that destination. */
void network_revoke(struct supervisor *sup, const struct destination *to);
