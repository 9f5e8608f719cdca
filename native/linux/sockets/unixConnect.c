/*
 * connect() of a unix socket.
 *
 * An abstract address is the network namespace's own. A path is another
 * matter: no mount stops a connect to a socket. So it is resolved in the
 * caller's own root; what this run has bound itself may be connected to, and
 * anything else is a socket of the host's: an agent's, one that a rule speaks
 * of, or a question. What was found is held by descriptor and never looked up
 * again; after a question it is found anew and must be at the same path.
 */
#include "unixSockets.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../files/locate.h"
#include "../files/resolve.h"
#include "../launch/uapi.h"
#include "../supervisor/ask.h"
#include "../supervisor/denial.h"
#include "../supervisor/opens.h"
#include "../supervisor/task.h"
#include "../tripwire/tripwire.h"
#include "agents.h"
#include "request.h"

struct found_socket {
	int file;    /* O_PATH */
	bool is_own; /* the run has bound it; then it needs no path */
	char path[PATH_BYTES_MAX]; /* canonical, of the host */
};

#define AUTO_FOUND __attribute__((cleanup(close_found)))

static void close_found(const struct found_socket *found)
{
	close_quietly(found->file);
}

int unix_path(const struct socket_address *address,
	      char ret_path[sizeof(struct sockaddr_storage)])
{
	static const size_t before = offsetof(struct sockaddr_un, sun_path);
	const char *bytes = (const char *)&address->storage;

	if (address->length <= before ||
	    address->length > sizeof(struct sockaddr_un) ||
	    address->any.sa_family != AF_UNIX)
		return -EINVAL;
	memcpy(ret_path, bytes + before, address->length - before);
	ret_path[address->length - before] = '\0';
	return 0;
}

/* Finding */

/* At a path of the host, which is a real one. */
static int find_on_host(const char *path, struct found_socket *found)
{
	AUTO_CLOSE int file = open_plain(AT_FDCWD, path, O_PATH);
	struct stat status;

	if (file < 0 || fstat(file, &status) || !S_ISSOCK(status.st_mode))
		return -ENOENT;
	found->file = TAKE(file);
	(void)snprintf(found->path, sizeof(found->path), "%s", path);
	return 0;
}

static int locate_place(const struct call *call, const struct place *place,
			char ret_path[PATH_BYTES_MAX])
{
	return place->steps.by_descriptor
		       ? locate_descriptor(call->sup, call->thread, place->file,
					   ret_path)
		       : locate(call->sup, call->thread, place->file, ret_path);
}

static int look_at(const struct call *call, struct place *place,
		   struct found_socket *found)
{
	char path[PATH_BYTES_MAX];
	struct stat status;
	int err;

	if (fstat(place->file, &status))
		return -errno;
	if (!S_ISSOCK(status.st_mode))
		return -ECONNREFUSED;
	if (bound_has(notify_bound(call->sup), &status)) {
		found->is_own = true;
		found->file = TAKE(place->file);
		return 0;
	}
	/* What a tripwire shows only looks like the socket behind it. */
	err = tripwire_host_path(call->sup, place->file, path);
	if (err != -ENOENT)
		return err ? err : find_on_host(path, found);
	/* Made inside, and not bound by the run: nobody can listen there. */
	if (locate_place(call, place, found->path))
		return -EACCES;
	found->file = TAKE(place->file);
	return 0;
}

static int find_file(const struct call *call, const char *path,
		     struct place *place)
{
	int err = resolve_parent(call, AT_FDCWD, path, place);

	return err ? err : resolve_file(call, true, place);
}

/* What an empty folder covers: the last mount that has the path decides. */
static bool is_covered(const struct plan *plan, const char *path)
{
	bool covered = false;

	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct planned_mount *mount = &plan->mounts[i];

		if (is_below(path, mount->path))
			covered = mount->op == MOUNT_MASK ||
				  (mount->op == MOUNT_TRIPWIRE &&
				   !mount->shows_names);
	}
	return covered;
}

/* An absolute path as the caller sees it, of one that may be relative. */
static int make_absolute(const struct call *call, const char *path,
			 char ret_path[PATH_BYTES_MAX])
{
	char directory[PATH_BYTES_MAX] = "";
	int err = 0, length;

	if (path[0] != '/')
		err = task_read_link(call->thread, "cwd", directory);
	if (err)
		return err;
	length = snprintf(ret_path, PATH_BYTES_MAX, "%s%s%s", directory,
			  directory[0] ? "/" : "", path);
	return length < PATH_BYTES_MAX ? 0 : -ENAMETOOLONG;
}

/* The nearest folder on the way that is there, and the rest of the way. */
struct nearest {
	int folder;		   /* O_PATH */
	char path[PATH_BYTES_MAX]; /* canonical */
	char rest[PATH_BYTES_MAX]; /* "/a/b" */
};

static int find_nearest(const struct call *call, const char *path,
			struct nearest *ret)
{
	char head[PATH_BYTES_MAX];
	int err = -ENOENT;

	(void)snprintf(head, sizeof(head), "%s", path);
	while (err == -ENOENT && head[0]) {
		AUTO_PLACE struct place place = PLACE_NONE;

		*strrchr(head, '/') = '\0';
		err = find_file(call, head[0] ? head : "/", &place);
		if (!err)
			err = locate_place(call, &place, ret->path);
		if (!err)
			ret->folder = TAKE(place.file);
	}
	(void)snprintf(ret->rest, sizeof(ret->rest), "%s", path + strlen(head));
	return err ? -ENOENT : 0;
}

