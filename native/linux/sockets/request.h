/*
 * `cordon request`: a program of the sandbox asks for something before it
 * needs it. It connects to an abstract name that leads to us, says one frame
 * and gets one (PROTOCOL.md, "Requests from inside"). It decides nothing.
 */
#pragma once

#include "../supervisor/notify.h"
#include "sockets.h"

/* Whether it is the address that leads to us. */
bool is_request_name(const struct socket_address *address);

/* The result of the connect: 0 or -errno. Any thread. */
MUST_CHECK int request_connect(const struct call *call,
			       const struct target_socket *socket);
