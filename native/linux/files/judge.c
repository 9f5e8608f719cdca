/*
 * Judging a held call and asking about it, see act.h. What is judged is where
 * the descriptors that will be used really are, not what the caller wrote.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>

#include "../launch/uapi.h"
#include "../supervisor/denial.h"
#include "act.h"

/* Locating */

/* The path of a file by its own descriptor; `name` points into it. */
static int locate_file(struct act *act, struct place *place, bool surely,
		       char ret_path[PATH_BYTES_MAX])
{
	struct supervisor *sup = act->call->sup;
	int err =
		surely ? locate_descriptor(sup, act->call->thread, place->file,
					   ret_path)
		       : locate(sup, act->call->thread, place->file, ret_path);
	struct stat status;
	char *slash;

	if (err)
		return err;
	if (fstat(place->file, &status))
		return -errno;
	/* It has no name any more: nothing can be found by that path. */
	if (status.st_nlink == 0)
		return LOCATE_APART;
	slash = strrchr(ret_path, '/');
	place->name = slash[1] ? slash + 1 : ".";
	*slash = '\0';
	place->parent = open_plain(sup->root, ret_path[0] ? ret_path + 1 : ".",
				   O_PATH | O_DIRECTORY);
	*slash = '/';
	return 0;
}

static int append(char path[PATH_BYTES_MAX], const char *name)
{
	size_t length = strlen(path), more = strlen(name);

	if (length == 1)
		length = 0; /* "/" */
	if (length + 1 + more >= PATH_BYTES_MAX)
		return -ENAMETOOLONG;
	path[length] = '/';
	memcpy(path + length + 1, name, more + 1);
	return 0;
}

/* 0, LOCATE_APART, or -errno. */
static int locate_place(struct act *act, struct place *place,
			char ret_path[PATH_BYTES_MAX])
{
	struct supervisor *sup = act->call->sup;
	pid_t thread = act->call->thread;
	bool surely = place->steps.by_descriptor;
	int err;

	if (place->parent < 0)
		return locate_file(act, place, surely, ret_path);
	err = surely ? locate_descriptor(sup, thread, place->parent, ret_path)
		     : locate(sup, thread, place->parent, ret_path);
	if (err)
		return err;
	return is_entry(place->name) ? append(ret_path, place->name) : 0;
}

static int locate_places(struct act *act)
{
	int err = locate_place(act, &act->places.at, act->path);

	act->apart = err == LOCATE_APART;
	if (err < 0 || !operates_on_two(act->file.operation))
		return err < 0 ? err : 0;
	err = locate_place(act, &act->places.from, act->from_path);
	act->from_apart = err == LOCATE_APART;
	return err < 0 ? err : 0;
}

/* Judging */

static bool is_folder(const struct place *place)
{
	struct stat status;
	int err = place->file >= 0 ? fstat(place->file, &status)
				   : fstatat(place->parent, place->name,
					     &status, AT_SYMLINK_NOFOLLOW);

	return !err && S_ISDIR(status.st_mode);
}

static bool concerns_folder(const struct act *act)
{
	enum operation operation = act->file.operation;

	if (operation == OPERATION_REMOVE)
		return act->file.flags & AT_REMOVEDIR;
	if (operates_on_two(act->file.operation))
		return is_folder(&act->places.from);
	return operation == OPERATION_MKDIR ||
	       (operates_on_file(operation) && is_folder(&act->places.at));
}

static const char *call_name(const struct act *act)
{
	return act->creates ? "create" : file_call_name(&act->file);
}

static void describe(const struct act *act, enum change_kind kind,
		     struct change *ret_change)
{
	const struct places *places = &act->places;
	bool sourced = operates_on_two(act->file.operation) && !act->from_apart;

