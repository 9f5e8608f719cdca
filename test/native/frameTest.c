/* frame.c over a socket pair: pieces, limits, a peer that does not read. */
#include "common/frame.h"
#include <fcntl.h>
#include <sys/socket.h>

#include "check.h"
#include "common/limits.h"

struct pair {
	struct frame_channel channel;
	int peer;
};

static void open_pair(struct pair *pair, size_t limit)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	(void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
	frame_open(&pair->channel, ends[0], limit);
	pair->peer = ends[1];
}

static void close_pair(struct pair *pair)
{
	frame_close(&pair->channel);
	close_quietly(pair->peer);
}

static void put(const struct pair *pair, const void *bytes, size_t length)
{
	if (write(pair->peer, bytes, length) != (ssize_t)length)
		exit(1);
}

static void reads_pieces(void)
{
	static const char bytes[] = "\2\0\0\0{}\4\0\0\0[12]";
	struct pair pair;
	char *text;
	size_t length;

	open_pair(&pair, FRAME_MAX);
	for (size_t i = 0; i < 5; i++) {
		CHECK(frame_read(&pair.channel, &text, &length) == 0);
		put(&pair, bytes + i, 1);
	}
	CHECK(frame_read(&pair.channel, &text, &length) == 0);
	put(&pair, bytes + 5, sizeof(bytes) - 1 - 5);
	CHECK(frame_read(&pair.channel, &text, &length) == 1);
	CHECK(length == 2 && memcmp(text, "{}", 2) == 0);
	CHECK(frame_read(&pair.channel, &text, &length) == 1);
	CHECK(length == 4 && memcmp(text, "[12]", 4) == 0);
	CHECK(frame_read(&pair.channel, &text, &length) == 0);
	close_quietly(TAKE(pair.peer));
	CHECK(frame_read(&pair.channel, &text, &length) == -EPIPE);
	close_pair(&pair);
}

static void refuses_long(void)
{
	struct pair pair;
	char *text;
	size_t length;

	open_pair(&pair, 16);
	put(&pair, "\x11\0\0\0", 4); /* 17, of which nothing has come yet */
	CHECK(frame_read(&pair.channel, &text, &length) == -E2BIG);
	close_pair(&pair);
	open_pair(&pair, FRAME_PLAN_MAX);
	put(&pair, "\xff\xff\xff\xff", 4);
	CHECK(frame_read(&pair.channel, &text, &length) == -E2BIG);
	close_pair(&pair);
}

static void hands_out_empty(void)
{
	struct pair pair;
	char *text;
	size_t length;

	open_pair(&pair, FRAME_MAX);
	put(&pair, "\0\0\0\0\0\0\0\0", 8);
	CHECK(frame_read(&pair.channel, &text, &length) == 1 && length == 0);
	CHECK(frame_read(&pair.channel, &text, &length) == 1 && length == 0);
	CHECK(frame_read(&pair.channel, &text, &length) == 0);
	close_pair(&pair);
}

static void there_and_back(void)
{
	AUTO_WRITER struct json_writer w = { 0 };
	struct frame_channel other;
	struct pair pair;
	size_t length = 0;
	char *text = NULL;
	int got;

	open_pair(&pair, FRAME_MAX);
	frame_open(&other, pair.peer, FRAME_MAX);
	json_open_array(&w);
	for (int i = 0; i < 100000; i++) /* more than a socket holds */
		json_integer(&w, i);
	json_close_array(&w);
	CHECK(frame_send(&pair.channel, &w) == 0);
	CHECK(frame_pending(&pair.channel));
	while ((got = frame_read(&other, &text, &length)) == 0)
		CHECK(frame_flush(&pair.channel) == 0);
	CHECK(got == 1 && length == w.length &&
	      memcmp(text, w.text, length) == 0);
	CHECK(!frame_pending(&pair.channel));
	frame_close(&other);
	pair.peer = -1;
	close_pair(&pair);
}

static void bounds_queue(void)
{
	AUTO_WRITER struct json_writer w = { 0 };
	struct pair pair;
	int err = 0, sent = 0;

	open_pair(&pair, FRAME_MAX);
	json_open_array(&w);
	while (w.length < FRAME_MAX / 2)
		json_integer(&w, 1);
	json_close_array(&w);
	while (err == 0 && sent++ < 64)
		err = frame_send(&pair.channel, &w);
	CHECK(err == -ENOBUFS);
	close_pair(&pair);
}

static void tells_gone_peer(void)
{
	AUTO_WRITER struct json_writer w = { 0 };
	struct pair pair;

	open_pair(&pair, FRAME_MAX);
	close_quietly(TAKE(pair.peer));
	json_null(&w);
	CHECK(frame_send(&pair.channel, &w) == -EPIPE);
	frame_close(&pair.channel);
	CHECK(frame_send(&pair.channel, &w) == -EPIPE);
	frame_close(&pair.channel);
}

static void waits_no_longer(void)
{
	struct pair pair;
	char *text;
	size_t length;

	open_pair(&pair, FRAME_MAX);
	CHECK(frame_read_wait(&pair.channel, 10, &text, &length) == -ETIMEDOUT);
	put(&pair, "\2\0\0\0{}", 6);
	CHECK(frame_read_wait(&pair.channel, 10, &text, &length) == 1);
	close_pair(&pair);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "frames arrive whole, however they are cut", reads_pieces },
		{ "a frame over the limit is refused by its length",
		  refuses_long },
		{ "an empty frame is a frame", hands_out_empty },
		{ "what a socket cannot hold is sent bit by bit",
		  there_and_back },
		{ "a peer that does not read is told apart", bounds_queue },
		{ "a peer that is gone is told apart", tells_gone_peer },
		{ "waiting for a frame has an end", waits_no_longer },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
