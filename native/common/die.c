/*
 * The one way for set-up to fail: a line for the person, an error frame for
 * the peer, exit code 125. Nothing here returns to a half-made boundary.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "frame.h"
#include "limits.h"

enum { REPORT_WAIT_MS = 1000, LINE_MAX_BYTES = 2 * PATH_BYTES_MAX };

/* The log descriptor, the one piece of mutable global state. */
static int report_fd = -1;

void die_reports_to(int fd)
{
	report_fd = fd;
}

void write_all(int fd, const char *text, size_t length)
{
	ssize_t written;

	while (length) {
		written = RETRY(write(fd, text, length));
		if (written <= 0)
			return; /* nobody reads it: nothing to be done */
		text += written;
		length -= (size_t)written;
	}
}

const char *errno_name(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "E?";
}

static void send_error_frame(const char *stage, int err, const char *message)
{
	AUTO_WRITER struct json_writer w = { 0 };
	struct frame_channel channel;

	if (report_fd < 0)
		return;
	json_open_frame(&w, "error");
	json_member_string(&w, "code", "setUp");
	json_member_string(&w, "stage", stage);
	json_member_string(&w, "message", message);
	json_member_integer(&w, "errno", err);
	json_close_object(&w);
	frame_open(&channel, report_fd, FRAME_MAX);
	/* A peer that is gone has nothing to be told. */
	if (frame_send(&channel, &w) == 0)
		(void)!frame_flush_wait(&channel, REPORT_WAIT_MS);
	frame_close(&channel);
	report_fd = -1;
}

/* Paths may hold anything; a terminal must not act on it. */
static void print_message(const char *message)
{
	char line[LINE_MAX_BYTES];
	int length = snprintf(line, sizeof(line), "cordon: %s", message);

	if (length < 0)
		return;
	if ((size_t)length > sizeof(line) - 2)
		length = (int)sizeof(line) - 2;
	for (int i = 0; i < length; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	line[length] = '\n';
	write_all(STDERR_FILENO, line, (size_t)length + 1);
}

static _Noreturn void finish(const char *stage, int err, const char *reason,
			     char message[LINE_MAX_BYTES])
{
	size_t length = strlen(message);

	if (reason)
		(void)snprintf(message + length, LINE_MAX_BYTES - length,
			       ": %s", reason);
	print_message(message);
	send_error_frame(stage, err, message);
	exit(EXIT_SET_UP);
}

void die(const char *stage, int err, const char *format, ...)
{
	char message[LINE_MAX_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	finish(stage, err, err ? strerror(err) : NULL, message);
}

void die_because(const char *stage, int err, const char *reason,
		 const char *format, ...)
{
	char message[LINE_MAX_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	finish(stage, err, reason, message);
}
