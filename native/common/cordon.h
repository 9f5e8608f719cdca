/*
 * What every file of the launcher uses: the error convention, clean-up
 * attributes, and die(), the one way for set-up to fail.
 *
 * Fallible functions are MUST_CHECK, return 0 (or something positive) or
 * -errno, name their outputs ret_x and leave them alone on failure.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define CORDON_VERSION "0.1.0"

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
/*
 * For large buffers on a path that must be quick: all other variables are
 * zeroed where they are declared (-ftrivial-auto-var-init).
 */
#define UNINITIALIZED __attribute__((uninitialized))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Always initialised where declared: AUTO_CLOSE with -1 or a descriptor. */
#define AUTO_CLOSE __attribute__((cleanup(close_automatic)))
#define AUTO_FREE __attribute__((cleanup(free_automatic)))

/* Hands a descriptor or a pointer over: its old owner forgets it. */
#define TAKE(owned)                                                    \
	__extension__({                                                \
		__typeof__(owned) taken_ = (owned);                    \
		(owned) = _Generic((owned), int : -1, default : NULL); \
		taken_;                                                \
	})

/* Runs a system call again when a signal interrupted it. */
#define RETRY(call)                                      \
	__extension__({                                  \
		__typeof__(call) result_;                \
		do                                       \
			result_ = (call);                \
		while (result_ == -1 && errno == EINTR); \
		result_;                                 \
	})

/* Exit codes of the launcher's own, see PROTOCOL.md. */
enum { EXIT_SET_UP = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

/* Closes when open and keeps errno, for use on the way out of an error. */
static inline void close_quietly(int fd)
{
	int saved = errno;

	if (fd >= 0)
		(void)close(fd);
	errno = saved;
}

static inline void close_automatic(const int *fd)
{
	close_quietly(*fd);
}

static inline void free_automatic(void *pointer)
{
	free(*(void **)pointer);
}

/*
 * Where die() sends its error frame, besides one line on standard error:
 * in the parent the broker's socket, in the child the control socket.
 */
void die_reports_to(int fd);

/*
 * Ends the launcher because the boundary cannot be set up; exit code 125.
 * `err` is an errno or 0; its text follows the message. `stage` is a short
 * word for the error frame ("mounts", "seccomp", …).
 */
_Noreturn void die(const char *stage, int err, const char *format, ...)
	PRINTF_LIKE(3, 4);

/* The same, with words of the caller's own for that err. */
_Noreturn void die_because(const char *stage, int err, const char *reason,
			   const char *format, ...) PRINTF_LIKE(4, 5);

/* "ENOENT"; "E?" for what has no name. */
const char *errno_name(int err);

/* Writes all bytes of a short text, whatever happens; for standard error. */
void write_all(int fd, const char *text, size_t length);
