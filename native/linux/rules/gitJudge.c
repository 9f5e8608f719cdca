/*
 * Judging of what happens to the parts of git directories, see judging.h and
 * gitLayout.h. What git itself does all day goes with the git answer; what
 * runs, or decides what runs, is a question of its own.
 */
#include "judging.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * A link leads out of what is judged by its name, unless it is one name: git
 * tries links with one to "testing".
 */
static bool is_local_link(const struct judging *j)
{
	char target[PATH_BYTES_MAX];
	ssize_t length;

	if (j->end->act == ACT_MAKE_LINK)
		return j->end->target && !strchr(j->end->target, '/');
	length = readlinkat(j->end->incoming->parent, j->end->incoming->name,
			    target, sizeof(target));
	return length > 0 && !memchr(target, '/', (size_t)length);
}

static bool brings_link(const struct judging *j)
{
	return j->end->act == ACT_MAKE_LINK ||
	       (j->end->act == ACT_PUT && (S_ISLNK(j->end->incoming->type) ||
					   j->end->incoming->type == 0));
}

/* A folder may become a submodule's git directory where it is put. */
static bool brings_git_directory(struct judging *j)
{
	const struct incoming *incoming = j->end->incoming;

	return j->end->act == ACT_PUT && S_ISDIR(incoming->type) &&
	       !git_directory_is_harmless(incoming->parent, incoming->name,
					  j->end->trail.path, &j->excerpt);
}

static enum verdict judge_plain(struct judging *j)
{
	if (brings_link(j))
		return is_local_link(j) ? VERDICT_GIT : VERDICT_ASK;
	return brings_git_directory(j) ? VERDICT_ASK : VERDICT_GIT;
}

/* HEAD may be a link (core.preferSymlinkRefs). */
static enum verdict judge_vital(struct judging *j, const struct git_spot *spot)
{
	enum act act = j->end->act;

	if (!spot->is_linked && (act == ACT_REMOVE || act == ACT_TAKE))
		return VERDICT_ASK;
	if (act == ACT_MAKE_LINK && j->end->target &&
	    strncmp(j->end->target, "refs/", strlen("refs/")) == 0)
		return VERDICT_GIT;
	return judge_plain(j);
}

static enum verdict judge_top(struct judging *j)
{
	const struct end *end = j->end;

	switch (end->act) {
	case ACT_MAKE_LINK:
		return VERDICT_ASK;
	case ACT_TAKE:
		return S_ISDIR(type_of(end->parent, end->name)) ? VERDICT_ASK
								: VERDICT_GIT;
	case ACT_PUT:
		if (brings_link(j))
			return VERDICT_ASK;
		return brings_git_directory(j) ? VERDICT_ASK : VERDICT_GIT;
	case ACT_CREATE:
	case ACT_MAKE_FOLDER:
	case ACT_WRITE:
	case ACT_METADATA:
	case ACT_REMOVE:
	case ACT_SHARE:
		break;
	}
	return VERDICT_GIT;
}

static bool content_is_harmless(struct judging *j, const struct git_spot *spot,
				const struct content *content)
{
	const struct end *end = j->end;
	char directory[PATH_BYTES_MAX];

	if (spot->part == PART_TODO)
		return todo_content_is_harmless(content, &j->excerpt);
	if (spot->part == PART_OPTIONS)
		return options_content_is_harmless(content, &j->excerpt);
	trail_prefix(&end->trail, spot->top, directory);
	return config_content_is_harmless(content, end->parent, end->name,
					  directory, &j->excerpt);
}

/*
 * What is put in the place of a file that is judged by content. The two that
 * an exchange swaps stay the files they are, which others may have open.
 */
static enum verdict judge_content(struct judging *j,
				  const struct git_spot *spot)
{
	const struct content *content;

	if (!S_ISREG(j->end->incoming->type) || j->change->is_exchange)
		return VERDICT_ASK;
	content = incoming_content(j);
	if (!content)
		return VERDICT_ASK;
	j->keeps_content = true;
	return content_is_harmless(j, spot, content) ? VERDICT_GIT
						     : VERDICT_ASK;
}

static enum verdict judge_config(struct judging *j, const struct git_spot *spot)
{
	switch (j->end->act) {
	case ACT_MAKE_FOLDER:
	case ACT_METADATA:
		return VERDICT_GIT;
	case ACT_REMOVE:
		return spot->is_linked ? VERDICT_GIT : VERDICT_ASK;
	case ACT_PUT:
		return judge_content(j, spot);
	case ACT_CREATE:
	case ACT_WRITE:
	case ACT_MAKE_LINK:
	case ACT_TAKE:
	case ACT_SHARE:
		break;
	}
	return VERDICT_ASK;
}

