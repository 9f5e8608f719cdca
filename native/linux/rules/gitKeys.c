/*
 * Which settings of a repository are harmless, see gitConfig.h: a table, each
 * group with its reason. What is not in it is asked, so a key that a later git
 * invents is asked, too.
 *
 * Asked on purpose, though one might think otherwise:
 * - user.name, user.email: run nothing, but sign the user's later commits.
 * - extensions.partialClone, remote.*.promisor: with them git contacts the
 *   remote by itself, in commands that only read.
 * - branch.*.mergeOptions, pull.twohead: name a merge strategy, which is run
 *   as a program "git-merge-NAME".
 * - rebase.instructionFormat: may hold a line end, and so lines of the todo.
 * - core.protectHFS, core.protectNTFS, core.commentChar, *.pruneExpire:
 *   switch protections off.
 * - include.path, url.*.insteadOf, http.*, credential.*, alias.*, filter.*,
 *   diff.*.textconv, *.command, *.program, core.*: run, read or redirect.
 */
#include "gitConfig.h"

#include <string.h>
#include <strings.h>

#include "fold.h"

typedef bool (*value_check)(const char *value,
			    const struct config_place *place);

/* A word or a text: no option of a command, no line ends or escapes. */
static bool is_plain(const char *value, const struct config_place *place)
{
	(void)place;
	if (!value)
		return true;
	if (*value == '-')
		return false;
	for (; *value; value++) {
		if ((unsigned char)*value < ' ' || *value == '\x7f')
			return false;
	}
	return true;
}

/* git's own options as values: "--tags". */
static bool is_tag_option(const char *value, const struct config_place *place)
{
	(void)place;
	return value && (strcmp(value, "--tags") == 0 ||
			 strcmp(value, "--no-tags") == 0);
}

static bool is_any(const char *value, const struct config_place *place)
{
	(void)value;
	(void)place;
	return true;
}

/*
 * Where a repository lies: gitremote-helpers(7), "transport::address" runs
 * the program git-remote-transport, ext:: any; a host or path with "-" in
 * front is taken for an option by ssh and others.
 */
static bool is_address(const char *value, const struct config_place *place)
{
	const char *at = value;

	if (!value || !is_plain(value, place))
		return false;
	while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
	       (*at >= '0' && *at <= '9') || (*at && strchr("+-.", *at)))
		at++;
	if (at[0] == ':' && at[1] == ':')
		return false;
	return !strstr(value, "://-") && !strstr(value, "@-") &&
	       !strstr(value, ":-");
}

static bool is_one_of(const char *value, const char *const *words, size_t count)
{
	for (size_t i = 0; value && i < count; i++) {
		if (strcasecmp(value, words[i]) == 0)
			return true;
	}
	return false;
}

/* Not for everybody on the machine: they could write hooks then. */
static bool is_shared_mode(const char *value, const struct config_place *place)
{
	static const char *const words[] = { "umask", "false", "no",  "0",
					     "group", "true",  "yes", "1",
					     "0600",  "0640",  "0660" };

	(void)place;
	return !value || is_one_of(value, words, ARRAY_SIZE(words));
}

/* Or "!command". */
static bool is_submodule_update(const char *value,
				const struct config_place *place)
{
	static const char *const words[] = { "checkout", "rebase", "merge",
					     "none" };

	(void)place;
	return is_one_of(value, words, ARRAY_SIZE(words));
}

/* What git-lfs notes after it has logged in once. */
static bool is_lfs_access(const char *value, const struct config_place *place)
{
	static const char *const words[] = { "none", "basic" };

	(void)place;
	return is_one_of(value, words, ARRAY_SIZE(words));
}

/*
 * What `git lfs install` writes, to the letter: git-lfs is the user's own, and
 * found by the user's PATH.
 */
static bool is_lfs_filter(const char *value, const struct config_place *place)
{
	static const char *const words[] = {
		"git-lfs clean -- %f",		 "git-lfs smudge -- %f",
		"git-lfs smudge --skip -- %f",	 "git-lfs filter-process",
		"git-lfs filter-process --skip", "true",
	};

	(void)place;
	for (size_t i = 0; value && i < ARRAY_SIZE(words); i++) {
		if (strcmp(value, words[i]) == 0)
			return true;
	}
	return false;
}

/* Length of the path's part before "/.git/modules/"; 0: there is none. */
static size_t superproject_length(const char *directory)
{
	const char *modules = strstr(directory, "/.git/modules/");

	return modules ? (size_t)(modules - directory) : 0;
}

/*
 * A submodule's: a folder below the work tree that the submodule belongs to.
 * Git writes there when it checks out, so it must be nobody else's, and no
 * git directory.
 */
