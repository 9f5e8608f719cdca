/*
 * The smallest test harness: a table of sentences and functions per binary.
 * A failed check names its place and fails its test; the others still run.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_test {
	const char *sentence; /* what holds */
	void (*run)(void);
};

static bool check_failed;

#define CHECK(condition)                                            \
	do {                                                        \
		if (!(condition)) {                                 \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, \
			       #condition);                         \
			check_failed = true;                        \
		}                                                   \
	} while (0)

#define CHECK_STRING(is, wanted)                                              \
	do {                                                                  \
		const char *is_ = (is), *wanted_ = (wanted);                  \
		if (!is_ || strcmp(is_, wanted_) != 0) {                      \
			printf("# %s:%d: %s is \"%s\", not \"%s\"\n",         \
			       __FILE__, __LINE__, #is, is_ ? is_ : "(null)", \
			       wanted_);                                      \
			check_failed = true;                                  \
		}                                                             \
	} while (0)

/* Prints a line a test; the exit code of main(). */
static inline int check_run(const struct check_test *tests, size_t count)
{
	bool any_failed = count == 0;

	for (size_t i = 0; i < count; i++) {
		check_failed = false;
		tests[i].run();
		printf("%s - %s\n", check_failed ? "not ok" : "ok",
		       tests[i].sentence);
		any_failed = any_failed || check_failed;
	}
	return any_failed;
}

/* A file of test/fixtures as a string that may be overwritten. */
static inline char *check_read_file(const char *path, size_t *ret_length)
{
	FILE *file = fopen(path, "re");
	size_t capacity = 1 << 20;
	char *text = malloc(capacity);

	if (!file || !text) {
		printf("# cannot read %s\n", path);
		exit(1);
	}
	*ret_length = fread(text, 1, capacity - 1, file);
	text[*ret_length] = '\0';
	(void)fclose(file);
	return text;
}
