/*
 * Unix sockets with a path, connected and bound for a caller on its own
 * socket. Both may take until a person said something.
 */
#pragma once

#include "sockets.h"

/* The path as a string; -EINVAL for what the kernel refuses, unix(7). */
MUST_CHECK int unix_path(const struct socket_address *address,
			 char ret_path[sizeof(struct sockaddr_storage)]);

/* unixConnect.c, unixBind.c: what the call is to return, 0 or -errno. */
MUST_CHECK int connect_unix(const struct call *call,
			    const struct target_socket *socket,
			    const struct socket_address *address);
MUST_CHECK int bind_unix(const struct call *call,
			 const struct target_socket *socket,
			 const struct socket_address *address);
