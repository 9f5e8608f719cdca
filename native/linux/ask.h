/*
 * A question to the broker asked by a thread that answers a call, which waits
 * for the answer.
 */
#pragma once

#include "broker.h"
#include "notify.h"

/*
 * 0 with the answer, -ESRCH when the caller died meanwhile (the question is
 * withdrawn then), or -errno.
 */
MUST_CHECK int ask_and_wait(const struct call *call,
			    const struct destination *to, int rule,
			    bool wants_addresses, struct answer *ret_answer);
