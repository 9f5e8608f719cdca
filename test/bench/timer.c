/*
 * timer ROUNDS LABEL [NAME=VALUE] CMD... [--- LABEL CMD...]: runs the commands
 * in turn, ROUNDS times, and prints "LABEL MICROSECONDS" for each run but the
 * first round's. NAME=VALUE is in the environment of that command.
 * posix_spawn and wait4 only, so that what is measured is the command and not
 * the measuring program. Ends with 1 when a command fails.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 32

struct command {
	const char *label;
	char *assignment; /* or NULL */
	char **arguments;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int run_once(const struct command *command, double *ret_us)
{
	posix_spawn_file_actions_t actions;
	double start;
	pid_t child;
	int status, err;

	if (command->assignment != NULL)
		putenv(command->assignment);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	start = now_us();
	err = posix_spawnp(&child, command->arguments[0], &actions, NULL,
			   command->arguments, environ);
	if (err == 0)
		waitpid(child, &status, 0);
	*ret_us = now_us() - start;
	posix_spawn_file_actions_destroy(&actions);
	return err != 0 || status != 0 ? -1 : 0;
}

static int parse(char **argv, struct command *commands)
{
	int count = 0;

	while (*argv != NULL && count < MAX_COMMANDS) {
		struct command *command = &commands[count++];

		command->label = *argv++;
		command->assignment = NULL;
		if (*argv != NULL && strchr(*argv, '=') != NULL)
			command->assignment = *argv++;
		command->arguments = argv;
		while (*argv != NULL && strcmp(*argv, "---") != 0)
			argv++;
		if (*argv != NULL)
			*argv++ = NULL;
	}
	return count;
}

int main(int argc, char **argv)
{
	struct command commands[MAX_COMMANDS];
	int rounds, count;
	double us;

	if (argc < 4)
		return 2;
	rounds = atoi(argv[1]);
	count = parse(argv + 2, commands);
	for (int round = 0; round <= rounds; round++) {
		for (int i = 0; i < count; i++) {
			/* another order each round: neighbours matter */
			int at = (i + round) % count;

			if (run_once(&commands[at], &us) < 0) {
				fprintf(stderr, "timer: %s failed\n",
					commands[at].label);
				return 1;
			}
			if (round > 0)
				printf("%s %.1f\n", commands[at].label, us);
		}
	}
	return 0;
}
