/*
 * For tests of parts that belong to a supervisor: what main.c has, recorded
 * instead of done, and a broker's end of the channel.
 */
#pragma once

#include <sys/socket.h>

#include "check.h"
#include "linux/supervisor/broker.h"
#include "linux/supervisor/opening.h"
#include "linux/supervisor/opens.h"
#include "linux/supervisor/supervisor.h"

static struct {
	char lines[4096]; /* print_line(), each with a line feed */
	char stopped[64]; /* stop_run()'s reason */
} recorded;

void print_line(struct supervisor *sup, const char *text)
{
	size_t length = strlen(recorded.lines);

	(void)sup;
	(void)snprintf(recorded.lines + length, sizeof(recorded.lines) - length,
		       "%s\n", text);
}

void stop_run(struct supervisor *sup, const char *reason)
{
	sup->stopping = true;
	(void)snprintf(recorded.stopped, sizeof(recorded.stopped), "%s",
		       reason);
}

void write_hello(const struct supervisor *sup, struct json_writer *w)
{
	json_open_frame(w, "hello");
	json_member_string(w, "run", sup->plan->run);
	json_close_object(w);
}

void add_gap(struct supervisor *sup, const char *promise, const char *reason)
{
	(void)sup;
	(void)promise;
	(void)reason;
}

/* A supervisor with a broker; peer is the broker's end. */
struct supervised {
	struct plan plan;
	struct supervisor sup;
	struct frame_channel peer;
};

static inline void supervised_open(struct supervised *s)
{
	int pair[2];

	memset(&recorded, 0, sizeof(recorded));
	*s = (struct supervised){
		.plan = { .run = "r",
			  .directory = "/nowhere",
			  .answer_ms = 60000,
			  .broker_ms = 60000,
			  .broker_loss_ends = true },
		.sup = { .plan = &s->plan, .listener = -1 },
	};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ||
	    loop_open(&s->sup.loop) ||
	    mailbox_open(&s->sup.mailbox, &s->sup.loop) || opens_start(&s->sup))
		exit(1);
	frame_open(&s->sup.channel, pair[0], FRAME_MAX);
	frame_open(&s->peer, pair[1], FRAME_MAX);
	if (broker_start(&s->sup))
		exit(1);
}

static inline void end_loop(void *sup)
{
	loop_end(&((struct supervisor *)sup)->loop);
}

/* Lets the loop run until nothing is ready and the time is over. */
static inline void supervised_run(struct supervised *s, int ms)
{
	struct loop_timer end = { .due = end_loop, .owner = &s->sup };

	s->sup.loop.ended = false;
	loop_arm(&s->sup.loop, &end, ms);
	CHECK(loop_run(&s->sup.loop) == 0);
	loop_disarm(&s->sup.loop, &end);
}

static inline void supervised_close(struct supervised *s)
{
	opening_finish(&s->sup);
	supervised_run(s, 1); /* what came of it */
	broker_finish(&s->sup);
	opens_finish(&s->sup);
	frame_close(&s->peer);
	loop_close(&s->sup.loop);
	free(s->sup.broker);
}

/* What the broker says; then the loop runs. */
static inline void peer_says(struct supervised *s, const char *text)
{
	size_t length = strlen(text);
	unsigned char header[4];

	for (int i = 0; i < 4; i++)
		header[i] = (unsigned char)(length >> (8 * i));
	CHECK(write(s->peer.fd, header, 4) == 4);
	CHECK(write(s->peer.fd, text, length) == (ssize_t)length);
	supervised_run(s, 5);
}

/* The next frame that the broker got, as text; NULL: none, or the end. */
static inline char *peer_hears(struct supervised *s)
{
	char *text;
	size_t length;

	if (frame_read(&s->peer, &text, &length) != 1)
		return NULL;
	return strndup(text, length);
}
