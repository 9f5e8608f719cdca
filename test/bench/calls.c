/*
 * calls LABEL CALL COUNT FOLDER: makes a call COUNT times on files in FOLDER
 * and prints "LABEL MICROSECONDS" for a thousand of them, so that a row in
 * milliseconds reads as microseconds a call. What has to be undone in between
 * is not timed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct call {
	const char *name;
	int (*make)(void);
	void (*undo)(void);
};

static int open_existing(void)
{
	return close(open("existing", O_WRONLY | O_CLOEXEC));
}

static int create(void)
{
	return close(open("new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static void remove_new(void)
{
	(void)!unlink("new");
}

static int make_folder(void)
{
	return mkdir("folder", 0755);
}

static void remove_folder(void)
{
	(void)!rmdir("folder");
}

static int rename_there(void)
{
	return rename("existing", "renamed");
}

static void rename_back(void)
{
	(void)!rename("renamed", "existing");
}

static int set_mode(void)
{
	return chmod("existing", 0644);
}

/* Nobody may write there: held, asked, refused. */
static int open_outside(void)
{
	return close(open("../outside", O_WRONLY | O_CLOEXEC)) == 0 ? 0 : 0;
}

static int open_to_read(void)
{
	return close(open("existing", O_RDONLY | O_CLOEXEC));
}

static const struct call calls[] = {
	{ "open-existing", open_existing, NULL },
	{ "create", create, remove_new },
	{ "mkdir", make_folder, remove_folder },
	{ "rename", rename_there, rename_back },
	{ "chmod", set_mode, NULL },
	{ "open-outside", open_outside, NULL },
	{ "open-to-read", open_to_read, NULL },
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int measure(const char *label, const struct call *call, int count)
{
	double total = 0, start;

	for (int i = 0; i < count; i++) {
		start = now_us();
		if (call->make() != 0) {
			perror(call->name);
			return 1;
		}
		total += now_us() - start;
		if (call->undo)
			call->undo();
	}
	printf("%s %.1f\n", label, total / count * 1000);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 5 || chdir(argv[4]) != 0)
		return 2;
	(void)!close(open("existing", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, argv[2]) == 0)
			return measure(argv[1], &calls[i], atoi(argv[3]));
	return 2;
}
