/*
 * The host's own view of what a call was to change, for places that are
 * read-only in the sandbox and open to it all the same, see act.h. Only the
 * very same folder or file will do: a mask or a private folder has another
 * one at its path, and so has a path that changed meanwhile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "../launch/uapi.h"
#include "../tripwire/tripwire.h"
#include "act.h"

static bool is_same_file(int a, int b)
{
	struct stat one, other;

	return fstat(a, &one) == 0 && fstat(b, &other) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/*
 * A tripwire shows the file of that path, so it is the same one. Only for what
 * is written: what is read or moved away through here would leave its tripwire.
 */
static bool is_shown_file(struct supervisor *sup, int host, int inside,
			  const char *path)
{
	struct stat one, other;
	char shown[PATH_BYTES_MAX];

	return fstat(host, &one) == 0 && fstat(inside, &other) == 0 &&
	       one.st_ino == other.st_ino &&
	       tripwire_host_path(sup, inside, shown) == 0 &&
	       strcmp(shown, path) == 0;
}

/* Whether a call may reach through a tripwire: it only writes at `at`. */
static bool only_writes(const struct act *act)
{
	const struct file_call *file = &act->file;

	if (file->operation == OPERATION_RENAME)
		return !(file->flags & RENAME_EXCHANGE);
	return file->operation != OPERATION_OPEN ||
	       (file->flags & O_ACCMODE) == O_WRONLY ||
	       opens_cover(act->call->sup, ACCESS_READ, act->path);
}

/* NULL: no tripwire is looked through. */
static bool is_same_place(struct supervisor *sup, int host, int inside,
			  const char *path)
{
	return is_same_file(host, inside) ||
	       (sup && is_shown_file(sup, host, inside, path));
}

/* The folder of `path` on the host, when it is the one of the place. */
static int open_host_folder(struct supervisor *sup, const struct place *place,
			    const char *path)
{
	char folder[PATH_BYTES_MAX];
	const char *slash = strrchr(path, '/');
	size_t length = slash == path ? 1 : (size_t)(slash - path);
	AUTO_CLOSE int fd = -1;

	memcpy(folder, path, length);
	folder[length] = '\0';
	fd = open_plain(AT_FDCWD, folder, O_PATH | O_DIRECTORY);
	if (fd < 0 || place->parent < 0 ||
	    !is_same_place(sup, fd, place->parent, folder))
		return -EROFS;
	return TAKE(fd);
}

struct host_place {
	int parent, file;
};