static enum verdict judge_hooks_folder(const struct judging *j)
{
	switch (j->end->act) {
	case ACT_MAKE_FOLDER:
	case ACT_METADATA:
		return VERDICT_GIT;
	case ACT_REMOVE:
		return j->end->is_directory ? VERDICT_GIT : VERDICT_ASK;
	case ACT_CREATE:
	case ACT_WRITE:
	case ACT_MAKE_LINK:
	case ACT_TAKE:
	case ACT_PUT:
	case ACT_SHARE:
		break;
	}
	return VERDICT_ASK;
}

/* Files that a rebase goes by; git itself renames them into place. */
static enum verdict judge_todo(struct judging *j, const struct git_spot *spot)
{
	switch (j->end->act) {
	case ACT_PUT:
		return judge_content(j, spot);
	case ACT_CREATE:
	case ACT_WRITE:
	case ACT_MAKE_LINK:
	case ACT_SHARE:
		return VERDICT_ASK;
	case ACT_MAKE_FOLDER:
	case ACT_METADATA:
	case ACT_REMOVE:
	case ACT_TAKE:
		break;
	}
	return VERDICT_GIT;
}

/* A folder whose parts would be put all at once, or be written elsewhere. */
static bool replaces_folder(const struct judging *j)
{
	return j->end->act == ACT_MAKE_LINK || j->end->act == ACT_PUT;
}

/* Gives the file other content, now or later. */
static bool writes_file(const struct judging *j)
{
	switch (j->end->act) {
	case ACT_CREATE:
	case ACT_WRITE:
	case ACT_MAKE_LINK:
	case ACT_PUT:
	case ACT_SHARE:
		return true;
	case ACT_MAKE_FOLDER:
	case ACT_METADATA:
	case ACT_REMOVE:
	case ACT_TAKE:
		break;
	}
	return false;
}

static enum verdict judge_part(struct judging *j, const struct git_spot *spot)
{
	switch (spot->part) {
	case PART_PLAIN:
		return judge_plain(j);
	case PART_OBJECT:
		return VERDICT_GIT;
	case PART_TOP:
		return judge_top(j);
	case PART_VITAL:
		return judge_vital(j, spot);
	case PART_CONFIG:
		return judge_config(j, spot);
	case PART_HOOKS_FOLDER:
		return judge_hooks_folder(j);
	case PART_HOOK:
	case PART_SHORT_NAME:
		return VERDICT_ASK;
	case PART_INFO_FOLDER:
		return replaces_folder(j) || j->end->act == ACT_TAKE
			       ? VERDICT_ASK
			       : VERDICT_GIT;
	case PART_ATTRIBUTES:
		return j->end->act == ACT_METADATA ? VERDICT_GIT : VERDICT_ASK;
	case PART_COMMON:
		return writes_file(j) && !spot->is_linked ? VERDICT_ASK
							  : judge_plain(j);
	case PART_STATE_FOLDER:
		return replaces_folder(j) ? VERDICT_ASK : VERDICT_GIT;
	case PART_TODO:
	case PART_OPTIONS:
		return judge_todo(j, spot);
	case PART_STRATEGY:
		return writes_file(j) ? VERDICT_ASK : VERDICT_GIT;
	}
	return VERDICT_ASK;
}

/* Judged by its type, which another thread could swap: all but objects. */
static bool moves(enum act act)
{
	return act == ACT_PUT || act == ACT_TAKE;
}

void judge_spot(void *context, const struct git_spot *spot)
{
	struct judging *j = context;
	bool is_end = spot->part == PART_CONFIG && j->end->act == ACT_REMOVE;

	j->is_gits = true;
	j->must_be_alone |= spot->part != PART_OBJECT && moves(j->end->act);
	raise_verdict(j, judge_part(j, spot), is_end ? spot->top : spot->depth);
}

/* Layouts that become complete */

static bool brings_name(enum act act)
{
	return act == ACT_CREATE || act == ACT_MAKE_FOLDER ||
	       act == ACT_MAKE_LINK || act == ACT_PUT;
}

void judge_completion(struct judging *j)
{
	const struct end *end = j->end;
	size_t depth = end->trail.count - 1;
	char folder[PATH_BYTES_MAX];
	bool is_odd;

	if (!brings_name(end->act) || !git_can_complete(end) ||
	    (!j->is_gits && places_root_depth(j->places, &end->trail) > depth))
		return;
	j->must_be_alone = true;
	if (!git_completes(end, &is_odd))
		return;
	j->is_gits = true;
	trail_prefix(&end->trail, depth, folder);
	if (git_directory_is_harmless(end->parent, ".", folder, &j->excerpt) &&
	    !is_odd)
		raise_verdict(j, VERDICT_GIT, depth);
	else
		raise_verdict(j, VERDICT_ASK, depth);
}
