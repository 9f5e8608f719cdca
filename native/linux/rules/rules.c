/*
 * Judging of changes, see rules.h. Each end of a change (where a name comes to
 * be, where one is taken away) is judged by itself, first by protected places,
 * then for every git directory around it; the strongest verdict is the
 * change's, and what the other end needs is told besides.
 */
#include "rules.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "judging.h"
#include "listing.h"

struct rules {
	struct places places;
};

int rules_open(const struct plan_files *files, struct rules **ret)
{
	AUTO_FREE struct rules *rules = malloc(sizeof(*rules));
	int err;

	if (!rules)
		return -ENOMEM;
	err = places_open(&rules->places, files);
	if (err)
		return err;
	*ret = TAKE(rules);
	return 0;
}

void rules_close(struct rules *rules)
{
	if (rules)
		places_close(&rules->places);
	free(rules);
}

int rules_add_root(struct rules *rules, const char *path)
{
	return places_add_root(&rules->places, path);
}

bool rules_is_quiet(const struct rules *rules, const char *path)
{
	const struct strings *quiet = &rules->places.files->quiet;

	while (*path) {
		char name[NAME_BYTES_MAX];
		size_t length = strcspn(++path, "/");

		if (length >= sizeof(name))
			return false;
		memcpy(name, path, length);
		name[length] = '\0';
		for (size_t i = 0; i < quiet->count; i++) {
			if (fnmatch(quiet->at[i], name, 0) == 0)
				return true;
		}
		path += length;
	}
	return false;
}

mode_t type_of(int parent, const char *name)
{
	struct stat status;

	if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW))
		return 0;
	return status.st_mode & S_IFMT;
}

static bool is_absent(int parent, const char *name)
{
	return type_of(parent, name) == 0 &&
	       (errno == ENOENT || errno == ENOTDIR);
}

/* What is put */

const struct content *incoming_content(struct judging *j)
{
	const struct incoming *incoming = j->end->incoming;

	if (j->content_err == 1)
		j->content_err =
			incoming->name
				? content_read(incoming->parent, incoming->name,
					       &j->content)
				: content_read_descriptor(incoming->descriptor,
							  &j->content);
	return j->content_err ? NULL : &j->content;
}

/* Keeps the bytes of a file that was asked for, and shows them. */
static void show_incoming_file(struct judging *j)
{
	const struct content *content = incoming_content(j);

	j->keeps_content = content != NULL;
	if (j->excerpt.text)
		return;
	if (content)
		excerpt_add(&j->excerpt, content->bytes, content->length);
	else
		excerpt_add_text(&j->excerpt, "(it cannot be shown)\n");
}

static void show(struct judging *j)
{
	const struct incoming *incoming = j->end->incoming;

	if (j->end->act == ACT_PUT && S_ISREG(incoming->type)) {
		show_incoming_file(j);
	} else if (j->excerpt.text) {
		return;
	} else if (j->end->act == ACT_PUT && S_ISDIR(incoming->type)) {
		list_folder(incoming->parent, incoming->name, &j->excerpt);
	} else if (j->end->act == ACT_MAKE_LINK && j->end->target) {
		excerpt_add_text(&j->excerpt, "-> ");
		excerpt_add_inline(&j->excerpt, j->end->target);
		excerpt_add_text(&j->excerpt, "\n");
	}
}

void raise_verdict(struct judging *j, enum verdict verdict, size_t depth)
{
	if (verdict <= j->verdict)
		return;
	j->verdict = verdict;
	if (verdict == VERDICT_ASK)
		trail_prefix(&j->end->trail, depth, j->place);
}

/* Ends */

/*
 * The call fails by itself: what it takes or changes is not there, or what it
 * makes is there already. Nobody need be asked then.
 */
static bool fails_anyway(const struct change *change, const struct end *end)
{
	switch (end->act) {
	case ACT_METADATA:
	case ACT_REMOVE:
	case ACT_TAKE:
	case ACT_SHARE:
		return is_absent(end->parent, end->name);
	case ACT_MAKE_FOLDER:
	case ACT_MAKE_LINK:
		return type_of(end->parent, end->name) != 0;
	case ACT_PUT:
		return (change->source_name &&
			is_absent(change->source_parent,
				  change->source_name)) ||
		       ((change->kind == CHANGE_LINK ||
			 change->keeps_present) &&
			type_of(end->parent, end->name) != 0);
	case ACT_CREATE:
	case ACT_WRITE:
		break;
	}
	return false;
}

