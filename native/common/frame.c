/*
 * Frames on a stream socket, see frame.h. Buffers grow to the limit and no
 * further; a peer that sends a longer frame or does not read is broken.
 */
#include "frame.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "limits.h"

enum { HEADER_BYTES = 4, READ_BYTES = 16 << 10 };

void frame_open(struct frame_channel *channel, int fd, size_t limit)
{
	int flags = fcntl(fd, F_GETFL);

	*channel = (struct frame_channel){ .fd = fd, .limit = limit };
	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void frame_close(struct frame_channel *channel)
{
	close_quietly(TAKE(channel->fd));
	free(channel->in);
	free(channel->out);
	*channel = (struct frame_channel){ .fd = -1 };
}

static size_t frame_length(const char *header)
{
	const unsigned char *bytes = (const unsigned char *)header;

	return (size_t)bytes[0] | (size_t)bytes[1] << 8 |
	       (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

static int reserve(char **buffer, size_t *capacity, size_t wanted)
{
	size_t grown = *capacity ? *capacity : READ_BYTES;
	char *moved;

	if (wanted <= *capacity)
		return 0;
	while (grown < wanted)
		grown *= 2;
	moved = realloc(*buffer, grown);
	if (!moved)
		return -ENOMEM;
	*buffer = moved;
	*capacity = grown;
	return 0;
}

/* Forgets the frame that was handed out, moving what follows it down. */
static void drop_taken(struct frame_channel *channel)
{
	channel->in_length -= channel->in_taken;
	if (channel->in_taken && channel->in_length)
		memmove(channel->in, channel->in + channel->in_taken,
			channel->in_length);
	channel->in_taken = 0;
}

/* Bytes of the frame at the front with its header, as far as that is known. */
static size_t front_bytes(const struct frame_channel *channel)
{
	if (channel->in_length < HEADER_BYTES)
		return HEADER_BYTES;
	return HEADER_BYTES + frame_length(channel->in);
}

int frame_read(struct frame_channel *channel, char **ret_text,
	       size_t *ret_length)
{
	size_t wanted;
	ssize_t got;
	int err;

	drop_taken(channel);
	while (wanted = front_bytes(channel),
	       channel->in_length < HEADER_BYTES ||
		       channel->in_length < wanted) {
		if (wanted - HEADER_BYTES > channel->limit)
			return -E2BIG;
		err = reserve(&channel->in, &channel->in_capacity,
			      wanted < READ_BYTES ? READ_BYTES : wanted);
		if (err)
			return err;
		got = RETRY(recv(channel->fd, channel->in + channel->in_length,
				 channel->in_capacity - channel->in_length,
				 MSG_DONTWAIT));
		if (got < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (got == 0)
			return -EPIPE;
		channel->in_length += (size_t)got;
	}
	if (wanted - HEADER_BYTES > channel->limit)
		return -E2BIG;
	channel->in_taken = wanted;
	*ret_text = channel->in + HEADER_BYTES;
	*ret_length = wanted - HEADER_BYTES;
	return 1;
}

int frame_send(struct frame_channel *channel, const struct json_writer *w)
{
	size_t unsent = channel->out_length - channel->out_sent;
	unsigned char header[HEADER_BYTES];
	int err = json_finish(w);

	if (err)
		return err;
	if (w->length > FRAME_MAX)
		return -E2BIG;
	if (channel->fd < 0)
		return -EPIPE;
	if (unsent + HEADER_BYTES + w->length > FRAME_QUEUE_MAX)
		return -ENOBUFS;
	if (channel->out_sent) {
		memmove(channel->out, channel->out + channel->out_sent, unsent);
		channel->out_length = unsent;
		channel->out_sent = 0;
	}
	err = reserve(&channel->out, &channel->out_capacity,
		      unsent + HEADER_BYTES + w->length);
	if (err)
		return err;
	for (int i = 0; i < HEADER_BYTES; i++)
		header[i] = (unsigned char)(w->length >> 8 * i);
	memcpy(channel->out + unsent, header, HEADER_BYTES);
	memcpy(channel->out + unsent + HEADER_BYTES, w->text, w->length);
	channel->out_length = unsent + HEADER_BYTES + w->length;
	return frame_flush(channel);
}

int frame_flush(struct frame_channel *channel)
{
	ssize_t sent;

	while (frame_pending(channel)) {
		sent = RETRY(send(channel->fd, channel->out + channel->out_sent,
				  channel->out_length - channel->out_sent,
				  MSG_DONTWAIT | MSG_NOSIGNAL));
		if (sent < 0)
			return errno == EAGAIN ? 0 : -errno;
		channel->out_sent += (size_t)sent;
	}
	channel->out_length = 0;
	channel->out_sent = 0;
	return 0;
}

bool frame_pending(const struct frame_channel *channel)
{
	return channel->out_sent < channel->out_length;
}

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 0 when the socket is ready or closed, -ETIMEDOUT after `until`. */
static int wait_ready(int fd, short events, int64_t until)
{
	struct pollfd ready = { .fd = fd, .events = events };
	int64_t left = until - now_ms();
	int count;

	if (left < 0)
		return -ETIMEDOUT;
	count = poll(&ready, 1, (int)left);
	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	return count ? 0 : -ETIMEDOUT;
}

int frame_read_wait(struct frame_channel *channel, int timeout_ms,
		    char **ret_text, size_t *ret_length)
{
	int64_t until = now_ms() + timeout_ms;
	int result, err;

	while ((result = frame_read(channel, ret_text, ret_length)) == 0) {
		err = wait_ready(channel->fd, POLLIN, until);
		if (err)
			return err;
	}
	return result;
}

int frame_flush_wait(struct frame_channel *channel, int timeout_ms)
{
	int64_t until = now_ms() + timeout_ms;
	int err;

	while ((err = frame_flush(channel)) == 0 && frame_pending(channel)) {
		err = wait_ready(channel->fd, POLLOUT, until);
		if (err)
			return err;
	}
	return err;
}
