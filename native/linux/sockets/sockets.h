/*
 * The caller's sockets, seen from outside: duplicated, looked at, and used
 * for the call in its place. What is called here may wait, so only the
 * threads of notify.c come here.
 */
#pragma once

#include "../../common/limits.h"
#include "../network/address.h"
#include "../supervisor/notify.h"

enum socket_home {
	HOME_SANDBOX, /* the run's own network namespace */
	HOME_NESTED,  /* one that the run made inside */
	HOME_HOST,    /* ours: it was inherited and leads out */
};

struct target_socket {
	int fd; /* a duplicate, with everything shared; -1: none */
	int domain, type, protocol; /* socket(7) */
	enum socket_home home;
};

#define TARGET_SOCKET_NONE \
	{                  \
		.fd = -1   \
	}
#define AUTO_TARGET __attribute__((cleanup(target_socket_close)))

void target_socket_close(const struct target_socket *socket);

/*
 * The socket and the address of a connect() or bind(), each read once; what
 * is decided is decided on these. Fails as the call would: EBADF, ENOTSOCK,
 * EINVAL, EFAULT. -ESRCH: the caller is gone.
 */
MUST_CHECK int take_socket_and_address(const struct call *call,
				       struct target_socket *ret_socket,
				       struct socket_address *ret_address);

/* The address alone. */
MUST_CHECK int copy_address(const struct call *call,
			    struct socket_address *ret_address);

/* connect(2) as the caller asked for it; 0 or -errno. */
MUST_CHECK int perform_connect(const struct target_socket *socket,
			       const struct socket_address *address);
