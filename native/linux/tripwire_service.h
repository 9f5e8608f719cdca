/*
 * What the parts of the tripwires' service share: tripwire.c (threads and
 * the device), tripwire_serve.c (requests), tripwire_held.c (questions).
 */
#pragma once

#include <linux/fuse.h>
#include <sys/stat.h>

#include "broker.h"
#include "mailbox.h"
#include "tripwire.h"
#include "tripwire_nodes.h"

/* One of the plan's tripwires; all of a file's by the folder it is in. */
struct place {
	const struct planned_mount *mount; /* NULL: not a tripwire */
	int folder;			   /* O_PATH; -1: not looked up yet */
	bool is_directory;
	bool has_mounts_below;
};

/* An open file or folder. */
struct handle {
	struct handle *next, **self; /* in tw->handles */
	struct node *node;
	int fd;		     /* -1: a folder whose names are not shown */
	bool is_once;	     /* until it is closed, whatever is revoked */
	unsigned generation; /* of opens.h, when it was found covered */
};

struct tripwires {
	struct supervisor *sup;
	int device;
	dev_t number;
	int pid_namespace; /* the sandbox's */
	struct loop_source first_request;
	bool has_begun; /* the run has: there is somebody to ask */

	/* Held while a request is answered, and to look at: */
	pthread_mutex_t lock;
	struct nodes nodes;
	struct place *places; /* as the plan's mounts */
	struct handle *handles;
	size_t handle_count, handle_max;
	char *request, *data; /* buffers */

	struct held_opens *held;
};

/* tripwire_serve.c */

/* Answers one request; the lock is held. */
void serve_request(struct tripwires *tw, size_t length);
void reply(struct tripwires *tw, uint64_t unique, int err, const void *data,
	   size_t length);
/* Serves what was held, or refuses it. With the lock held. */
void finish_open(struct tripwires *tw, uint64_t unique, uint64_t node,
		 bool is_allowed);
/* The host's path of a node. */
MUST_CHECK int node_host_path(const struct tripwires *tw,
			      const struct node *node,
			      char ret_path[PATH_BYTES_MAX]);
bool is_covered(const struct tripwires *tw, const char *path);

/* tripwire_held.c */

MUST_CHECK int held_open(struct tripwires *tw);
/* Readable when an answer is there. */
int held_wake(const struct tripwires *tw);
/*
 * Asks whether `pid` (of the sandbox's pid namespace) may open it; the
 * request is answered when that is known. -EAGAIN: too many are waiting.
 */
MUST_CHECK int held_ask(struct tripwires *tw, const struct fuse_in_header *in,
			const char *path);
/* FUSE_INTERRUPT: the program does not want it any more. */
void held_interrupt(struct tripwires *tw, uint64_t unique);
/* Answers those that are settled. With tw->lock held. */
void held_answer(struct tripwires *tw);

/* tripwire_reply.c: values for the kernel. Never touches the system. */

void fill_attributes(const struct stat *status, struct fuse_attr *ret);
/*
 * Entries of getdents64(2) as FUSE wants them; returns how many bytes. size
 * is at least 4/3 of length, so that all find room.
 */
size_t pack_entries(const char *entries, size_t length, char *ret_packed,
		    size_t size);
/* One entry; 0: there is no room for it. */
size_t pack_entry(uint64_t inode, uint64_t offset, unsigned type,
		  const char *name, char *ret_packed, size_t size);

/* tripwire_subject.c */

/* The host's pid of a thread inside; 0: it is gone, or not to be found. */
pid_t find_host_pid(const struct tripwires *tw, pid_t inside);
