/* Paths of a caller into descriptors, see resolve.h. */
#include "resolve.h"

#include <fcntl.h>
#include <string.h>

#include "../launch/uapi.h"
#include "caller.h"
#include "special.h"

void place_close(const struct place *place)
{
	close_quietly(place->parent);
	close_quietly(place->file);
}

bool is_entry(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strcmp(name, "/") != 0;
}

/* -errno, openat2(2) */
static int open_folder(int start, const char *path, __u64 resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = resolve | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, start, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/*
 * What may be otherwise for the caller: a link to an absolute path or up past
 * the start, a link of /proc, or one whose meaning depends on who looks.
 */
static bool must_walk(int err)
{
	return err == -EXDEV || err == -ELOOP || err == -ENOENT ||
	       err == -EAGAIN;
}

/* From a folder (taken over) along `path`; it may be "". */
static int resolve_from(const struct call *call, int start, const char *path,
			struct place *place)
{
	int fd;

	place->steps.in_own = false;
	if (!*path)
		return start;
	fd = open_folder(start, path, RESOLVE_BENEATH);
	if (must_walk(fd))
		return walk(call, start, path, &place->steps);
	close_quietly(start);
	return fd;
}

static int resolve_absolute(const struct call *call, const char *path,
			    struct place *place)
{
	AUTO_CLOSE int owned = -1;
	int root = caller_root(call, &owned);
	int fd = root < 0 ? root : open_folder(root, path, RESOLVE_IN_ROOT);

	place->steps.in_own = false;
	if (!must_walk(fd))
		return fd;
	root = fcntl(root, F_DUPFD_CLOEXEC, 0);
	if (root < 0)
		return -errno;
	return walk(call, root, path, &place->steps);
}

static int resolve_relative(const struct call *call, int directory,
			    const char *path, struct place *place)
{
	int start = caller_directory(call, directory);

	place->steps.by_descriptor = directory != AT_FDCWD;
	return start < 0 ? start : resolve_from(call, start, path, place);
}

/*
 * Cuts the last component off: place->name. Gives what is before it, "" for
 * nothing. `path` is not empty and fits, and may be in place->text already.
 */
static const char *split(const char *path, struct place *place)
{
	size_t length = strlen(path);
	char *slash;

	memmove(place->text, path, length + 1);
	place->slash = false;
	while (length > 1 && place->text[length - 1] == '/') {
		place->text[--length] = '\0';
		place->slash = true;
	}
	slash = strrchr(place->text, '/');
	if (!slash) {
		place->name = place->text;
		return "";
	}
	if (length == 1) {
		place->name = "/";
		return "/";
	}
	*slash = '\0';
	place->name = slash + 1;
	return slash == place->text ? "/" : place->text;
}

int resolve_parent(const struct call *call, int directory, const char *path,
		   struct place *ret_place)
{
	struct place *place = ret_place;
	const char *before;

	place->steps = (struct steps){ 0 };
	if (!*path)
		return -ENOENT;
	before = split(path, place);
	place->parent = before[0] == '/' ? resolve_absolute(call, before, place)
					 : resolve_relative(call, directory,
							    before, place);
	return place->parent < 0 ? place->parent : 0;
}

/* Where a link of /proc leads: -EINVAL for one with an ordinary text. */
static int jump(const struct call *call, struct place *place)
{
	int fd;

	if (is_plain_proc_link(place->parent, place->name))
		return -EINVAL;
	fd = special_jump(call, place->parent, place->name,
			  place->steps.in_own);
	if (fd < 0)
		return fd;
	close_quietly(TAKE(place->parent));
	place->file = fd;
	place->name = "";
	place->steps.by_descriptor = true;
	return 1;
}

static int read_link(const struct call *call, struct place *place, int link,
		     char ret_text[PATH_BYTES_MAX])
{
	ssize_t length;
	int err;

	if (is_proc(link)) {
		err = special_text(call, place->parent, place->name, ret_text);
		if (err == -EINVAL)
			err = jump(call, place);
		if (err != -EINVAL)
			return err;
	}
	length = readlinkat(link, "", ret_text, PATH_BYTES_MAX - 1);
	if (length < 0)
		return -errno;
	ret_text[length] = '\0';
	return length ? 0 : -ENOENT;
}

int resolve_link(const struct call *call, struct place *place)
{
	UNINITIALIZED char text[PATH_BYTES_MAX];
	AUTO_CLOSE int link = -1;
	bool slash = place->slash;
	const char *before;
	struct stat status;
	int err;

	if (!is_entry(place->name))
		return 0;
	link = openat(place->parent, place->name,
		      O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (link < 0 || fstat(link, &status))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISLNK(status.st_mode))
		return 0;
	if (++place->steps.links > LINKS_MAX)
		return -ELOOP;
	err = read_link(call, place, link, text);
	if (err)
		return err; /* 1: it was a jump */
	before = split(text, place);
	place->slash |= slash;
	if (before[0] == '/') {
		close_quietly(TAKE(place->parent));
		place->parent = resolve_absolute(call, before, place);
	} else {
		place->parent =
			resolve_from(call, TAKE(place->parent), before, place);
	}
	return place->parent < 0 ? place->parent : 1;
}

/* ".", ".." and "/" after the parent: a folder without a name of its own. */
static int resolve_dots(const struct call *call, struct place *place)
{
	bool up = strcmp(place->name, "..") == 0;
	int fd = fcntl(place->parent, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	place->file = walk(call, fd, up ? ".." : ".", &place->steps);
	close_quietly(TAKE(place->parent));
	place->name = "";
	return place->file < 0 ? place->file : 0;
}

static int open_entry(struct place *place, struct stat *ret_status)
{
	AUTO_CLOSE int fd = openat(place->parent, place->name,
				   O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, ret_status))
		return -errno;
	if (place->slash && !S_ISDIR(ret_status->st_mode) &&
	    !S_ISLNK(ret_status->st_mode))
		return -ENOTDIR;
	place->file = TAKE(fd);
	return 0;
}

int resolve_file(const struct call *call, bool follow, struct place *place)
{
	struct stat status;
	int err;

	for (;;) {
		if (place->parent < 0)
			return 0; /* jumped */
		if (!is_entry(place->name))
			return resolve_dots(call, place);
		err = open_entry(place, &status);
		if (err || !S_ISLNK(status.st_mode) ||
		    !(follow || place->slash))
			return err;
		close_quietly(TAKE(place->file));
		err = resolve_link(call, place);
		if (err < 0)
			return err;
	}
}
