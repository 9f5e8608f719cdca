/*
 * The redirection inside the sandbox's network namespace: TCP connections
 * with our mark go to the relay's port, whatever address they were made to.
 */
#pragma once

#include "../common/cordon.h"

enum { NFT_BATCH_MAX = 1024 };

/* The netlink messages; pure. Returns their length. */
size_t nft_build(uint16_t port, uint32_t mark,
		 unsigned char ret_batch[NFT_BATCH_MAX]);

/* Installs it through a NETLINK_NETFILTER socket of that namespace. */
MUST_CHECK int nft_install(int netfilter, uint16_t port, uint32_t mark);
