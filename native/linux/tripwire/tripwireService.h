/*
 * What the parts of the tripwires' service share: tripwire.c (threads and
 * the device), tripwireServe.c (requests), tripwireHeld.c (questions).
 */
#pragma once

#include <linux/fuse.h>
#include <sys/stat.h>

#include "../supervisor/broker.h"
#include "../supervisor/mailbox.h"
#include "tripwire.h"
#include "tripwireNodes.h"

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
	unsigned generation; /* of opens.h, when a look said it is covered */
};

struct tripwires {
	struct supervisor *sup;
	int device;
	int root;	   /* the whole, O_PATH */
	dev_t number;	   /* st_dev of all its files */
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
	struct keeper *keeper;
};

/* A request of the kernel. */
struct request {
	const struct fuse_in_header *header;
	const char *body;
	size_t length;	   /* of the body */
	struct node *node; /* that it is about; NULL: unknown */
};

/* Everything below holds tw->lock. */

/* tripwireServe.c */

/* Answers what is in tw->request, or has it held. */
void serve_request(struct tripwires *tw, size_t length);
void reply(struct tripwires *tw, uint64_t unique, int err, const void *data,
	   size_t length);
void reply_error(struct tripwires *tw, const struct request *request, int err);

/* tripwireLook.c, tripwireList.c, tripwireFiles.c: each answers one. */

void fuse_look_up(struct tripwires *tw, const struct request *request);
void fuse_get_attributes(struct tripwires *tw, const struct request *request);
void fuse_read_link(struct tripwires *tw, const struct request *request);
void fuse_check_access(struct tripwires *tw, const struct request *request);
void fuse_get_file_system(struct tripwires *tw, const struct request *request);
void fuse_open_folder(struct tripwires *tw, const struct request *request);
void fuse_list_folder(struct tripwires *tw, const struct request *request);
void fuse_open_file(struct tripwires *tw, const struct request *request);
void fuse_read_file(struct tripwires *tw, const struct request *request);
void fuse_release(struct tripwires *tw, const struct request *request);

/*
 * The node at a name, with one lookup more, and what is said of it. For the
 * places, too, which are the root's children.
 */
MUST_CHECK int make_entry(struct tripwires *tw, struct node *parent,
			  const char *name, struct fuse_entry_out *ret_entry);

/* What was given as fuse_open_out.fh; the kernel gives back what it got. */
struct handle *handle_of(uint64_t number);
/* Takes the descriptor, also on failure. -ENFILE: there are too many. */
MUST_CHECK int make_handle(struct tripwires *tw, struct node *node, int fd,
			   bool is_once, struct handle **ret_handle);
void reply_handle(struct tripwires *tw, uint64_t unique,
		  const struct handle *handle);
/* The file of an O_PATH descriptor, to read; whatever its path is now. */
MUST_CHECK int open_again(int fd, int flags);
/* Serves what was held, or refuses it. */
void finish_open(struct tripwires *tw, uint64_t unique, uint64_t node,
		 bool is_allowed);

/* tripwireHost.c */

/* NULL: of the root. */
const struct place *place_of(const struct tripwires *tw,
			     const struct node *node);
MUST_CHECK int node_host_path(const struct tripwires *tw,
			      const struct node *node,
			      char ret_path[PATH_BYTES_MAX]);
/* Of those that contain the path and lie in `place`. */
const struct place *innermost_place(const struct tripwires *tw,
				    const struct place *place,
				    const char *path);
/*
 * Whether somebody has opened it for reading: it or a folder above, as far as
 * the innermost place goes. What opens a home opens no keys in it.
 */
bool is_covered(const struct tripwires *tw, const struct place *place,
		const char *path);
/* Whether a program may see that there is something at this path. */
bool shows(const struct tripwires *tw, const struct place *place,
	   const char *path);
/* O_PATH, and what it is; -ESTALE: another file is there now. */
MUST_CHECK int open_node(const struct tripwires *tw, const struct node *node,
			 struct stat *ret_status);
/* Also of one that is gone and still open. */
MUST_CHECK int stat_node(const struct tripwires *tw, const struct node *node,
			 struct stat *ret_status);
/* The place of that index, opened; it is a child of the root. */
MUST_CHECK int identify_place(struct tripwires *tw, const char *index,
			      struct node_identity *ret_identity);
/* -ENOENT also when it is not shown. */
MUST_CHECK int identify_child(const struct tripwires *tw,
			      const struct node *parent, const char *name,
			      struct node_identity *ret_identity);

/* tripwireHeld.c */

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
/* Answers those that are settled. */
void held_answer(struct tripwires *tw);

/* tripwireReply.c: values for the kernel. Never touches the system. */

void fill_attributes(const struct stat *status, struct fuse_attr *ret);
/* A name in a folder. */
struct listed {
	uint64_t inode, offset; /* of the next one, for seekdir(3) */
	unsigned type;		/* DT_… */
	const char *name;
	const struct fuse_entry_out *node; /* FUSE_READDIRPLUS; else NULL */
};

/* As FUSE wants it; 0: there is no room for it. */
size_t pack_entry(const struct listed *entry, char *ret_packed, size_t size);
/*
 * How many bytes of getdents64(2) find room in `size`, at least 1 KiB,
 * whatever the names.
 */
size_t packable(bool with_nodes, size_t size);
/* Those; returns how many bytes. With nodes: that nothing is known of. */
size_t pack_entries(const char *entries, size_t length, bool with_nodes,
		    char *ret_packed, size_t size);

/* tripwireKeep.c */

/*
 * After TRIPWIRE_KEEP_MS, until the end: what has come to a place, or taken
 * its place, is covered as soon as it is seen.
 */
MUST_CHECK int keep_covered(struct tripwires *tw);

/* tripwireSubject.c */

/* The host's pid of a thread inside; 0: it is gone, or not to be found. */
pid_t find_host_pid(const struct tripwires *tw, pid_t inside);
