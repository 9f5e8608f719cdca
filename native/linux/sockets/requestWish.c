/*
 * A wish, see requestWish.h. Its path is resolved in the sandbox's root, so
 * that the question names the place that a later call would be about.
 */
#include "requestWish.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../files/files.h"
#include "../launch/uapi.h"
#include "../network/names.h"
#include "../network/publish.h"
#include "../rules/rules.h"
#include "../supervisor/ask.h"
#include "../supervisor/opens.h"
#include "../tripwire/tripwire.h"
#include "agents.h"
#include "bound.h"

static const struct wish_result by_rule = { true, REASON_RULE };
static const struct wish_result by_grant = { true, REASON_GRANT };
static const struct wish_result refused = { false, REASON_RULE };

/* Where a path leads */

struct wished_place {
	int file;	 /* the nearest that is there, O_PATH */
	bool exists;	 /* that is the place itself */
	bool is_tripped; /* it lies in a tripwire */
	bool is_folder;
	char path[PATH_BYTES_MAX];
};

#define AUTO_WISHED __attribute__((cleanup(close_wished)))

static void close_wished(const struct wished_place *place)
{
	close_quietly(place->file);
}

static int open_in_sandbox(struct supervisor *sup, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd = (int)RETRY(
		syscall(SYS_openat2, sup->root, path, &how, sizeof(how)));

	return fd < 0 ? -errno : fd;
}

static int path_of(struct supervisor *sup, struct wished_place *place)
{
	char link[32];
	ssize_t length;
	int err = tripwire_host_path(sup, place->file, place->path);

	place->is_tripped = !err;
	if (err != -ENOENT)
		return err;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", place->file);
	length = readlink(link, place->path, sizeof(place->path) - 1);
	if (length < 0)
		return -errno;
	place->path[length] = '\0';
	return 0;
}

static int find_place(struct supervisor *sup, const char *path,
		      struct wished_place *place)
{
	char head[PATH_BYTES_MAX];
	const char *rest;
	struct stat status;
	size_t length;
	int err;

	(void)snprintf(head, sizeof(head), "%s", path);
	place->file = open_in_sandbox(sup, head);
	while (place->file == -ENOENT && head[0]) {
		*strrchr(head, '/') = '\0';
		place->file = open_in_sandbox(sup, head[0] ? head : "/");
	}
	if (place->file < 0)
		return place->file;
	rest = path + strlen(head);
	err = path_of(sup, place);
	if (err || fstat(place->file, &status))
		return err ? err : -errno;
	place->exists = rest[0] == '\0';
	place->is_folder = place->exists && S_ISDIR(status.st_mode);
	length = strcmp(place->path, "/") == 0 ? 0 : strlen(place->path);
	if (length + strlen(rest) >= sizeof(place->path))
		return -ENAMETOOLONG;
	if (!place->exists)
		(void)strcpy(place->path + length, rest);
	return 0;
}

/* Asking */

static struct wish_result ask(const struct served *served,
			      const struct wanted *wanted)
{
	struct asker asker = {
		.sup = served->sup,
		.thread = served->thread,
		.is_alive = is_served,
		.of = served,
	};
	struct answer answer;

	if (ask_as(&asker, wanted, &answer))
		return (struct wish_result){ false, REASON_INTERNAL };
	return (struct wish_result){ answer.allowed, answer.reason };
}

static const char *folder_of(const char *path, char ret_folder[PATH_BYTES_MAX])
{
	const char *slash = strrchr(path, '/');

	(void)snprintf(ret_folder, PATH_BYTES_MAX, "%.*s",
		       slash == path ? 1 : (int)(slash - path), path);
	return ret_folder;
}

static bool is_read_only(const struct wished_place *place)
{
	struct statvfs status;

	return fstatvfs(place->file, &status) || status.f_flag & ST_RDONLY;
}

/* A place in a folder that is not there yet is judged once it is. */
static void judge(const struct served *served, const struct wished_place *place,
		  struct judgement *judgement)
{
	char folder[PATH_BYTES_MAX];
	AUTO_CLOSE int parent = open_plain(served->sup->root,
					   folder_of(place->path, folder) + 1,
					   O_PATH | O_DIRECTORY);
	struct change change = {
		.kind = place->exists ? CHANGE_WRITE : CHANGE_CREATE,
		.call = "open",
		.path = place->path,
		.parent = parent,
		.name = strrchr(place->path, '/') + 1,
		.is_directory = place->is_folder,
		.source_parent = -1,
		.source = -1,
	};

	if (parent >= 0)
		rules_judge(files_rules(served->sup), &change, judgement);
}

static struct wish_result want_write(const struct served *served,
				     const struct wished_place *place,
				     struct wanted *wanted)
{
	struct judgement judgement = {
		.verdict = VERDICT_PASS,
		.content = -1,
	};
	char folder[PATH_BYTES_MAX];
	struct wish_result result;

