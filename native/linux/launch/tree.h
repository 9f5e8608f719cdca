/*
 * Mount trees by descriptor: cloned, changed while they hang nowhere, then
 * attached. Like the system calls below them: -1 and errno on failure.
 */
#pragma once

/* A path none of whose parts is a symbolic link, O_PATH. */
int open_path(const char *path);

/* A detached copy of the tree at fd, with all mounts below it. */
int clone_tree(int fd);

/* With all mounts below it. */
int make_read_only(int tree);

/* A detached, empty tmpfs; mode as in "1777". */
int create_tmpfs(const char *mode);

int attach_tree(int tree, int place);