/* A root that moves would leave behind what is protected by its path. */
static bool moves_root(const struct places *places, const struct end *end)
{
	return end->act == ACT_TAKE &&
	       places_hold_root(places, end->trail.path);
}

static void judge_places(struct judging *j)
{
	const struct places *places = j->places;
	char place[PATH_BYTES_MAX];

	if (places_touch(places, j->end, place, &j->must_be_alone) &&
	    j->verdict < VERDICT_ASK) {
		j->verdict = VERDICT_ASK;
		memcpy(j->place, place, strlen(place) + 1);
	}
	git_visit(places, j->end, judge_spot, j);
}

static void judge_end(struct judging *j, struct judgement *ret)
{
	const struct places *places = j->places;

	judge_places(j);
	judge_completion(j);
	ret->needs_exclusive |= j->must_be_alone;
	if (moves_root(places, j->end))
		j->verdict = VERDICT_REFUSE;
	if (j->verdict == VERDICT_PASS)
		return;
	if (fails_anyway(j->change, j->end)) {
		j->verdict = VERDICT_PASS;
		j->keeps_content = false;
		/* As long as nothing comes or goes meanwhile. */
		ret->needs_exclusive = true;
		return;
	}
	if (j->is_gits && places->files->git == GIT_PROTECT)
		j->verdict = VERDICT_REFUSE;
	if (j->verdict == VERDICT_ASK)
		show(j);
}

static void judging_release(struct judging *j)
{
	free(j->excerpt.text);
	content_free(&j->content);
}

/* The repository whose answer the end needs; one that is being made: itself. */
static void find_repository(const struct judging *j,
			    char ret_path[PATH_BYTES_MAX])
{
	if (j->is_gits && !git_repository(j->places, j->end, ret_path))
		trail_prefix(&j->end->trail, j->end->trail.count - 1, ret_path);
}

static void fill(struct judgement *ret, struct judging *j)
{
	ret->verdict = j->verdict;
	if (j->verdict == VERDICT_PASS)
		return;
	find_repository(j, ret->repository);
	if (j->verdict == VERDICT_ASK)
		memcpy(ret->protected_path, j->place, sizeof(j->place));
	ret->change = excerpt_take(&j->excerpt);
	if (j->verdict == VERDICT_GIT)
		free(TAKE(ret->change));
}

/* The same place twice, or the repository of a question, needs no more. */
static void fill_second(struct judgement *ret, const struct judging *j)
{
	const char *same = ret->protected_path;

	if (j->verdict == VERDICT_ASK)
		memcpy(ret->second.path, j->place, sizeof(j->place));
	if (j->verdict == VERDICT_GIT) {
		find_repository(j, ret->second.path);
		same = ret->repository;
	}
	ret->second.verdict = j->verdict;
	if (strcmp(ret->second.path, same) != 0)
		return;
	ret->second.verdict = VERDICT_PASS;
	ret->second.path[0] = '\0';
}

/* Without the copy the change cannot be made as it was judged. */
static void keep_content(struct judgement *ret, const struct judging *j)
{
	if (!j->keeps_content || j->change->is_exchange)
		return;
	if (content_seal(&j->content, &ret->content))
		ret->verdict = VERDICT_REFUSE;
}

static enum act act_of(const struct change *change)
{
	switch (change->kind) {
	case CHANGE_CREATE:
		if (strcmp(change->call, "symlink") == 0)
			return ACT_MAKE_LINK;
		return change->is_directory ? ACT_MAKE_FOLDER : ACT_CREATE;
	case CHANGE_WRITE:
		return ACT_WRITE;
	case CHANGE_REMOVE:
		return ACT_REMOVE;
	case CHANGE_METADATA:
		return ACT_METADATA;
	case CHANGE_RENAME:
	case CHANGE_LINK:
		break;
	}
	return ACT_PUT;
}

static bool is_mount_known(int folder, uint64_t *ret_mount)
{
	struct statx status;

	if (statx(folder, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) ||
	    !(status.stx_mask & STATX_MNT_ID))
		return false;
	*ret_mount = status.stx_mnt_id;
	return true;
}

/*
 * rename(2) and link(2) never lead from one mount to another (EXDEV). So
 * nothing of another mount is opened either: it could be a tripwire of ours.
 */