	*ret_change = (struct change){
		.kind = kind,
		.call = call_name(act),
		.path = act->path,
		.parent = places->at.parent,
		.name = places->at.name,
		.is_directory = concerns_folder(act),
		.source_path = sourced ? act->from_path : NULL,
		.source_parent = sourced ? places->from.parent : -1,
		.source_name = sourced ? places->from.name : NULL,
		.source = operates_on_two(act->file.operation)
				  ? places->from.file
				  : -1,
		.is_exchange = act->file.operation == OPERATION_RENAME &&
			       act->file.flags & RENAME_EXCHANGE,
		.keeps_present = act->file.operation == OPERATION_RENAME &&
				 act->file.flags & RENAME_NOREPLACE,
		.target = act->file.operation == OPERATION_SYMLINK
				  ? act->file.from
				  : NULL,
	};
}

static bool covers_git(const struct act *act, const char *repository)
{
	return (act->allowed.git &&
		strcmp(act->allowed.repository, repository) == 0) ||
	       opens_cover(act->call->sup, ACCESS_GIT, repository);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What was shown must still be what would be written. */
static bool was_allowed(const struct act *act)
{
	const struct allowance *allowed = &act->allowed;
	const struct judgement *judgement = &act->judgement;

	return allowed->protected &&
	       strcmp(allowed->protected_path, judgement->protected_path) ==
		       0 &&
	       (allowed->content >= 0 ||
		is_same_text(allowed->change, judgement->change));
}

/*
 * A folder that was opened as a whole does not open what is protected in it:
 * the entry must be the protected place, or in there.
 */
static bool covers_protected(const struct act *act, const char *path,
			     const char *protected_path)
{
	return was_allowed(act) ||
	       opens_cover_within(act->call->sup, ACCESS_WRITE, path,
				  protected_path);
}

static bool covers_second(const struct act *act)
{
	const struct judgement *judgement = &act->judgement;

	switch (judgement->second.verdict) {
	case VERDICT_PASS:
		return true;
	case VERDICT_GIT:
		return act->allowed.git || act->allowed.protected ||
		       opens_cover(act->call->sup, ACCESS_GIT,
				   judgement->second.path);
	case VERDICT_ASK:
		return act->allowed.protected ||
		       opens_cover_within(act->call->sup, ACCESS_WRITE,
					  act->from_path,
					  judgement->second.path);
	case VERDICT_REFUSE:
		break;
	}
	return false;
}

static void refuse(const struct act *act)
{
	struct wanted wanted = {
		.action = ACTION_WRITE,
		.path = act->path,
		.call = call_name(act),
		.other =
			operates_on_two(act->file.operation) && !act->from_apart
				? act->from_path
				: NULL,
		.is_protected = true,
		.rule = RULE_MODE,
	};

	report_denial(act->call->sup, act->call->thread, &wanted, REASON_RULE);
}

static int weigh(struct act *act)
{
	const struct judgement *judgement = &act->judgement;

	if (judgement->needs_exclusive && !act->exclusive)
		return NEED_EXCLUSIVE;
	switch (judgement->verdict) {
	case VERDICT_PASS:
		return 0;
	case VERDICT_GIT:
		return covers_git(act, judgement->repository) &&
				       covers_second(act)
			       ? 0
			       : NEED_GIT;
	case VERDICT_ASK:
		return covers_protected(act, act->path,
					judgement->protected_path) &&
				       covers_second(act)
			       ? 0
			       : NEED_PROTECTED;
	case VERDICT_REFUSE:
		break;
	}
	return -EACCES;
}

/* Folders that move: everything below would have another path. */
static bool moves_folders(const struct act *act)
{
	return operates_on_two(act->file.operation) &&
	       (is_folder(&act->places.from) || is_folder(&act->places.at));
}

/* ".", ".." and "/" are never made, moved or removed: the kernel says why. */
static bool fails_by_name(const struct act *act)
{
	enum operation operation = act->file.operation;

	if (operation == OPERATION_OPEN || operates_on_file(operation))
		return false;
	return !is_entry(act->places.at.name) ||
	       (operation == OPERATION_RENAME &&
		!is_entry(act->places.from.name));
}

int act_judge(struct act *act, enum change_kind kind)
{
	const struct rules *rules = act->call->sup->files->rules;
	struct change change;
	int err = locate_places(act);

	if (err)
		return err;
	if (!act->exclusive && moves_folders(act))
		return NEED_EXCLUSIVE;
	if (act->apart || fails_by_name(act))
		return 0;
	describe(act, kind, &change);
	free(act->judgement.change);
	close_quietly(act->judgement.content);
	rules_judge(rules, &change, &act->judgement);
	err = weigh(act);
	if (err == -EACCES)
		refuse(act);
	return !err && act_is_closed(act) ? -EROFS : err;
}

/* Asking */

static const char *parent_of(const char *path, char ret_parent[PATH_BYTES_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash == path ? 1 : (size_t)(slash - path);

	memcpy(ret_parent, path, length);
	ret_parent[length] = '\0';
	return ret_parent;
}

static void word_write(const struct act *act, struct wanted *wanted,
		       char folder[PATH_BYTES_MAX])
{
	*wanted = (struct wanted){
		.action = ACTION_WRITE,
		.path = act->path,
		.call = call_name(act),
		.other =
			operates_on_two(act->file.operation) && !act->from_apart
				? act->from_path
				: NULL,
		.rule = RULE_MODE,
	};
	/* What a person would open: for a change of a folder itself that. */
	wanted->folder = act->places.at.file >= 0 && is_folder(&act->places.at)
				 ? act->path
				 : parent_of(act->path, folder);
}

static void word_protected(const struct act *act, struct wanted *wanted)
{
	const struct judgement *judgement = &act->judgement;

	wanted->is_protected = true;
	wanted->change = judgement->change;
	wanted->folder = strcmp(judgement->protected_path, act->path) == 0
				 ? NULL
				 : judgement->protected_path;
}

static void word_git(const struct act *act, struct wanted *wanted)
{
	wanted->action = ACTION_GIT;
	wanted->other = act->judgement.repository;
	wanted->folder = NULL;
}

/* What was allowed once holds for the rest of this call. */
static void remember(struct act *act, enum act_need need)
{
	struct allowance *allowed = &act->allowed;
	struct judgement *judgement = &act->judgement;

	/* One question is enough for a place that is also read-only. */
	allowed->write = true;
	if (need == NEED_GIT) {
		allowed->git = true;
		memcpy(allowed->repository, judgement->repository,
		       sizeof(allowed->repository));
	}
	if (need == NEED_PROTECTED) {
		allowed->protected = true;
		memcpy(allowed->protected_path, judgement->protected_path,
		       sizeof(allowed->protected_path));
		close_quietly(allowed->content);
		allowed->content = TAKE(judgement->content);
		free(allowed->change);
		allowed->change = TAKE(judgement->change);
	}
}

int act_ask(struct act *act, enum act_need need)
{
	const struct call *call = act->call;
	/* Outside of what is open the kernel itself says this. */
	int refused = need == NEED_WRITE ? -EROFS : -EACCES;
	char folder[PATH_BYTES_MAX];
	struct wanted wanted;
	struct answer answer;
	int err;

	if (call->must_not_wait ||
	    (need == NEED_WRITE &&
	     rules_is_quiet(call->sup->files->rules, act->path)))
		return refused;
	word_write(act, &wanted, folder);
	if (need == NEED_PROTECTED)
		word_protected(act, &wanted);
	if (need == NEED_GIT)
		word_git(act, &wanted);
	err = ask_and_wait(call, &wanted, &answer);
	if (err)
		return err;
	if (!answer.allowed) {
		report_answer(call->sup, call->thread, &wanted, &answer);
		return refused;
	}
	remember(act, need);
	return 0;
}
