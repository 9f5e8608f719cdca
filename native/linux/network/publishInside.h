/*
 * The sandbox's side of a published port: who listens in there, and sockets
 * that can connect to it. For the loop's thread.
 */
#pragma once

#include "../supervisor/supervisor.h"
#include "address.h"

struct inner_network;

/* Enters the sandbox's network, which has been set up. */
MUST_CHECK int inner_open(struct supervisor *sup,
			  struct inner_network **ret_inner);

/*
 * Where a TCP listener with that port can be reached from within: -ENOENT when
 * nobody listens on loopback or any address, or -errno.
 */
MUST_CHECK int inner_find(const struct inner_network *inner, uint16_t port,
			  struct ip_address *ret_address);

/* How many listen there; 0 also when that cannot be known. */
size_t inner_count(const struct inner_network *inner, uint16_t port);

/* A new TCP socket of the sandbox's network that does not block. */
MUST_CHECK int inner_take_socket(struct inner_network *inner,
				 sa_family_t family, int *ret_fd);
