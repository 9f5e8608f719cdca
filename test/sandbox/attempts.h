/*
 * What the programs of attempts share.
 *
 * PROGRAM [nested] ATTEMPT [ARGUMENT...]: prints `done` when the attempt
 * succeeded, else the name of the errno that stopped it; exit status 0 either
 * way, 2 for wrong use. `nested` tries from a user and mount namespace made
 * inside. `PROGRAM -` reads attempts from standard input. The same program runs
 * on the host, to see that an attempt works where nothing stops it.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An attempt returns 0 when it succeeded, -1 with errno when it was stopped. */
struct attempt {
	const char *name;
	int arguments;
	int (*try)(char **arguments);
};

static int write_and_close(int fd)
{
	ssize_t n;
	int err;

	if (fd < 0)
		return -1;
	n = write(fd, "breach\n", 7);
	err = errno;
	close(fd);
	errno = err;
	return n == 7 ? 0 : -1;
}

static int close_only(int fd)
{
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static void write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

/* Root in a user namespace of our own, with all its capabilities. */
static void enter_nested(void)
{
	char map[64];
	unsigned int uid = getuid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		printf("unshare %s\n", strerrorname_np(errno));
		exit(0);
	}
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_map("/proc/self/setgroups", "deny");
	write_map("/proc/self/uid_map", map);
	write_map("/proc/self/gid_map", map);
}

static const char *attempt_one(const struct attempt *attempts, size_t count,
			       int argc, char **argv)
{
	size_t i;

	if (argc > 0 && strcmp(argv[0], "nested") == 0) {
		enter_nested();
		argc--;
		argv++;
	}
	for (i = 0; argc > 0 && i < count; i++) {
		const struct attempt *attempt = &attempts[i];

		if (strcmp(argv[0], attempt->name) != 0 ||
		    argc - 1 != attempt->arguments)
			continue;
		errno = 0;
		return attempt->try(argv + 1) >= 0 ? "done"
						   : strerrorname_np(errno);
	}
	return NULL;
}

/* One attempt a line, its words divided by tabs; each in its own process. */
static int attempt_lines(const struct attempt *attempts, size_t count)
{
	char line[16384];

	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *words[8];
		int n = 0;
		char *word;

		line[strcspn(line, "\n")] = '\0';
		for (word = strtok(line, "\t"); word != NULL && n < 8;
		     word = strtok(NULL, "\t"))
			words[n++] = word;
		fflush(stdout);
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			const char *result =
				attempt_one(attempts, count, n, words);

			puts(result == NULL ? "usage" : result);
			fflush(stdout);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) < 0 || status != 0)
			puts("killed");
	}
	return 0;
}

static int run_attempts(const char *program, const struct attempt *attempts,
			size_t count, int argc, char **argv)
{
	const char *result;

	if (argc == 2 && strcmp(argv[1], "-") == 0)
		return attempt_lines(attempts, count);
	result = attempt_one(attempts, count, argc - 1, argv + 1);
	if (result == NULL) {
		fprintf(stderr,
			"usage: %s - | [nested] ATTEMPT [ARGUMENT...]\n",
			program);
		return 2;
	}
	puts(result);
	return 0;
}
