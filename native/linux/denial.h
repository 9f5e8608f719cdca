/*
 * Refusals: told to the broker for the record, and to the run's user in one
 * line that names program, place, reason and what to do. A program that tries
 * again and again fills neither.
 */
#pragma once

#include <semaphore.h>

#include "broker.h"
#include "mailbox.h"

struct denial {
	struct message message; /* first: posted by the threads of notify.c */
	struct supervisor *sup;
	struct subject subject;
	enum action action;
	struct destination to;	   /* its host lives as long as the run */
	char path[PATH_BYTES_MAX]; /* a unix socket's instead, or "" */
	enum reason reason;
	int rule;	 /* or RULE_MODE */
	bool told;	 /* the run's user has read why */
	sem_t *reported; /* posted then; NULL: nobody waits */
};

/* On the loop's thread; frees it. */
void denial_report(struct denial *denial);

/* The line; pure. */
void denial_write_line(const struct plan *plan, const struct denial *denial,
		       char *ret_line, size_t size);

/* What was told lately. Initialise with {0}. */
struct denials {
	struct {
		uint64_t what; /* hash of program and place; 0: free */
		int64_t recorded_ms;
	} kept[DENIALS_KEPT_MAX];
	bool full_told;
	int64_t full_recorded_ms; /* the last one that found no room */
};

enum denial_news {
	DENIAL_NEW = 1 << 0,	/* worth a line */
	DENIAL_RECORD = 1 << 1, /* worth a frame */
	DENIAL_FULL = 1 << 2,	/* too many different ones: said once */
};

/* Remembers it; DENIAL_… or'ed. */
unsigned denials_note(struct denials *denials, const struct denial *denial,
		      int64_t now_ms);
