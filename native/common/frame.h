/*
 * Frames on a stream socket: a u32, little endian, and that many bytes of
 * JSON. Reader and writer never wait; both are bounded.
 */
#pragma once

#include "json.h"

struct frame_channel {
	int fd; /* non-blocking stream socket, -1 when there is none */

	/* reader */
	size_t limit; /* largest frame taken now */
	char *in;
	size_t in_capacity, in_length;
	size_t in_taken; /* of in: the frame that was handed out last */

	/* writer */
	char *out;
	size_t out_capacity, out_length;
	size_t out_sent;
};

/* Takes over fd (makes it non-blocking). limit: FRAME_MAX or FRAME_PLAN_MAX. */
void frame_open(struct frame_channel *channel, int fd, size_t limit);
/* Closes and frees; harmless when repeated. */
void frame_close(struct frame_channel *channel);

/*
 * The next frame. 1: *ret_text[0..*ret_length) is one, may be overwritten and
 * lives until the next call. 0: nothing whole has arrived yet. -EPIPE: the
 * peer closed; -E2BIG: over the limit; -errno.
 * Call until it returns 0: the poller does not know about buffered frames.
 */
MUST_CHECK int frame_read(struct frame_channel *channel, char **ret_text,
			  size_t *ret_length);

/*
 * Queues a finished writer's text and sends what goes without waiting.
 * -ENOBUFS: the peer does not read; -EPIPE: it is gone.
 */
MUST_CHECK int frame_send(struct frame_channel *channel,
			  const struct json_writer *w);
/* Sends what is queued; 0 also when some of it remains (frame_pending()). */
MUST_CHECK int frame_flush(struct frame_channel *channel);
bool frame_pending(const struct frame_channel *channel);

/* The same two, waiting up to timeout_ms (-ETIMEDOUT). For set-up and end. */
MUST_CHECK int frame_read_wait(struct frame_channel *channel, int timeout_ms,
			       char **ret_text, size_t *ret_length);
MUST_CHECK int frame_flush_wait(struct frame_channel *channel, int timeout_ms);