static int join_path(const char *head, const char *rest,
		     char ret_path[PATH_BYTES_MAX])
{
	int length = snprintf(ret_path, PATH_BYTES_MAX, "%s%s",
			      strcmp(head, "/") == 0 ? "" : head, rest);

	return length < PATH_BYTES_MAX ? 0 : -ENAMETOOLONG;
}

/* A link at the begin of the rest leads on: 1 with the whole new path. */
static int follow_link(const struct nearest *nearest,
		       char ret_path[PATH_BYTES_MAX])
{
	size_t first = strcspn(nearest->rest + 1, "/");
	char name[PATH_BYTES_MAX], target[PATH_BYTES_MAX], way[PATH_BYTES_MAX];
	ssize_t length;
	int err;

	(void)snprintf(name, sizeof(name), "%.*s", (int)first,
		       nearest->rest + 1);
	/* Not "..": there is no such way from a folder that is not there. */
	length = readlinkat(nearest->folder, name, target + 1,
			    sizeof(target) - 2);
	if (length <= 0)
		return 0;
	target[0] = '/';
	target[length + 1] = '\0';
	if (target[1] == '/')
		err = join_path(target + 1, nearest->rest + 1 + first,
				ret_path);
	else
		err = join_path(nearest->path, target, way)
			      ?: join_path(way, nearest->rest + 1 + first,
					   ret_path);
	return err ? err : 1;
}

static int find_covered(const struct call *call, const char *path,
			struct found_socket *found)
{
	char at[PATH_BYTES_MAX], whole[PATH_BYTES_MAX];
	int err = make_absolute(call, path, at), leads_on = 1;

	for (int links = 0; !err && leads_on == 1; links++) {
		struct nearest nearest = { .folder = -1 };

		err = links < LINKS_MAX ? find_nearest(call, at, &nearest)
					: -ELOOP;
		if (err)
			return err;
		leads_on = follow_link(&nearest, at);
		err = join_path(nearest.path, nearest.rest, whole);
		close_quietly(nearest.folder);
	}
	if (err || leads_on < 0)
		return -ENOENT;
	return is_plain_path(whole) && is_covered(call->sup->plan, whole)
		       ? find_on_host(whole, found)
		       : -ENOENT;
}

static int find_socket(const struct call *call, const char *path,
		       struct found_socket *found)
{
	AUTO_PLACE struct place place = PLACE_NONE;
	int err = find_file(call, path, &place);

	if (!err)
		err = look_at(call, &place, found);
	else if (err == -ENOENT)
		err = find_covered(call, path, found);
	return call_is_alive(call) ? err : -ESRCH;
}

/* Deciding */

enum { ASKED = 1 };

/* 0: it may be connected to; ASKED: the same, but time has passed. */
static int ask_for_socket(const struct call *call, const char *path)
{
	struct wanted wanted = {
		.action = ACTION_SOCKET,
		.path = path,
		.call = "connect",
		.rule = RULE_MODE,
	};
	struct answer answer;
	int err;

	switch (decide_socket(call->sup->plan, path)) {
	case EFFECT_ALLOW:
		return 0;
	case EFFECT_DENY:
		report_denial(call->sup, call->thread, &wanted, REASON_RULE);
		return -EACCES;
	case EFFECT_ASK:
		break;
	}
	if (opens_cover(call->sup, ACCESS_SOCKET, path))
		return 0;
	err = ask_and_wait(call, &wanted, &answer);
	if (err)
		return err;
	if (answer.allowed)
		return ASKED;
	report_answer(call->sup, call->thread, &wanted, &answer);
	return -EACCES;
}

/* Connecting */

static int connect_to(const struct target_socket *socket, int file)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path),
		       "/proc/self/fd/%d", file);
	return connect(socket->fd, (const struct sockaddr *)&address,
		       sizeof(address))
		       ? -errno
		       : 0;
}

/* An answer is about a path: by now another socket may be there, or none. */
static int connect_again(const struct call *call,
			 const struct target_socket *socket, const char *path,
			 const char *allowed)
{
	AUTO_FOUND struct found_socket found = { .file = -1 };
	int err = find_socket(call, path, &found);

	if (err)
		return err;
	if (!found.is_own && strcmp(found.path, allowed) != 0)
		return -EACCES;
	return connect_to(socket, found.file);
}

static int connect_path(const struct call *call,
			const struct target_socket *socket, const char *path)
{
	AUTO_FOUND struct found_socket found = { .file = -1 };
	const struct planned_agent *agent;
	int err = find_socket(call, path, &found);

	if (err)
		return err;
	if (found.is_own)
		return connect_to(socket, found.file);
	agent = find_agent(call->sup->plan, found.path);
	if (agent)
		return agents_connect(call, socket, agent);
	err = ask_for_socket(call, found.path);
	return err == ASKED ? connect_again(call, socket, path, found.path)
			    : err ?: connect_to(socket, found.file);
}

int connect_unix(const struct call *call, const struct target_socket *socket,
		 const struct socket_address *address)
{
	char path[sizeof(struct sockaddr_storage)];

	/* Invalid: the kernel says so. */
	if (unix_path(address, path))
		return perform_connect(socket, address);
	if (is_request_name(address))
		return request_connect(call, socket);
	/* Abstract: the network namespace has those. */
	return path[0] == '\0' ? perform_connect(socket, address)
			       : connect_path(call, socket, path);
}
