/*
 * A look into a folder that is about to count as a git directory, see
 * gitContent.h. From then on what is put in it is judged by its name; this is
 * for what was put there before.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fold.h"
#include "gitConfig.h"
#include "gitContent.h"

#include "../../common/limits.h"

struct inspection {
	int folder;
	const char *directory;
	struct excerpt *excerpt;
	bool is_harmless;
};

static void find(struct inspection *inspection, const char *name,
		 const char *what)
{
	inspection->is_harmless = false;
	excerpt_add_inline(inspection->excerpt, name);
	excerpt_add_text(inspection->excerpt, what);
	excerpt_add_text(inspection->excerpt, "\n");
}

static void inspect_settings(struct inspection *inspection, const char *name,
			     const struct config *config)
{
	const struct config_place place = { .directory =
						    inspection->directory };
	const struct config nothing = { 0 };

	if (config_adds_nothing(&nothing, config, &place))
		return;
	find(inspection, name, " has:");
	config_write_changes(&nothing, config, inspection->excerpt);
}

static void inspect_config(struct inspection *inspection, const char *name)
{
	struct content content = NO_CONTENT;
	struct config config = { 0 };
	int err = content_read(inspection->folder, name, &content);

	if (err == -ENOENT)
		return;
	if (err) {
		find(inspection, name, " cannot be read, or is no plain file");
		return;
	}
	if (content_can_change(&content))
		find(inspection, name,
		     " is open for writing, or has another name");
	if (config_parse(content.bytes, content.length, &config))
		find(inspection, name, " cannot be read by git");
	inspect_settings(inspection, name, &config);
	config_free(&config);
	content_free(&content);
}

static bool is_sample(const char *name)
{
	static const char suffix[] = ".sample";
	char folded[NAME_BYTES_MAX];
	size_t length;

	fold_name(name, strlen(name), folded);
	length = strlen(folded);
	return length > strlen(suffix) &&
	       strcmp(folded + length - strlen(suffix), suffix) == 0;
}

static void inspect_hook(struct inspection *inspection, int hooks,
			 const char *name)
{
	struct content content = NO_CONTENT;
	char path[NAME_BYTES_MAX + 8];

	(void)snprintf(path, sizeof(path), "hooks/%s", name);
	find(inspection, path, ":");
	if (content_read(hooks, name, &content) == 0)
		excerpt_add(inspection->excerpt, content.bytes, content.length);
	content_free(&content);
}

/* Takes the descriptor of the folder. */
static void inspect_hook_entries(struct inspection *inspection, int hooks)
{
	DIR *entries = fdopendir(hooks);
	const struct dirent *entry;
	int listed = 0;

	if (!entries) {
		close_quietly(hooks);
		find(inspection, "hooks", " cannot be listed");
		return;
	}
	while ((entry = readdir(entries)) && listed < HOOKS_LISTED_MAX) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    is_sample(entry->d_name))
			continue;
		inspect_hook(inspection, dirfd(entries), entry->d_name);
		listed++;
	}
	(void)closedir(entries);
}

static void inspect_hooks(struct inspection *inspection)
{
	int hooks =
		RETRY(openat(inspection->folder, "hooks",
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));

	if (hooks >= 0)
		inspect_hook_entries(inspection, hooks);
	else if (errno != ENOENT)
		find(inspection, "hooks",
		     " is a link, or cannot be looked into");
}

/* Anything but a plain absence is worth a question. */
static void inspect_absent(struct inspection *inspection, const char *name)
{
	struct stat status;

	if (fstatat(inspection->folder, name, &status, AT_SYMLINK_NOFOLLOW) &&
	    (errno == ENOENT || errno == ENOTDIR))
		return;
	find(inspection, name, " is there");
}

/* A link in its place could get attributes later, unseen. */
static void inspect_info(struct inspection *inspection)
{
	struct stat status;

	if (fstatat(inspection->folder, "info", &status, AT_SYMLINK_NOFOLLOW) ==
		    0 &&
	    S_ISLNK(status.st_mode))
		find(inspection, "info", " is a link");
	else
		inspect_absent(inspection, "info/attributes");
}

/* Only of a real one: a linked work tree's is made of little else. */
static void inspect_redirection(struct inspection *inspection)
{
	struct stat status;

	if (fstatat(inspection->folder, "objects", &status,
		    AT_SYMLINK_NOFOLLOW) == 0)
		inspect_absent(inspection, "commondir");
}

bool git_directory_is_harmless(int parent, const char *name,
			       const char *directory, struct excerpt *excerpt)
{
	AUTO_CLOSE int folder = RETRY(openat(
		parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	struct inspection inspection = { .folder = folder,
					 .directory = directory,
					 .excerpt = excerpt,
					 .is_harmless = true };

	if (folder < 0) {
		find(&inspection, directory, " cannot be looked into");
		return false;
	}
	inspect_config(&inspection, "config");
	inspect_config(&inspection, "config.worktree");
	inspect_hooks(&inspection);
	inspect_info(&inspection);
	inspect_redirection(&inspection);
	return inspection.is_harmless;
}
