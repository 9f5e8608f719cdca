/*
 * A question to the broker asked by a thread that waits for the answer. Not
 * for the loop's thread: that one has broker_ask().
 */
#pragma once

#include "broker.h"
#include "notify.h"

/* Who asks. */
struct asker {
	struct supervisor *sup;
	pid_t thread; /* whose program is shown, as the host counts */
	/* Whether it still waits; may be called from any thread. */
	bool (*is_alive)(const void *of);
	const void *of;
};

/*
 * 0 with the answer, whose opens have taken effect; -ESRCH when the asker
 * died meanwhile (the question is withdrawn then); or -errno. The answer's
 * own list of opens is gone by then.
 */
MUST_CHECK int ask_as(const struct asker *asker, const struct wanted *wanted,
		      struct answer *ret_answer);
/* The same for the caller of a held call. */
MUST_CHECK int ask_and_wait(const struct call *call,
			    const struct wanted *wanted,
			    struct answer *ret_answer);
