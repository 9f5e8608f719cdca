/*
 * The mounts of a mount namespace as /proc/PID/mountinfo lists them:
 * proc_pid_mountinfo(5).
 */
#pragma once

#include "../../common/cordon.h"

/* Strings belong to the table. */
struct mount_entry {
	unsigned id;
	unsigned major, minor; /* of its file system */
	const char *root;      /* what of the file system is mounted */
	const char *point;     /* where, from the reader's root */
};

/* Initialise with {0}; mount_table_free(). */
struct mount_table {
	char *text;
	struct mount_entry *mounts; /* in the order of mounting */
	size_t count;
};

/* Takes the text over, also when it fails. -EBADMSG, -ENOMEM. */
MUST_CHECK int mount_table_parse(char *text, struct mount_table *ret_table);
/* From a descriptor of a mountinfo file, which is read from its beginning. */
MUST_CHECK int mount_table_read(int fd, struct mount_table *ret_table);
void mount_table_free(struct mount_table *table);

/* NULL: none has that id. */
const struct mount_entry *mount_table_find(const struct mount_table *table,
					   unsigned id);

/* What of `path` follows `base`: "" or "/…"; NULL: it is not below. */
const char *rest_below(const char *path, const char *base);
