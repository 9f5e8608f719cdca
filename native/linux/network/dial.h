/*
 * Dials from the host for a program of the sandbox, which gets the error that
 * it would have got. Waits: not on the loop.
 */
#pragma once

#include "address.h"

/* One destination's addresses, dialled one after the other. */
struct dialling {
	const struct ip_address *addresses;
	size_t count, next;
	uint16_t port;
	int fd;		  /* being connected, or -1 */
	int64_t until_ms; /* for fd */
	int err;	  /* of those before, 0 when there was none */
};

#define AUTO_DIALLING __attribute__((cleanup(dial_end)))

/* The addresses stay the caller's. */
struct dialling dial_begin(const struct ip_address *addresses, size_t count,
			   uint16_t port);
void dial_end(const struct dialling *dialling);

/* Whether anybody still waits for the connection; asked now and then. */
struct dial_wanted {
	bool (*ask)(const void *context);
	const void *context;
};

/*
 * 0 with the connected socket; -EAGAIN: undecided after patience_ms (-1: as
 * long as it takes, which is bounded); -ESRCH: no longer wanted; or what the
 * program is to be told.
 */
MUST_CHECK int dial(struct dialling *dialling, int patience_ms,
		    const struct dial_wanted *wanted, int *ret_fd);
