/* The kernel's list of TCP sockets, proc(5). Never touches the system. */
#pragma once

#include "address.h"

/*
 * Where a listener with that port can be reached from its own host, in the
 * text of /proc/net/tcp or tcp6. false: nobody listens on loopback or on any
 * address. A line that is not as it should be is passed over.
 */
bool find_listener(const char *text, uint16_t port,
		   struct ip_address *ret_address);
