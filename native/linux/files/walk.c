/*
 * The slow way along a path, see walk.h: taken where openat2(2) cannot do it
 * for us in one call. It looks at each component without following it, so it
 * sees links whose meaning depends on who looks (/proc/self, and what is in
 * /proc/PID/fd), and stops ".." at the caller's own root.
 */
#include "walk.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "caller.h"
#include "special.h"

enum { REST_BYTES_MAX = 2 * PATH_BYTES_MAX };

struct walk {
	const struct call *call;
	int root, at; /* O_PATH folders; at: owned */
	struct steps *steps;
	char rest[REST_BYTES_MAX];
	size_t done; /* bytes of it */
};

static bool is_same_file(int a, int b)
{
	struct stat one, other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static void move_to(struct walk *walk, int fd)
{
	close_quietly(walk->at);
	walk->at = fd;
}

static int restart(struct walk *walk)
{
	int fd = fcntl(walk->root, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	move_to(walk, fd);
	walk->steps->in_own = false;
	return 0;
}

/* Puts a link's text before what is left. */
static int insert(struct walk *walk, const char *text)
{
	size_t length = strlen(text);
	const char *left = walk->rest + walk->done;
	size_t left_length = strlen(left);

	if (length == 0)
		return -ENOENT;
	if (length + left_length + 2 > sizeof(walk->rest))
		return -ENAMETOOLONG;
	memmove(walk->rest + length + 1, left, left_length + 1);
	memcpy(walk->rest, text, length);
	walk->rest[length] = '/';
	if (left_length == 0)
		walk->rest[length] = '\0';
	walk->done = 0;
	return text[0] == '/' ? restart(walk) : 0;
}

static int follow_text(struct walk *walk, int link)
{
	char text[PATH_BYTES_MAX];
	ssize_t length = readlinkat(link, "", text, sizeof(text) - 1);

	if (length < 0)
		return -errno;
	text[length] = '\0';
	walk->steps->in_own = false;
	return insert(walk, text);
}

static int follow(struct walk *walk, int link, const char *name)
{
	char text[PATH_BYTES_MAX];
	int err, fd;

	if (++walk->steps->links > LINKS_MAX)
		return -ELOOP;
	if (!is_proc(link))
		return follow_text(walk, link);
	err = special_text(walk->call, walk->at, name, text);
	if (err == 0) {
		walk->steps->in_own = true;
		return insert(walk, text);
	}
	if (err != -EINVAL)
		return err;
	if (is_plain_proc_link(walk->at, name))
		return follow_text(walk, link);
	fd = special_jump(walk->call, walk->at, name, walk->steps->in_own);
	if (fd < 0)
		return fd;
	move_to(walk, fd);
	walk->steps->in_own = false;
	walk->steps->by_descriptor = true;
	return 0;
}

static int step_up(struct walk *walk)
{
	int fd;

	walk->steps->in_own = false;
	if (is_same_file(walk->at, walk->root))
		return 0;
	fd = openat(walk->at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	move_to(walk, fd);
	return 0;
}

/* One component; it must be a folder when `folder`. */
static int step(struct walk *walk, const char *name, bool folder)
{
	AUTO_CLOSE int fd = -1;
	struct stat status;

	if (strcmp(name, "..") == 0)
		return step_up(walk);
	/* "." as well: it needs the right to search. */
	fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (S_ISLNK(status.st_mode))
		return follow(walk, fd, name);
	if (folder && !S_ISDIR(status.st_mode))
		return -ENOTDIR;
	move_to(walk, TAKE(fd));
	return 0;
}

/* The next component into `name`; false: there is none. */
static bool take_name(struct walk *walk, char name[PATH_BYTES_MAX],
		      bool *ret_last)
{
	const char *at = walk->rest + walk->done;
	size_t length;

	at += strspn(at, "/");
	length = strcspn(at, "/");
	if (length == 0)
		return false;
	if (length >= PATH_BYTES_MAX)
		length = PATH_BYTES_MAX - 1; /* ENAMETOOLONG in any case */
	memcpy(name, at, length);
	name[length] = '\0';
	walk->done = (size_t)(at + length - walk->rest);
	*ret_last = at[length] == '\0';
	return true;
}

static int walk_along(struct walk *walk)
{
	char name[PATH_BYTES_MAX];
	struct stat status;
	bool last;
	int err = walk->rest[0] == '/' ? restart(walk) : 0;

	while (!err && take_name(walk, name, &last))
		err = step(walk, name, !last);
	if (err)
		return err;
	/* A link of /proc can lead to anything. */
	if (fstat(walk->at, &status) || !S_ISDIR(status.st_mode))
		return -ENOTDIR;
	return 0;
}

int walk(const struct call *call, int start, const char *path,
	 struct steps *steps)
{
	AUTO_CLOSE int owned_root = -1;
	UNINITIALIZED struct walk walk;
	size_t length = strlen(path);
	int err;

	walk.call = call;
	walk.root = caller_root(call, &owned_root);
	walk.at = start;
	walk.steps = steps;
	walk.done = 0;
	err = walk.root < 0 ? walk.root : 0;

	steps->in_own = false;
	if (length >= sizeof(walk.rest))
		err = -ENAMETOOLONG;
	if (!err) {
		memcpy(walk.rest, path, length + 1);
		err = walk_along(&walk);
	}
	if (err) {
		close_quietly(walk.at);
		return err;
	}
	return walk.at;
}
