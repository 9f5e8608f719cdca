/*
 * What happens inside the sandbox's network namespace to TCP connections that
 * bear one of our marks, whatever address they were made to.
 */
#pragma once

#include "netlink.h"

struct redirection {
	uint32_t redirect_mark; /* → relay_port */
	uint16_t relay_port;
	uint32_t refuse_mark; /* → a port where nobody listens */
	uint16_t closed_port;
	uint32_t hold_mark; /* dropped: the caller's kernel tries again */
};

/* The messages; pure. */
void nft_build(struct netlink_batch *b, const struct redirection *rules);

/* Installs it through a NETLINK_NETFILTER socket of that namespace. */
MUST_CHECK int nft_install(int netfilter, const struct redirection *rules);
