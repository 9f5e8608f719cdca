/*
 * Drops every capability, see caps.h. The capabilities meant are those that
 * the new user namespace gave us over the sandbox: nothing inside may have
 * them, or it could undo the mounts.
 */
#include "caps.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int drop_own_capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { { 0 } };

	return syscall(SYS_capset, &header, none) ? -errno : 0;
}

int drop_privileges(void)
{
	/*
	 * EINVAL: one more than this kernel knows. EPERM: not ours to drop,
	 * which is no harm when it was dropped before; capabilities(7).
	 */
	for (unsigned long cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		if (errno == EINVAL)
			break;
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) != 0)
			return -EPERM;
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		return -errno;
	if (drop_own_capabilities())
		return -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}
