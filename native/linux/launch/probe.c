/*
 * What this system can enforce, found out by trying it all once in a child
 * that ends: the same calls as in a launch, on nothing of the user's.
 */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../../common/json.h"
#include "../network/network.h"
#include "../network/nft.h"
#include "../tripwire/tripwire.h"
#include "caps.h"
#include "gaps.h"
#include "landlock.h"
#include "namespaces.h"
#include "seccomp.h"

enum feature {
	NAMESPACES,
	MOUNTS,
	PROC,
	OVERLAY,
	NETWORK,
	REDIRECT,
	FUSE,
	CAPABILITIES,
	LANDLOCK_SCOPE,
	NOTIFICATIONS,
	FEATURES,
};

static const char *const names[FEATURES] = {
	[NAMESPACES] = "namespaces",
	[MOUNTS] = "mounts",
	[PROC] = "proc",
	[OVERLAY] = "overlay",
	[NETWORK] = "network",
	[REDIRECT] = "redirect",
	[FUSE] = "fuse",
	[CAPABILITIES] = "capabilities",
	[LANDLOCK_SCOPE] = "landlockScope",
	[NOTIFICATIONS] = "notifications",
};

/* Of each: an errno, 0 when it works, ECANCELED when it was not reached. */
struct findings {
	int err[FEATURES];
};

static int try_mounts(void)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attributes,
			  sizeof(attributes)))
		return errno;
	return 0;
}

/* In a tmpfs over /proc, which we have no more use for. */
static int try_overlay(void)
{
	if (mount("tmpfs", "/proc", "tmpfs", 0, NULL) ||
	    mkdir("/proc/lower", 0700) || mkdir("/proc/upper", 0700) ||
	    mkdir("/proc/work", 0700) || mkdir("/proc/merged", 0700) ||
	    mount("overlay", "/proc/merged", "overlay", 0,
		  "userxattr,lowerdir=/proc/lower,upperdir=/proc/upper,"
		  "workdir=/proc/work"))
		return errno;
	return 0;
}

static void try_network(struct findings *found)
{
	struct net_sockets sockets = NET_SOCKETS_NONE;
	const char *step;

	found->err[NETWORK] = -network_setup(&sockets, &step);
	if (found->err[NETWORK] == 0)
		found->err[REDIRECT] = -network_redirect(sockets.netfilter);
}

static void try_filter(struct findings *found)
{
	int listener = -1;
	int err = install_filter(&listener);

	if (err == 0 && listener < 0)
		err = -EBUSY;
	found->err[NOTIFICATIONS] = -err;
}

/* In the order of a launch, for the same reasons. */
static void try_features(struct findings *found, uid_t user, gid_t group)
{
	int scope;

	found->err[NAMESPACES] = -map_identity(user, group);
	if (found->err[NAMESPACES])
		return;
	try_network(found);
	found->err[MOUNTS] = try_mounts();
	found->err[FUSE] = tripwire_try();
	found->err[PROC] = mount("proc", "/proc", "proc", 0, NULL) ? errno : 0;
	found->err[OVERLAY] = try_overlay();
	found->err[CAPABILITIES] = -drop_privileges();
	scope = restrict_scope();
	found->err[LANDLOCK_SCOPE] = scope > 0 ? ENOSYS : -scope;
	try_filter(found);
}

static void probe(struct findings *found)
{
	int ends[2] = { -1, -1 }, pidfd = -1;
	uid_t user = geteuid();
	gid_t group = getegid();
	pid_t child;

	for (int i = 0; i < FEATURES; i++)
		found->err[i] = ECANCELED;
	if (pipe2(ends, O_CLOEXEC)) {
		found->err[NAMESPACES] = errno;
		return;
	}
	child = clone_into_namespaces(&pidfd);
	if (child == 0) {
		try_features(found, user, group);
		write_all(ends[1], (const char *)found, sizeof(*found));
		_exit(0);
	}
	close_quietly(ends[1]);
	if (child < 0) {
		found->err[NAMESPACES] = -child;
	} else {
		struct findings told = { 0 };

		if (RETRY(read(ends[0], &told, sizeof(told))) == sizeof(told))
			*found = told;
		(void)RETRY(waitpid(child, NULL, 0));
		close_quietly(pidfd);
	}
	close_quietly(ends[0]);
}

static int find_gaps(const struct findings *found)
{
	return (found->err[PROC] ? GAP_PROC : 0) |
	       (found->err[LANDLOCK_SCOPE] ? GAP_SCOPE : 0) |
	       (found->err[NOTIFICATIONS] == EBUSY ? GAP_LISTENER : 0) |
	       (found->err[REDIRECT] ? GAP_REDIRECT : 0) |
	       (found->err[FUSE] ? GAP_FUSE : 0);
}

/* Without these there is no boundary. */
static void write_problem(struct json_writer *w, const struct findings *found)
{
	static const enum feature needed[] = { NAMESPACES, NETWORK, MOUNTS,
					       CAPABILITIES, NOTIFICATIONS };
	bool unmapped_root = geteuid() == 0;
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		int err = found->err[needed[i]];

		if (err == 0 || (needed[i] == NOTIFICATIONS && err == EBUSY))
			continue;
		(void)snprintf(text, sizeof(text), "%s (%s: %s)",
			       explain_namespaces(err, unmapped_root),
			       names[needed[i]], errno_name(err));
		json_string(w, text);
		return;
	}
	json_null(w);
}

static void write_gaps(struct json_writer *w, int gaps)
{
	json_open_array(w);
	for (int bit = 1; bit <= GAP_LAST; bit <<= 1) {
		struct gap gap = describe_gap(bit);

		if (!(gaps & bit))
			continue;
		json_open_object(w);
		json_member_string(w, "promise", gap.promise);
		json_member_string(w, "reason", gap.reason);
		json_close_object(w);
	}
	json_close_array(w);
}

static void write_features(struct json_writer *w, const struct findings *found)
{
	json_open_object(w);
	for (int i = 0; i < FEATURES; i++) {
		json_key(w, names[i]);
		if (found->err[i])
			json_string(w, errno_name(found->err[i]));
		else
			json_null(w);
	}
	json_close_object(w);
}

int print_probe(void)
{
	AUTO_WRITER struct json_writer w = { 0 };
	struct findings found;
	bool possible;

	probe(&found);
	possible = found.err[NAMESPACES] == 0;
	json_open_object(&w);
	json_member_integer(&w, "protocol", 1);
	json_member_string(&w, "version", CORDON_VERSION);
	json_key(&w, "problem");
	write_problem(&w, &found);
	json_key(&w, "overlay");
	json_boolean(&w, found.err[OVERLAY] == 0);
	json_key(&w, "gaps");
	write_gaps(&w, possible ? find_gaps(&found) : 0);
	json_member_integer(&w, "landlock", landlock_abi());
	json_key(&w, "features");
	write_features(&w, &found);
	json_close_object(&w);
	if (json_finish(&w))
		return EXIT_SET_UP;
	write_all(STDOUT_FILENO, w.text, w.length);
	write_all(STDOUT_FILENO, "\n", 1);
	return 0;
}