static int open_host_place(struct supervisor *sup, const struct place *place,
			   const char *path, struct host_place *ret_host)
{
	AUTO_CLOSE int parent = open_host_folder(sup, place, path);
	AUTO_CLOSE int file = -1;

	if (parent < 0)
		return parent;
	if (place->file >= 0) {
		file = openat(parent, place->name,
			      O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (file < 0 || !is_same_place(sup, file, place->file, path))
			return -EROFS;
	}
	*ret_host = (struct host_place){ TAKE(parent), TAKE(file) };
	return 0;
}

static void use(struct place *place, const struct host_place *host)
{
	close_quietly(place->parent);
	place->parent = host->parent;
	if (host->file >= 0) {
		close_quietly(place->file);
		place->file = host->file;
	}
}

/* What the host itself would refuse is no question for a person */

static bool may_change_folder(const struct host_place *host)
{
	return faccessat(host->parent, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

static bool may_write(const struct host_place *host, const char *name)
{
	return faccessat(host->parent, name, W_OK,
			 AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_owner(const struct host_place *host)
{
	struct stat status;

	return fstat(host->file, &status) == 0 && status.st_uid == geteuid();
}

static bool exists(const struct host_place *host, const char *name)
{
	struct stat status;

	return fstatat(host->parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* 0, or what the host would say; -EROFS: it is read-only there as well. */
static int check_rights(const struct act *act, const struct host_place *at,
			const struct host_place *from)
{
	const char *name = act->places.at.name;

	switch (act->file.operation) {
	case OPERATION_OPEN:
		if (act->file.flags & O_TMPFILE & ~O_DIRECTORY)
			return may_write(at, name) ? 0 : -EROFS;
		if (exists(at, name))
			return may_write(at, name) ? 0 : -EROFS;
		return may_change_folder(at) ? 0 : -EROFS;
	case OPERATION_REMOVE:
		if (may_change_folder(at))
			return exists(at, name) ? 0 : -ENOENT;
		return -EROFS;
	case OPERATION_RENAME:
		if (may_change_folder(at) && may_change_folder(from))
			return exists(from, act->places.from.name) ? 0
								   : -ENOENT;
		return -EROFS;
	case OPERATION_MKDIR:
	case OPERATION_MKNOD:
	case OPERATION_SYMLINK:
	case OPERATION_LINK:
		return may_change_folder(at) ? 0 : -EROFS;
	case OPERATION_TRUNCATE:
		return may_write(at, name) ? 0 : -EROFS;
	case OPERATION_TIMES:
		if (!act->file.sets_times && may_write(at, name))
			return 0;
		return is_owner(at) ? 0 : -EROFS;
	case OPERATION_MODE:
	case OPERATION_OWNER:
	case OPERATION_SET_ATTRIBUTE:
	case OPERATION_REMOVE_ATTRIBUTE:
		return is_owner(at) ? 0 : -EROFS;
	}
	return -EROFS;
}

/* Whether the sandbox's own view of where the place is can be written to. */
static bool is_open_in_own_view(struct supervisor *sup,
				const struct place *place, const char *path)
{
	char whole[PATH_BYTES_MAX];
	size_t length = strlen(path);
	AUTO_CLOSE int own = -1;
	struct statvfs view;

	/* A file that is there may be a mount itself. */
	if (place->file < 0)
		length = (size_t)(strrchr(path, '/') - path);
	memcpy(whole, path, length);
	whole[length] = '\0';
	own = open_plain(sup->root, length > 1 ? whole + 1 : ".",
			 O_PATH | O_NOFOLLOW);
	return own >= 0 && fstatvfs(own, &view) == 0 &&
	       !(view.f_flag & ST_RDONLY);
}

static bool is_on_foreign_mount(struct supervisor *sup,
				const struct place *place)
{
	return !is_on_own_mount(sup,
				place->file >= 0 ? place->file : place->parent);
}

static bool is_closed(struct supervisor *sup, const struct place *place,
		      const char *path)
{
	return is_on_foreign_mount(sup, place) &&
	       !is_open_in_own_view(sup, place, path);
}

/* Devices, FIFOs and sockets are written to on read-only mounts, too. */
static bool opens_special(const struct act *act)
{
	const struct place *at = &act->places.at;
	struct stat status;
	int err;

	if (act->file.operation != OPERATION_OPEN)
		return false;
	err = at->file >= 0 ? fstat(at->file, &status)
			    : fstatat(at->parent, at->name, &status,
				      AT_SYMLINK_NOFOLLOW);
	return !err && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) &&
	       !S_ISLNK(status.st_mode);
}

bool act_is_closed(const struct act *act)
{
	struct supervisor *sup = act->call->sup;

	if (!sup->nested || opens_special(act))
		return false;
	return is_closed(sup, &act->places.at, act->path) ||
	       (operates_on_two(act->file.operation) && !act->from_apart &&
		is_closed(sup, &act->places.from, act->from_path));
}

/*
 * It can be written to in the sandbox's own view, so what is read-only is a
 * mount of a nested sandbox, which is not ours to open.
 */
static bool is_closed_by_another(const struct act *act)
{
	struct supervisor *sup = act->call->sup;
	const struct place *at = &act->places.at;

	return sup->nested && is_on_foreign_mount(sup, at) &&
	       is_open_in_own_view(sup, at, act->path);
}

static bool is_open(const struct act *act)
{
	struct supervisor *sup = act->call->sup;

	if (act->allowed.write || act->allowed.protected)
		return true;
	if (act->judgement.verdict == VERDICT_GIT)
		return true; /* judged and covered by now */
	return opens_cover(sup, ACCESS_WRITE, act->path) &&
	       (act->file.operation != OPERATION_RENAME ||
		opens_cover(sup, ACCESS_WRITE, act->from_path));
}

int act_use_host(struct act *act)
{
	bool sourced = operates_on_two(act->file.operation);
	struct host_place at = { -1, -1 }, from = { -1, -1 };
	int err;

	if (act->apart || (sourced && act->from_apart))
		return -EROFS;
	if (is_closed_by_another(act))
		return -EROFS;
	err = open_host_place(only_writes(act) ? act->call->sup : NULL,
			      &act->places.at, act->path, &at);
	if (!err && sourced)
		err = open_host_place(NULL, &act->places.from, act->from_path,
				      &from);
	if (!err)
		err = check_rights(act, &at, &from);
	if (!err && !is_open(act))
		err = NEED_WRITE;
	if (err) {
		close_quietly(at.parent);
		close_quietly(at.file);
		close_quietly(from.parent);
		close_quietly(from.file);
		return err;
	}
	use(&act->places.at, &at);
	if (sourced)
		use(&act->places.from, &from);
	return 0;
}
