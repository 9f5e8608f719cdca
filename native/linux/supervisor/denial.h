/*
 * Refusals: told to the broker for the record, and to the run's user in one
 * line that names program, place, reason and what to do. A program that tries
 * again and again fills neither.
 */
#pragma once

#include "broker.h"

/*
 * From a thread other than the loop's, which waits until it is told: its
 * program hears of it only afterwards, and that may be its last call. `thread`
 * is the program's, as the host counts.
 */
void report_denial(struct supervisor *sup, pid_t thread,
		   const struct wanted *wanted, enum reason reason);
/* The same without waiting. */
void post_denial(struct supervisor *sup, pid_t thread,
		 const struct wanted *wanted, enum reason reason);
/* A refusal that was an answer: told when answer_is_untold(). */
void report_answer(struct supervisor *sup, pid_t thread,
		   const struct wanted *wanted, const struct answer *answer);

/* A refusal to be told. */
struct denial {
	const struct subject *subject;
	const struct wanted *wanted;
	enum reason reason;
};

/* On the loop's thread. */
void tell_denial(struct supervisor *sup, const struct denial *denial);
/* Neither said by whoever answered, nor in the broker's record. */
bool answer_is_untold(const struct answer *answer);

/* Its line; pure. */
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

/* Before the first denial: makes sup->denials. */
MUST_CHECK int denials_start(struct supervisor *sup);

/* Remembers it; DENIAL_… or'ed. */
unsigned denials_note(struct denials *denials, const struct denial *denial,
		      int64_t now_ms);
