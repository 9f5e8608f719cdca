/*
 * Messages from any thread to the thread of a loop: the one way for the
 * threads that answer calls to touch what the loop's thread owns.
 */
#pragma once

#include <pthread.h>

#include "loop.h"

struct message {
	struct message *next;
	void (*deliver)(struct message *message); /* on the loop's thread */
};

struct mailbox {
	pthread_mutex_t lock;
	struct message *first, **last;
	size_t count;
	struct loop *loop;
	struct loop_source source;
};

MUST_CHECK int mailbox_open(struct mailbox *mailbox, struct loop *loop);

/* Delivered in the order of posting; the message is the receiver's now. */
void mailbox_post(struct mailbox *mailbox, struct message *message);

/* Whether so much is waiting that what may be left out should be. */
bool mailbox_is_full(struct mailbox *mailbox);
