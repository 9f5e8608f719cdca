/*
 * Answers the sandbox's DNS questions, and forwards none: a lookup is a way
 * out. A name that may be looked up is asked of the broker; any other name
 * simply gets its synthetic address, and the connect decides.
 */
#pragma once

#include "network.h"

struct resolver;

/* Serves sup->sockets.dns_udp and dns_tcp on the loop. */
MUST_CHECK int resolver_start(struct supervisor *sup,
			      struct resolver **ret_resolver);
