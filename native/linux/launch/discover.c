/*
 * Finding the broker (PROTOCOL.md, "Finding the broker"). The only file that
 * looks at the environment; nothing found here is trusted before the owner
 * of the directory and the user of the peer were checked.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../../common/limits.h"
#include "../supervisor/supervisor.h"
#include "uapi.h"

struct candidate {
	char socket[NAME_MAX + 1]; /* in the runtime directory */
	size_t root; /* length of the root that contains the directory */
	struct timespec written;
};

/* A broker is a process of ours, whoever passed the socket. */
static int check_peer(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		return -errno;
	return peer.uid == getuid() ? 0 : -EPERM;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = -1;
	int err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || RETRY(connect(fd, (const struct sockaddr *)&address,
				    sizeof(address))))
		return -errno;
	err = check_peer(fd);
	return err ? err : TAKE(fd);
}

/* CORDON_BROKER=fd:N: a connected unix stream socket, no other descriptor. */
static int take_inherited(const char *number)
{
	int type = 0, domain = 0;
	socklen_t length = sizeof(int);
	char *end;
	long fd = strtol(number, &end, 10);

	if (*number < '0' || *number > '9' || *end || fd < 3 || fd > INT32_MAX)
		return -EINVAL;
	if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &length) ||
	    getsockopt((int)fd, SOL_SOCKET, SO_DOMAIN, &domain, &length))
		return -errno;
	if (type != SOCK_STREAM || domain != AF_UNIX)
		return -EPROTOTYPE;
	return check_peer((int)fd) ? -EPERM : (int)fd;
}

/* A directory that is our own and closed to others. */
static int open_runtime(const char *path)
{
	AUTO_CLOSE int fd =
		open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (status.st_uid != getuid() || (status.st_mode & 077))
		return -EPERM;
	return TAKE(fd);
}

static int read_registration(int runtime, const char *name, char *text,
			     size_t *ret_length, struct timespec *ret_written)
{
	AUTO_CLOSE int fd = openat(
		runtime, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	ssize_t length;

	if (fd < 0 || fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size > REGISTRATION_MAX)
		return -EBADMSG;
	length = RETRY(read(fd, text, REGISTRATION_MAX));
	if (length < 0)
		return -errno;
	*ret_length = (size_t)length;
	*ret_written = status.st_mtim;
	return 0;
}

/* 0 and a candidate when the registration contains the directory. */
static int match_registration(const struct json *value, const char *directory,
			      struct candidate *candidate)
{
	static const char *const keys[] = { "protocol", "socket", "roots" };
	const struct json *roots = json_member(value, "roots");
	const char *name = json_as_string(json_member(value, "socket"));
	int64_t protocol;
	bool found = false;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)) ||
	    json_as_integer(json_member(value, "protocol"), 1, 1, &protocol) ||
	    !name || !*name || strlen(name) > NAME_MAX || strchr(name, '/') ||
	    roots->type != JSON_ARRAY)
		return -EBADMSG;
	for (const struct json *r = roots->first; r; r = r->next) {
		const char *root = json_as_string(r);

		if (!root || !is_plain_path(root) ||
		    !is_below(directory, root) ||
		    (found && strlen(root) <= candidate->root))
			continue;
		candidate->root = strlen(root);
		found = true;
	}
	if (!found)
		return -ENOENT;
	strcpy(candidate->socket, name);
	return 0;
}

static int read_candidate(int runtime, const char *name, char *text,
			  const char *directory, struct candidate *candidate)
{
	AUTO_ARENA struct json_arena arena = { 0 };
	const struct json *value;
	size_t length = 0;
	int err = read_registration(runtime, name, text, &length,
				    &candidate->written);

	if (!err)
		err = json_parse(text, length, &arena, &value);
	if (!err)
		err = match_registration(value, directory, candidate);
	return err;
}

/* Longest root first, then the one registered last. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->root != b->root)
		return a->root < b->root ? 1 : -1;
	if (a->written.tv_sec != b->written.tv_sec)
		return a->written.tv_sec < b->written.tv_sec ? 1 : -1;
	if (a->written.tv_nsec != b->written.tv_nsec)
		return a->written.tv_nsec < b->written.tv_nsec ? 1 : -1;
	return 0;
}

/* Registrations that cannot be read or do not match are other people's. */
static size_t list_candidates(int runtime, const char *directory,
			      struct candidate *found)
{
	AUTO_FREE char *text = malloc(REGISTRATION_MAX);
	int copy = fcntl(runtime, F_DUPFD_CLOEXEC, 0);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	size_t count = 0, length;

