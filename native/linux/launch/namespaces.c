/*
 * User, mount, pid, network, ipc and uts namespaces, see namespaces.h.
 * Where the host does not allow them, nothing is run: there is no weaker
 * boundary to fall back to silently.
 */
#include "namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

pid_t clone_into_namespaces(int *ret_pidfd)
{
	unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
			      CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
			      CLONE_PIDFD | SIGCHLD;
	/* No stack: the child goes on with a copy of ours, as after fork. */
	long pid = syscall(SYS_clone, flags, NULL, ret_pidfd, NULL, NULL);

	return pid < 0 ? -errno : (pid_t)pid;
}

static int write_file(const char *path, const char *text)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	return 0;
}

int map_identity(uid_t user, gid_t group)
{
	char text[64];
	int err;

	/* Before gid_map may be written, user_namespaces(7). */
	err = write_file("/proc/self/setgroups", "deny");
	if (err && err != -ENOENT)
		return err;
	(void)snprintf(text, sizeof(text), "%u %u 1", user, user);
	err = write_file("/proc/self/uid_map", text);
	if (err)
		return err;
	(void)snprintf(text, sizeof(text), "%u %u 1", group, group);
	return write_file("/proc/self/gid_map", text);
}

/* What the file begins with, as far as it fits. */
static bool read_start(const char *path, char *ret_text, size_t size)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = RETRY(read(fd, ret_text, size - 1));
	if (length <= 0)
		return false;
	ret_text[length] = '\0';
	return true;
}

/* Whether the file's first word is `wanted`. */
static bool file_says(const char *path, const char *wanted)
{
	char text[32];

	if (!read_start(path, text, sizeof(text)))
		return false;
	text[strcspn(text, " \t\n")] = '\0';
	return strcmp(text, wanted) == 0;
}

static bool is_filtered(void)
{
	char text[4096];

	return read_start("/proc/self/status", text, sizeof(text)) &&
	       strstr(text, "\nSeccomp:\t2") != NULL;
}

const char *explain_namespaces(int err, bool unmapped_root)
{
	if (unmapped_root && err == EPERM)
		return "root without the capability CAP_SETFCAP cannot have a "
		       "user namespace (user_namespaces(7)). Run this as an "
		       "ordinary user";
	if (file_says("/proc/sys/user/max_user_namespaces", "0"))
		return "user namespaces are switched off "
		       "(user.max_user_namespaces is 0). An administrator "
		       "can allow them: sysctl -w "
		       "user.max_user_namespaces=15000";
	if (file_says("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return "only root may make user namespaces "
		       "(kernel.unprivileged_userns_clone is 0). An "
		       "administrator can allow them: sysctl -w "
		       "kernel.unprivileged_userns_clone=1";
	if (file_says("/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
		      "1"))
		return "AppArmor lets only listed programs use user "
		       "namespaces (kernel.apparmor_restrict_unprivileged_"
		       "userns is 1). An administrator can load a profile "
		       "for cordon-launch that has \"userns,\", or set it "
		       "to 0";
	if (err == ENOSPC || err == EUSERS)
		return "a limit of namespaces is reached (user.max_*_"
		       "namespaces, or 32 nested ones)";
	if (err == EINVAL || err == ENOSYS)
		return "this kernel has no user namespaces (CONFIG_USER_NS)";
	if (is_filtered())
		return "a filter around us forbids user namespaces, probably "
		       "a container's. Start the container with a seccomp "
		       "profile that allows clone with CLONE_NEWUSER";
	return "the system refuses user namespaces";
}

void die_without_namespaces(int err, bool unmapped_root)
{
	die("namespaces", 0,
	    "no sandbox is possible here, so nothing was run: %s (%s)",
	    explain_namespaces(err, unmapped_root), errno_name(err));
}