static bool crosses_mounts(const struct change *change)
{
	uint64_t from, to;

	if (!change->source_path)
		return change->source < 0;
	return is_mount_known(change->source_parent, &from) &&
	       is_mount_known(change->parent, &to) && from != to;
}

static struct incoming read_incoming(int parent, const char *name,
				     int descriptor)
{
	struct incoming incoming = { .parent = parent,
				     .name = name,
				     .descriptor = descriptor };
	struct stat status;

	if (name)
		incoming.type = type_of(parent, name);
	else if (fstat(descriptor, &status) == 0)
		incoming.type = status.st_mode & S_IFMT;
	return incoming;
}

static void start_judging(struct judging *j, const struct rules *rules,
			  const struct change *change, const struct end *end)
{
	*j = (struct judging){ .places = &rules->places,
			       .change = change,
			       .end = end,
			       .content = NO_CONTENT,
			       .content_err = 1 };
}

/* An exchange takes something away from each end and puts something there. */
static void judge_acts(struct judging *j, struct end *end,
		       struct judgement *ret)
{
	enum act act = end->act;

	judge_end(j, ret);
	if (!j->change->is_exchange)
		return;
	end->act = act == ACT_PUT ? ACT_TAKE : ACT_PUT;
	judge_end(j, ret);
	end->act = act;
}

static void judge_one(const struct rules *rules, const struct change *change,
		      struct end *end, struct judgement *ret)
{
	struct judging j;

	start_judging(&j, rules, change, end);
	judge_acts(&j, end, ret);
	fill(ret, &j);
	keep_content(ret, &j);
	judging_release(&j);
}

static void judge_both(const struct rules *rules, const struct change *change,
		       struct end *to, struct end *from, struct judgement *ret)
{
	struct judging there, here;

	start_judging(&there, rules, change, to);
	start_judging(&here, rules, change, from);
	judge_acts(&there, to, ret);
	judge_acts(&here, from, ret);
	if (here.verdict > there.verdict) {
		fill(ret, &here);
		fill_second(ret, &there);
	} else {
		fill(ret, &there);
		fill_second(ret, &here);
	}
	keep_content(ret, &there);
	judging_release(&there);
	judging_release(&here);
}

/*
 * Both ends of a rename; the one of a link whose file has no name. `incoming`
 * is what comes to stand at the path, `back` what an exchange puts elsewhere.
 */
static void judge_rename_or_link(const struct rules *rules,
				 const struct change *change,
				 const struct incoming *incoming,
				 const struct incoming *back,
				 struct judgement *ret)
{
	struct end to = { .act = ACT_PUT,
			  .parent = change->parent,
			  .name = change->name,
			  .is_directory = S_ISDIR(incoming->type),
			  .incoming = incoming };
	struct end from = { .act = change->kind == CHANGE_RENAME ? ACT_TAKE
								 : ACT_SHARE,
			    .parent = change->source_parent,
			    .name = change->source_name,
			    .is_directory = S_ISDIR(incoming->type),
			    .incoming = back };

	trail_read(change->path, &to.trail);
	if (!change->source_path) {
		judge_one(rules, change, &to, ret);
		return;
	}
	trail_read(change->source_path, &from.trail);
	judge_both(rules, change, &to, &from, ret);
}

static void judge_other(const struct rules *rules, const struct change *change,
			struct judgement *ret)
{
	struct end end = { .act = act_of(change),
			   .parent = change->parent,
			   .name = change->name,
			   .is_directory = change->is_directory,
			   .target = change->target };

	trail_read(change->path, &end.trail);
	judge_one(rules, change, &end, ret);
}

void rules_judge(const struct rules *rules, const struct change *change,
		 struct judgement *ret)
{
	bool has_source =
		change->kind == CHANGE_RENAME || change->kind == CHANGE_LINK;

	*ret = (struct judgement){ .content = -1 };
	if (has_source && !crosses_mounts(change)) {
		const struct incoming incoming =
			read_incoming(change->source_parent,
				      change->source_name, change->source);
		const struct incoming back =
			read_incoming(change->parent, change->name, -1);

		judge_rename_or_link(rules, change, &incoming, &back, ret);
	} else if (!has_source) {
		judge_other(rules, change, ret);
	}
	if (change->kind == CHANGE_RENAME && change->is_directory)
		ret->needs_exclusive = true;
}

void judgement_release(struct judgement *judgement)
{
	free(judgement->change);
	close_quietly(judgement->content);
	*judgement = (struct judgement){ .content = -1 };
}
