/* Listing of a folder, see listing.h. */
#include "listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"

struct listing {
	struct excerpt *excerpt;
	int left; /* entries that still have room */
};

static void list_below(struct listing *listing, int parent, const char *name,
		       const char *shown, int level);

static void list_entry(struct listing *listing, int folder,
		       const struct dirent *entry, const char *shown, int level)
{
	char path[PATH_BYTES_MAX];

	(void)snprintf(path, sizeof(path), "%s%s%s", shown, entry->d_name,
		       entry->d_type == DT_DIR ? "/" : "");
	excerpt_add_inline(listing->excerpt, path);
	excerpt_add_text(listing->excerpt, "\n");
	listing->left--;
	if (entry->d_type == DT_DIR && level < LISTING_LEVELS_MAX)
		list_below(listing, folder, entry->d_name, path, level + 1);
}

static void list_below(struct listing *listing, int parent, const char *name,
		       const char *shown, int level)
{
	int fd = RETRY(openat(parent, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!entries) {
		close_quietly(fd);
		return;
	}
	while (listing->left > 0 && (entry = readdir(entries))) {
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			list_entry(listing, fd, entry, shown, level);
	}
	(void)closedir(entries);
}

void list_folder(int parent, const char *name, struct excerpt *excerpt)
{
	struct listing listing = { .excerpt = excerpt,
				   .left = LISTING_ENTRIES_MAX };

	list_below(&listing, parent, name, "", 1);
	if (listing.left == 0)
		excerpt_add_text(excerpt, "…\n");
}
