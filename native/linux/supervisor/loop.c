/*
 * Epoll and a sorted list of timers, see loop.h. Dozens of timers at most
 * (open questions), so a list is enough.
 */
#include "loop.h"

#include <time.h>

int loop_open(struct loop *loop)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (epoll < 0)
		return -errno;
	*loop = (struct loop){ .epoll = epoll };
	return 0;
}

void loop_close(struct loop *loop)
{
	close_quietly(TAKE(loop->epoll));
}

int loop_add(struct loop *loop, struct loop_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, source->fd, &event))
		return -errno;
	source->events = events;
	source->added = true;
	return 0;
}

int loop_change(struct loop *loop, struct loop_source *source, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	if (source->events == events)
		return 0;
	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, source->fd, &event))
		return -errno;
	source->events = events;
	return 0;
}

void loop_remove(struct loop *loop, struct loop_source *source)
{
	if (!source->added)
		return;
	source->added = false;
	(void)epoll_ctl(loop->epoll, EPOLL_CTL_DEL, source->fd, NULL);
	/* What epoll_wait() has already returned must not reach it any more. */
	for (int i = loop->batch_at; i < loop->batch_count; i++)
		if (loop->batch[i].data.ptr == source)
			loop->batch[i].data.ptr = NULL;
}

int64_t loop_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void loop_arm(struct loop *loop, struct loop_timer *timer, int64_t delay_ms)
{
	struct loop_timer **at = &loop->timers;

	loop_disarm(loop, timer);
	timer->due_ms = loop_now_ms() + delay_ms;
	while (*at && (*at)->due_ms <= timer->due_ms)
		at = &(*at)->next;
	timer->next = *at;
	timer->armed = true;
	*at = timer;
}

void loop_disarm(struct loop *loop, struct loop_timer *timer)
{
	struct loop_timer **at = &loop->timers;

	if (!timer->armed)
		return;
	while (*at != timer)
		at = &(*at)->next;
	*at = timer->next;
	timer->armed = false;
}

static void run_due_timers(struct loop *loop)
{
	int64_t now;
	struct loop_timer *timer;

	if (!loop->timers)
		return;
	now = loop_now_ms();
	while ((timer = loop->timers) && timer->due_ms <= now && !loop->ended) {
		loop_disarm(loop, timer);
		timer->due(timer->owner);
	}
}

static int wait_ms(const struct loop *loop)
{
	int64_t left;

	if (!loop->timers)
		return -1;
	left = loop->timers->due_ms - loop_now_ms();
	if (left < 0)
		return 0;
	return left > INT32_MAX ? INT32_MAX : (int)left;
}

int loop_run(struct loop *loop)
{
	while (!loop->ended) {
		int count = epoll_wait(loop->epoll, loop->batch, LOOP_BATCH,
				       wait_ms(loop));

		if (count < 0 && errno != EINTR)
			return -errno;
		loop->batch_count = count > 0 ? count : 0;
		for (loop->batch_at = 0; loop->batch_at < loop->batch_count;) {
			struct epoll_event event =
				loop->batch[loop->batch_at++];
			struct loop_source *source = event.data.ptr;

			if (source && !loop->ended)
				source->ready(source->owner, event.events);
		}
		run_due_timers(loop);
	}
	return 0;
}

void loop_end(struct loop *loop)
{
	loop->ended = true;
}
