/*
 * The redirection inside the sandbox's network namespace: TCP connections
 * with our mark go to the relay's port, whatever address they were made to.
 */
#pragma once

#include "netlink.h"

/* The messages; pure. */
void nft_build(struct netlink_batch *b, uint16_t port, uint32_t mark);

/* Installs it through a NETLINK_NETFILTER socket of that namespace. */
MUST_CHECK int nft_install(int netfilter, uint16_t port, uint32_t mark);
