/* The kernel's list of TCP sockets, proc(5). Never touches the system. */
#pragma once

#include "address.h"

/*
 * How many listen on that port, on loopback or on any address, by the text of
 * /proc/net/tcp or tcp6, and where the first of them can be reached from its
 * own host. A line that is not as it should be is passed over.
 */
size_t find_listener(const char *text, uint16_t port,
		     struct ip_address *ret_address);
