/*
 * See landlock.h. The second layer for abstract sockets (the network
 * namespace is the first) and the only one for signals: a process group
 * reaches out of a pid namespace, so kill(0, …) would hit the launcher and
 * whatever else is in its job.
 *
 * File rules stay out of it: they veto later bind mounts, and nested
 * sandboxes could not mount any more.
 */
#include "landlock.h"

#include <linux/landlock.h>

#include "uapi.h"

int landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

int restrict_scope(void)
{
	struct landlock_ruleset_v6 wanted = {
		.scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET |
			  LANDLOCK_SCOPE_SIGNAL,
	};
	AUTO_CLOSE int ruleset = -1;

	if (landlock_abi() < LANDLOCK_ABI_SCOPE)
		return 1;
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &wanted,
			       sizeof(wanted), 0);
	if (ruleset < 0)
		return -errno;
	if (syscall(SYS_landlock_restrict_self, ruleset, 0))
		return -errno;
	return 0;
}
