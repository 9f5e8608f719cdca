/*
 * The supervisor's one thread: descriptors by epoll(7) and timers. Callbacks
 * must not wait. A source lives in its owner; removing one, also from within
 * a callback, is safe at once, pending events included.
 */
#pragma once

#include <sys/epoll.h>

#include "../../common/cordon.h"

enum { LOOP_BATCH = 64 };

struct loop_source {
	int fd; /* not owned */
	uint32_t events;
	void (*ready)(void *owner, uint32_t events);
	void *owner;
	bool added;
};

struct loop_timer {
	int64_t due_ms; /* CLOCK_MONOTONIC */
	void (*due)(void *owner);
	void *owner;
	struct loop_timer *next;
	bool armed;
};

struct loop {
	int epoll;
	bool ended;
	struct loop_timer *timers; /* soonest first */
	struct epoll_event batch[LOOP_BATCH];
	int batch_count, batch_at;
};

MUST_CHECK int loop_open(struct loop *loop);
void loop_close(struct loop *loop);

/* source->fd, ready and owner are set by the caller. */
MUST_CHECK int loop_add(struct loop *loop, struct loop_source *source,
			uint32_t events);
/* No system call when the events are the same. */
MUST_CHECK int loop_change(struct loop *loop, struct loop_source *source,
			   uint32_t events);
/* Before the descriptor is closed; harmless when it was not added. */
void loop_remove(struct loop *loop, struct loop_source *source);

/* Once, in delay_ms; an armed timer is moved. due and owner are the caller's.
 */
void loop_arm(struct loop *loop, struct loop_timer *timer, int64_t delay_ms);
void loop_disarm(struct loop *loop, struct loop_timer *timer);
int64_t loop_now_ms(void);

/* Until loop_end(); returns 0 or -errno. */
MUST_CHECK int loop_run(struct loop *loop);
void loop_end(struct loop *loop);
