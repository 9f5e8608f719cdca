/* Who asks, see subject.h. */
#include "subject.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum { STATUS_BYTES_MAX = 4096, PROC_PATH_MAX = 48 };

/* Reads what there is of /proc/PID/NAME; zero-terminated; "" on failure. */
static size_t read_proc(pid_t pid, const char *name, char *to, size_t size)
{
	char path[PROC_PATH_MAX];
	AUTO_CLOSE int fd = -1;
	size_t length = 0;
	ssize_t got;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && length < size - 1) {
		got = RETRY(read(fd, to + length, size - 1 - length));
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	to[length] = '\0';
	return length;
}

static void read_link(pid_t pid, const char *name, char *to, size_t size)
{
	char path[PROC_PATH_MAX];
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	length = readlink(path, to, size - 1);
	to[length < 0 ? 0 : length] = '\0';
}

/* A number of /proc/PID/status: proc_pid_status(5); 0 when it is gone. */
static pid_t status_number(const char *status, const char *field)
{
	const char *found = strstr(status, field);

	return found ? (pid_t)strtol(found + strlen(field), NULL, 10) : 0;
}

static void read_arguments(struct subject *subject)
{
	char *bytes = subject->arguments;
	size_t length, count = 0;

	length = read_proc(subject->pid, "cmdline", bytes,
			   sizeof(subject->arguments));
	/* The last one may have been cut, or overwritten by its program. */
	if (length && bytes[length - 1] != '\0')
		length++;
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == '\0' && ++count == SUBJECT_ARGUMENTS_MAX)
			length = i + 1;
	subject->arguments_length = length;
}

static void read_chain(struct subject *subject, pid_t init)
{
	char status[STATUS_BYTES_MAX], *name;
	pid_t pid = subject->pid;
	size_t length;

	while (pid > 0 && subject->chain_length < SUBJECT_CHAIN_MAX) {
		name = subject->chain[subject->chain_length].name;
		length = read_proc(pid, "comm", name, TASK_NAME_BYTES_MAX);
		if (length == 0)
			return;
		if (name[length - 1] == '\n')
			name[length - 1] = '\0';
		subject->chain[subject->chain_length++].pid = pid;
		if (pid == init)
			return;
		(void)read_proc(pid, "status", status, sizeof(status));
		pid = status_number(status, "\nPPid:\t");
	}
}

void subject_read(pid_t thread, pid_t init, struct subject *ret_subject)
{
	struct subject *subject = ret_subject;
	char status[STATUS_BYTES_MAX];

	memset(subject, 0, sizeof(*subject));
	(void)read_proc(thread, "status", status, sizeof(status));
	subject->pid = status_number(status, "\nTgid:\t");
	if (subject->pid <= 0)
		subject->pid = thread; /* gone already */
	read_link(thread, "exe", subject->executable,
		  sizeof(subject->executable));
	read_link(thread, "cwd", subject->directory,
		  sizeof(subject->directory));
	read_arguments(subject);
	read_chain(subject, init);
}

void subject_write(struct json_writer *w, const struct subject *subject)
{
	const char *argument = subject->arguments;
	const char *end = argument + subject->arguments_length;

	json_key(w, "subject");
	json_open_object(w);
	json_member_integer(w, "pid", subject->pid);
	json_member_string(w, "executable", subject->executable);
	json_key(w, "arguments");
	json_open_array(w);
	for (; argument < end; argument += strlen(argument) + 1)
		json_string(w, argument);
	json_close_array(w);
	json_member_string(w, "directory", subject->directory);
	json_key(w, "chain");
	json_open_array(w);
	for (size_t i = 0; i < subject->chain_length; i++) {
		json_open_object(w);
		json_member_integer(w, "pid", subject->chain[i].pid);
		json_member_string(w, "name", subject->chain[i].name);
		json_close_object(w);
	}
	json_close_array(w);
	json_close_object(w);
}

const char *subject_name(const struct subject *subject)
{
	const char *slash = strrchr(subject->executable, '/');

	if (slash && slash[1])
		return slash + 1;
	return subject->chain_length ? subject->chain[0].name : "a program";
}
