/*
 * Who asks: a task of the sandbox as /proc on the host shows it. All of it is
 * what the program says about itself; for people and the record, never for a
 * decision.
 */
#pragma once

#include <sys/types.h>

#include "../../common/json.h"
#include "../../common/limits.h"

enum { TASK_NAME_BYTES_MAX = 64 };

struct subject {
	pid_t pid;
	char executable[PATH_BYTES_MAX];
	char directory[PATH_BYTES_MAX];
	char arguments[SUBJECT_ARGUMENT_BYTES_MAX]; /* zero-terminated each */
	size_t arguments_length;
	struct {
		pid_t pid;
		char name[TASK_NAME_BYTES_MAX];
	} chain[SUBJECT_CHAIN_MAX]; /* from itself outwards */
	size_t chain_length;
};

/*
 * What can still be found out about a thread; `init` ends the chain. Reads
 * files of /proc that may wait for the task's memory: not on the loop.
 */
void subject_read(pid_t thread, pid_t init, struct subject *ret_subject);

/* The member "subject" of a frame. */
void subject_write(struct json_writer *w, const struct subject *subject);

/* The last part of the executable's path, for a line to a person. */
const char *subject_name(const struct subject *subject);
