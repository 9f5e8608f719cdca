/*
 * What the broker opens and closes is carried out on a thread of its own,
 * since a mount may wait, and in the order in which the broker said it: a
 * revocation never overtakes the answer before it. For the loop's thread.
 */
#pragma once

#include "opens.h"

enum opening_kind {
	OPENING_ADD,	 /* each for itself */
	OPENING_ADD_ALL, /* all or none */
	OPENING_REMOVE,
	OPENING_KEEP,	 /* removes what is neither listed nor the plan's */
	OPENING_PLANNED, /* mounts the plan's own; none are listed */
};

struct opening_entry {
	struct open open;
	struct identity judged;
};

struct opening_job {
	struct message message; /* first */
	struct supervisor *sup;
	struct opening_job *next;
	enum opening_kind kind;
	/* On the loop's thread, once; frees it by opening_free(). */
	void (*done)(struct opening_job *job);
	void *owner;
	/* The outcome. */
	struct json_writer told; /* the frame "opened" or "revoked"; or none */
	int err; /* what of adding all failed, or could not be closed */
	size_t count;
	struct opening_entry entries[];
};

/*
 * From an array of {access, path}, whose strings are copied. -EBADMSG, -E2BIG,
 * -ENOMEM.
 */
MUST_CHECK int opening_parse(const struct json *opens,
			     struct opening_job **ret_job);
void opening_free(struct opening_job *job);

/* Takes the job over, unless it fails. */
MUST_CHECK int opening_begin(struct supervisor *sup, struct opening_job *job);

/* The plan's own, when there are any: before everything else. */
MUST_CHECK int opening_start(struct supervisor *sup);

/* After the run: carries out what was begun, then ends. */
void opening_finish(struct supervisor *sup);
