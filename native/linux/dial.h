/*
 * Dials from the host for a program of the sandbox, which gets the error that
 * it would have got. Waits: not on the loop.
 */
#pragma once

#include "address.h"
#include "notify.h"

/*
 * The first of the addresses that answers, within a bounded time each.
 * -ESRCH when the caller died meanwhile.
 */
MUST_CHECK int dial(const struct call *call, const struct ip_address *addresses,
		    size_t count, uint16_t port, int *ret_fd);