	wanted->action = ACTION_WRITE;
	wanted->folder =
		place->is_folder ? place->path : folder_of(place->path, folder);
	judge(served, place, &judgement);
	switch (judgement.verdict) {
	case VERDICT_PASS:
		if (!is_read_only(place))
			result = by_rule;
		else if (opens_cover(served->sup, ACCESS_WRITE, place->path))
			result = by_grant;
		else
			result = ask(served, wanted);
		break;
	case VERDICT_GIT:
		wanted->action = ACTION_GIT;
		wanted->other = judgement.repository;
		wanted->folder = NULL;
		result = opens_cover(served->sup, ACCESS_GIT,
				     judgement.repository)
				 ? by_grant
				 : ask(served, wanted);
		break;
	case VERDICT_ASK:
		wanted->is_protected = true;
		wanted->change = judgement.change;
		wanted->folder =
			strcmp(judgement.protected_path, place->path) == 0
				? NULL
				: judgement.protected_path;
		result = opens_cover_within(served->sup, ACCESS_WRITE,
					    place->path,
					    judgement.protected_path)
				 ? by_grant
				 : ask(served, wanted);
		break;
	case VERDICT_REFUSE:
	default:
		result = refused;
		break;
	}
	judgement_release(&judgement);
	return result;
}

static struct wish_result want_read(const struct served *served,
				    const struct wished_place *place,
				    struct wanted *wanted)
{
	if (!place->is_tripped)
		return by_rule; /* nothing of ours keeps it closed */
	if (opens_cover(served->sup, ACCESS_READ, place->path))
		return by_grant;
	wanted->action = ACTION_READ;
	wanted->call = NULL;
	wanted->folder = place->is_folder ? place->path : NULL;
	return ask(served, wanted);
}

static struct wish_result want_git(const struct served *served,
				   struct wished_place *place,
				   struct wanted *wanted)
{
	char below[PATH_BYTES_MAX + sizeof("/.git")];
	AUTO_WISHED struct wished_place directory = { .file = -1 };
	const char *repository = place->path;

	(void)snprintf(below, sizeof(below), "%s/.git", place->path);
	if (strlen(below) < PATH_BYTES_MAX &&
	    find_place(served->sup, below, &directory) == 0 &&
	    directory.is_folder)
		repository = directory.path;
	if (opens_cover(served->sup, ACCESS_GIT, repository))
		return by_grant;
	wanted->action = ACTION_GIT;
	wanted->other = wanted->path = repository;
	return ask(served, wanted);
}

static struct wish_result want_socket(const struct served *served,
				      const struct wished_place *place,
				      struct wanted *wanted)
{
	const struct plan *plan = served->sup->plan;
	struct stat status;

	if (find_agent(plan, place->path) ||
	    (place->exists && fstat(place->file, &status) == 0 &&
	     bound_has(notify_bound(served->sup), &status)))
		return by_rule;
	switch (decide_socket(plan, place->path)) {
	case EFFECT_ALLOW:
		return by_rule;
	case EFFECT_DENY:
		return refused;
	case EFFECT_ASK:
		break;
	}
	if (opens_cover(served->sup, ACCESS_SOCKET, place->path))
		return by_grant;
	wanted->action = ACTION_SOCKET;
	wanted->call = "connect";
	return ask(served, wanted);
}

static struct wish_result grant_path(const struct served *served,
				     const struct wish *wish,
				     const char *because)
{
	AUTO_WISHED struct wished_place place = { .file = -1 };
	struct wanted wanted = {
		.rule = RULE_MODE,
		.path = place.path,
		.call = "open",
		.because = because,
	};

	if (find_place(served->sup, wish->path, &place))
		return (struct wish_result){ false, REASON_INTERNAL };
	switch (wish->access) {
	case ACCESS_WRITE:
		return want_write(served, &place, &wanted);
	case ACCESS_READ:
		return want_read(served, &place, &wanted);
	case ACCESS_GIT:
		return want_git(served, &place, &wanted);
	case ACCESS_SOCKET:
		return want_socket(served, &place, &wanted);
	}
	return refused;
}

static struct wish_result grant_connect(const struct served *served,
					const struct wish *wish,
					const char *because)
{
	struct decision decision = decide(served->sup->plan, &wish->to);
	struct wanted wanted = {
		.action = ACTION_CONNECT,
		.rule = decision.rule,
		.to = wish->to,
		.because = because,
	};

	switch (decision.effect) {
	case EFFECT_ALLOW:
		return by_rule;
	case EFFECT_DENY:
		return refused;
	case EFFECT_ASK:
		break;
	}
	return ask(served, &wanted);
}

static struct wish_result grant_publish(const struct served *served,
					const struct wish *wish,
					const char *because)
{
	const struct plan *plan = served->sup->plan;
	struct wanted wanted = {
		.action = ACTION_PUBLISH,
		.rule = RULE_MODE,
		.to = wish->to,
		.because = because,
	};
	struct wish_result result;

	if (is_planned_port(plan, wish->to.port))
		return by_rule;
	if (plan->publish_mode != PUBLISH_ASK ||
	    wish->to.port < PUBLISH_PORT_MIN)
		return refused;
	result = ask(served, &wanted);
	if (result.allowed)
		publish_allow(served->sup, wish->to.port);
	return result;
}

struct wish_result grant_wish(const struct served *served,
			      const struct wish *wish, const char *because)
{
	switch (wish->kind) {
	case WISH_PATH:
		return grant_path(served, wish, because);
	case WISH_CONNECT:
		return grant_connect(served, wish, because);
	case WISH_PUBLISH:
		return grant_publish(served, wish, because);
	}
	return refused;
}
