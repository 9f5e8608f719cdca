/*
 * The system call filter: what is refused, what is held for the supervisor.
 * The builder touches nothing; install_filter() is the one call that does.
 */
#pragma once

#include <linux/filter.h>

#include "../../common/cordon.h"

enum { FILTER_MAX = 1024 };

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short length;
};

/* notify: connect and bind are held. -E2BIG: FILTER_MAX is too small. */
MUST_CHECK int build_filter(struct filter *filter, bool notify);

/*
 * Installs it for this process and all it will start. *ret_listener is the
 * notification descriptor, -1 when another sandbox around us has one (then
 * nothing is held). Needs no_new_privs.
 */
MUST_CHECK int install_filter(int *ret_listener);