	if (!entries || !text) {
		close_quietly(entries ? -1 : copy);
		return 0;
	}
	while (count < REGISTRATIONS_MAX && (entry = readdir(entries))) {
		length = strlen(entry->d_name);
		if (length <= 5 ||
		    strcmp(entry->d_name + length - 5, ".json") != 0)
			continue;
		if (read_candidate(runtime, entry->d_name, text, directory,
				   &found[count]) == 0)
			count++;
	}
	(void)closedir(entries);
	qsort(found, count, sizeof(*found), compare_candidates);
	return count;
}

static int search_runtime(const char *path, const char *directory)
{
	AUTO_FREE struct candidate *found = NULL;
	AUTO_CLOSE int runtime = open_runtime(path);
	char link[NAME_MAX + 64];
	size_t count;
	int fd = -ENOENT;

	if (runtime < 0)
		return runtime;
	found = calloc(REGISTRATIONS_MAX, sizeof(*found));
	if (!found)
		return -ENOMEM;
	count = list_candidates(runtime, directory, found);
	for (size_t i = 0; i < count && fd < 0; i++) {
		/* By descriptor: any length of path, the directory we saw. */
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d/%s",
			       runtime, found[i].socket);
		fd = connect_to(link); /* a window that is gone: the next */
	}
	return fd < 0 ? -ENOENT : fd;
}

/* From the passwd file itself: a static binary has no other name service. */
static bool find_home(char *home, size_t size)
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *entry;
	bool found = false;

	if (!file)
		return false;
	while (!found && (entry = fgetpwent(file))) {
		if (entry->pw_uid != getuid())
			continue;
		found = strlen(entry->pw_dir) < size;
		if (found)
			strcpy(home, entry->pw_dir);
	}
	(void)fclose(file);
	return found;
}

static bool is_own_directory(const char *path)
{
	struct stat status;

	return path && *path == '/' && stat(path, &status) == 0 &&
	       S_ISDIR(status.st_mode) && status.st_uid == getuid();
}

/* Every place in turn: a broker may have been started with other variables. */
static int search_all(const char *directory)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	const char *home_variable = getenv("HOME");
	char path[PATH_BYTES_MAX + 64], home[PATH_BYTES_MAX];
	int fd = -ENOENT;

	if (runtime && *runtime == '/' && strlen(runtime) < PATH_BYTES_MAX) {
		(void)snprintf(path, sizeof(path), "%s/cordon", runtime);
		fd = search_runtime(path, directory);
	}
	if (fd < 0) {
		(void)snprintf(path, sizeof(path), "/run/user/%u/cordon",
			       getuid());
		fd = search_runtime(path, directory);
	}
	if (fd < 0 && find_home(home, sizeof(home))) {
		(void)snprintf(path, sizeof(path), "%s/.local/state/cordon/run",
			       home);
		fd = search_runtime(path, directory);
	}
	if (fd < 0 && is_own_directory(home_variable) &&
	    strlen(home_variable) < PATH_BYTES_MAX) {
		(void)snprintf(path, sizeof(path), "%s/.local/state/cordon/run",
			       home_variable);
		fd = search_runtime(path, directory);
	}
	return fd < 0 ? -ENOENT : fd;
}

int discover_broker(const char *directory, int *ret_fd, const char **ret_what)
{
	const char *named = getenv("CORDON_BROKER");
	int fd = -ENOENT;

	if (named && strncmp(named, "fd:", 3) == 0) {
		fd = take_inherited(named + 3);
		if (fd < 0) {
			*ret_what = "CORDON_BROKER does not name a socket of "
				    "this user";
			return fd;
		}
		/* Once: when it is closed, the number may mean anything. */
		(void)unsetenv("CORDON_BROKER");
	} else if (named && *named == '/') {
		/* Whoever listened may be gone: another window may do. */
		fd = connect_to(named);
	}
	if (fd < 0)
		fd = search_all(directory);
	if (fd < 0) {
		*ret_what = "no broker";
		return fd;
	}
	*ret_fd = fd;
	return 0;
}
