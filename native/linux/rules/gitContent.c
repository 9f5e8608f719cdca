/* Judging of contents, see gitContent.h. */
#include "gitContent.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "gitConfig.h"

#include "../../common/limits.h"

enum { LEASE_TRIES = 50 };

/* Reading and keeping */

static int read_whole(int fd, char *bytes, size_t size, size_t *ret_length)
{
	size_t length = 0;

	while (length < size) {
		ssize_t count = RETRY(pread(fd, bytes + length, size - length,
					    (off_t)length));

		if (count < 0)
			return -errno;
		if (count == 0)
			break;
		length += (size_t)count;
	}
	*ret_length = length;
	return 0;
}

/* Takes fd. One byte more than allowed tells a file that is too long. */
static int read_content(int fd, struct content *ret)
{
	AUTO_CLOSE int from = fd;
	AUTO_FREE char *bytes = NULL;
	struct stat status;
	size_t size, length = 0;
	int err;

	if (fstat(from, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	if (status.st_size > CONTENT_BYTES_MAX)
		return -EFBIG;
	size = (size_t)status.st_size + 1;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	err = read_whole(from, bytes, size, &length);
	if (err)
		return err;
	if (length == size)
		return -EFBIG; /* it grew meanwhile */
	bytes[length] = '\0';
	*ret = (struct content){ .length = length };
	ret->bytes = TAKE(bytes);
	ret->from = TAKE(from);
	return 0;
}

int content_read(int parent, const char *name, struct content *ret)
{
	/* O_NONBLOCK: a FIFO or a device must not hold the judge up. */
	int fd = RETRY(openat(parent, name,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				      O_CLOEXEC));

	return fd < 0 ? -errno : read_content(fd, ret);
}

int content_read_descriptor(int fd, struct content *ret)
{
	char path[32];
	struct stat status;

	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISLNK(status.st_mode) ? -ELOOP : -EINVAL;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = RETRY(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	return fd < 0 ? -errno : read_content(fd, ret);
}

void content_free(struct content *content)
{
	free(content->bytes);
	close_quietly(content->from);
	*content = (struct content)NO_CONTENT;
}

int content_seal(const struct content *content, int *ret_fd)
{
	AUTO_CLOSE int fd =
		memfd_create("judged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t written = 0;

	if (fd < 0)
		return -errno;
	while (written < content->length) {
		ssize_t count = RETRY(pwrite(fd, content->bytes + written,
					     content->length - written,
					     (off_t)written));

		if (count < 0)
			return -errno;
		written += (size_t)count;
	}
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		return -errno;
	*ret_fd = TAKE(fd);
	return 0;
}

/*
 * A read lease is only to be had while nobody has the file open for writing
 * (fcntl(2), "Leases"; a writable mapping counts). Somebody who opens it while
 * we have it would make the kernel send SIGIO, which ends a program: another
 * signal, which does nothing by itself, is sent in its stead.
 */
static int try_lease(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) || fcntl(fd, F_SETLEASE, F_RDLCK))
		return -errno;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

/*
 * A descriptor that was just given to a program is open here for a moment
 * longer, while the program has long closed its own.
 */
bool content_can_change(const struct content *content)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	struct stat status;
	int err = -EAGAIN;

	if (fstat(content->from, &status) || status.st_nlink != 1)
		return true;
	for (int i = 0; i < LEASE_TRIES && err == -EAGAIN; i++) {
		if (i > 0)
			(void)nanosleep(&moment, NULL);
		err = try_lease(content->from);
	}
	return err != 0;
}

/* Configuration */

/* What is there now; nothing when it is absent or cannot be read. */
static void read_present_config(int parent, const char *name,
				struct config *ret)
{
	struct content present = NO_CONTENT;

	if (content_read(parent, name, &present))
		return;
	if (config_parse(present.bytes, present.length, ret))
		*ret = (struct config){ 0 };
	content_free(&present);
}

bool config_content_is_harmless(const struct content *fresh, int parent,
				const char *name, const char *directory,
				struct excerpt *excerpt)
{
	const struct config_place place = { .directory = directory };
	struct config old = { 0 }, config = { 0 };
	bool is_harmless;

	if (config_parse(fresh->bytes, fresh->length, &config)) {
		excerpt_add(excerpt, fresh->bytes, fresh->length);
		return false;
	}
	read_present_config(parent, name, &old);
	is_harmless = config_adds_nothing(&old, &config, &place);
	if (!is_harmless)
		config_write_changes(&old, &config, excerpt);
	config_free(&old);
	config_free(&config);
	return is_harmless;
}

bool options_content_is_harmless(const struct content *options,
				 struct excerpt *excerpt)
{
	struct config config = { 0 };
	bool is_harmless =
		config_parse(options->bytes, options->length, &config) == 0;

	for (size_t i = 0; i < config.count; i++) {
		const char *name = config.entries[i].name;

		if (strcmp(name, "strategy") == 0 ||
		    strcmp(name, "gpg-sign") == 0)
			is_harmless = false;
	}
	config_free(&config);
	if (!is_harmless)
		excerpt_add(excerpt, options->bytes, options->length);
	return is_harmless;
}

/* Todo of a rebase: git-rebase(1), "INTERACTIVE MODE" */

static bool is_todo_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

static bool runs_command(const char *line, size_t length)
{
	while (length > 0 && is_todo_space(*line)) {
		line++;
		length--;
	}
	if (length >= 4 && memcmp(line, "exec", 4) == 0)
		return length == 4 || is_todo_space(line[4]);
	return length >= 1 && *line == 'x' &&
	       (length == 1 || is_todo_space(line[1]));
}

/* `merge -s NAME` does not exist there; other commands run nothing. */
bool todo_content_is_harmless(const struct content *todo,
			      struct excerpt *excerpt)
{
	const char *at = todo->bytes, *end = todo->bytes + todo->length;
	bool is_harmless = true;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((line_end ? line_end : end) - at);

		if (runs_command(at, length)) {
			is_harmless = false;
			excerpt_add(excerpt, at, length);
			excerpt_add_text(excerpt, "\n");
		}
		at += length + 1;
	}
	return is_harmless;
}