static bool is_submodule_tree(const char *value,
			      const struct config_place *place)
{
	size_t top = superproject_length(place->directory);
	size_t length = strlen(place->directory);

	if (!value || top == 0 || *value == '/')
		return false;
	for (; strncmp(value, "../", 3) == 0; value += 3) {
		while (length > top && place->directory[length - 1] != '/')
			length--;
		if (length <= top)
			return false;
		length--;
	}
	if (length != top || *value == '\0')
		return false;
	while (*value) {
		size_t part = strcspn(value, "/");
		char folded[NAME_BYTES_MAX];

		fold_name(value, part, folded);
		if (*folded == '\0' || *folded == '.' || is_short_name(folded))
			return false;
		value += part + (value[part] == '/');
	}
	return true;
}

static const struct group {
	const char *section;
	bool has_subsection;
	const char *names; /* between blanks, which stand at the ends, too */
	value_check check;
} groups[] = {
	/* How this repository is stored; `git init` and `clone` write them. */
	{ "core", false,
	  " repositoryformatversion filemode bare logallrefupdates ignorecase "
	  "precomposeunicode symlinks ",
	  is_plain },
	{ "core", false, " sharedrepository ", is_shared_mode },
	{ "extensions", false,
	  " objectformat compatobjectformat refstorage preciousobjects noop "
	  /* config.worktree, which is judged as config is */
	  "worktreeconfig relativeworktrees ",
	  is_plain },

	/* Speed, and the forms of content: they choose among git's own ways. */
	{ "core", false,
	  " untrackedcache splitindex preloadindex commitgraph "
	  "multipackindex bigfilethreshold compression loosecompression "
	  "sparsecheckout sparsecheckoutcone autocrlf eol safecrlf quotepath "
	  "abbrev ",
	  is_plain },
	{ "index", false, " version threads sparse skiphash ", is_plain },
	{ "feature", false, " manyfiles experimental ", is_plain },
	{ "gc", false, " auto autodetach autopacklimit writecommitgraph ",
	  is_plain },
	{ "maintenance", false, " auto strategy ", is_plain },
	{ "rerere", false, " enabled autoupdate ", is_plain },

	/* Tracking. A remote may be named by its address as well. */
	{ "branch", true, " remote pushremote ", is_address },
	{ "branch", true, " merge rebase ", is_plain },
	{ "branch", true, " description ", is_any }, /* only shown */
	{ "branch", false, " autosetupmerge autosetuprebase sort ", is_plain },
	{ "remote", true, " url pushurl ", is_address },
	{ "remote", true, " fetch mirror prune prunetags ", is_plain },
	{ "remote", true, " tagopt ", is_tag_option },
	{ "remote", false, " pushdefault ", is_address },

	/* Which of its own ways git takes when the user pulls and pushes. */
	{ "push", false, " default autosetupremote followtags ", is_plain },
	{ "pull", false, " rebase ff ", is_plain },
	{ "fetch", false, " prune prunetags writecommitgraph parallel ",
	  is_plain },
	{ "rebase", false, " autostash autosquash updaterefs ", is_plain },
	{ "merge", false, " ff conflictstyle autostash ", is_plain },

	/* Submodules; what they are lies in the tree, in .gitmodules. */
	{ "submodule", true, " url ", is_address },
	{ "submodule", true, " active branch ignore fetchrecursesubmodules ",
	  is_plain },
	{ "submodule", true, " update ", is_submodule_update },
	{ "submodule", false, " active recurse fetchjobs ", is_plain },
	{ "core", false, " worktree ", is_submodule_tree },

	/* Large files. */
	{ "lfs", false, " repositoryformatversion ", is_plain },
	{ "lfs", true, " access ", is_lfs_access },
	{ "filter", true, " clean smudge process required ", is_lfs_filter },
};

static bool names_hold(const char *names, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = names; (at = strstr(at, name)); at++) {
		if (at[-1] == ' ' && at[length] == ' ')
			return true;
	}
	return false;
}

static bool covers(const struct group *group, const struct config_entry *entry)
{
	return strcmp(group->section, entry->section) == 0 &&
	       group->has_subsection == (entry->subsection != NULL) &&
	       names_hold(group->names, entry->name);
}

bool config_is_harmless(const struct config_entry *entry,
			const struct config_place *place)
{
	/* Filters other than git-lfs' own have any name and any command. */
	if (strcmp(entry->section, "filter") == 0 && entry->subsection &&
	    strcmp(entry->subsection, "lfs") != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (covers(&groups[i], entry))
			return groups[i].check(entry->value, place);
	}
	return false;
}
