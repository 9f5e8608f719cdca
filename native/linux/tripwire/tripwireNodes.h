/*
 * What the kernel knows of the tripwires' file system: a node for each file
 * it has looked up, until it has forgotten all lookups of it (FUSE_FORGET).
 * A node is a place's file by its path; another file at the same path is
 * another node. Never touches the system.
 */
#pragma once

#include <sys/types.h>

#include "../../common/cordon.h"

/* FUSE_ROOT_ID: the folder that holds nothing but the places. */
enum { NODE_ROOT = 1, NO_PLACE = -1 };

struct node {
	uint64_t id;
	struct node *parent; /* NULL: the root */
	uint64_t lookups;    /* that the kernel has not forgotten */
	uint32_t users;	     /* children and handles; keep it as well */
	int place;	     /* index in the plan's mounts; root: NO_PLACE */
	dev_t device;
	ino_t inode;
	mode_t kind;	   /* S_IFMT of st_mode */
	bool is_fixed;	   /* leads to a mount: stays, whatever the host does */
	struct node *next; /* in its bucket */
	char name[];
};

struct node_slot {
	struct node *node;   /* NULL: free */
	uint32_t generation; /* counts its nodes: id and generation are unique
			      */
	uint32_t next_free;
};

struct nodes {
	struct node_slot *slots; /* of id - 1 */
	size_t slot_count, capacity;
	uint32_t first_free; /* an index + 1; 0: none */
	struct node **buckets;
	size_t bucket_count; /* a power of two */
};

/* What is at a path now. */
struct node_identity {
	int place;
	dev_t device;
	ino_t inode;
	mode_t kind;
	bool is_fixed;
};

/* With its root. -ENOMEM. */
MUST_CHECK int nodes_open(struct nodes *ret_nodes);
void nodes_close(struct nodes *nodes);

/* NULL: there is none of that id. */
struct node *nodes_find(const struct nodes *nodes, uint64_t id);
uint32_t nodes_generation(const struct nodes *nodes, const struct node *node);

/*
 * The node of that file in parent, made when it is new, with one lookup more.
 * -ENOMEM also beyond TRIPWIRE_NODES_MAX.
 */
MUST_CHECK int nodes_look_up(struct nodes *nodes, struct node *parent,
			     const char *name,
			     const struct node_identity *identity,
			     struct node **ret_node);
/* Whether there is a fixed node of that name already. */
bool nodes_has_fixed(const struct nodes *nodes, const struct node *parent,
		     const char *name);
/* Takes `count` lookups back. */
void nodes_forget(struct nodes *nodes, uint64_t id, uint64_t count);

/* A handle is opened, or gone. */
void nodes_use(struct node *node);
void nodes_leave(struct nodes *nodes, struct node *node);

/* Its path below its place; "": the place itself. -ENAMETOOLONG. */
MUST_CHECK int nodes_path(const struct node *node, size_t size, char *ret_path);
