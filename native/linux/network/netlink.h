/*
 * Netlink messages, several in one batch: built in memory, sent with one
 * system call, acknowledged by the last.
 */
#pragma once

#include <linux/netlink.h>

#include "../../common/cordon.h"

enum { NETLINK_BATCH_MAX = 2048 };

/* Initialise with {0}: the padding between attributes is zero. */
struct netlink_batch {
	unsigned char bytes[NETLINK_BATCH_MAX];
	size_t length;
	uint32_t sequence;
	size_t message; /* where the open one begins */
};

/* Begins a message with its family's own header; the one before ends. */
void netlink_message(struct netlink_batch *b, int type, int flags,
		     const void *header, size_t length);
void netlink_attribute(struct netlink_batch *b, int type, const void *data,
		       size_t length);

/* An attribute that holds attributes, until the nest is closed. */
size_t netlink_open_nest(struct netlink_batch *b, int type);
void netlink_close_nest(struct netlink_batch *b, size_t nest);

/* The first error that the kernel reported; 0 when it acknowledged. */
MUST_CHECK int netlink_send(int fd, struct netlink_batch *b);
