/*
 * Calls of the sandbox that wait for our answer (seccomp_unotify(2)), and
 * the threads that answer them. connect() and bind() are never continued:
 * another thread of the caller could exchange the descriptor and the address
 * after we looked. They are performed on a duplicate of the caller's socket.
 */
#pragma once

#include "../sockets/bound.h"
#include "supervisor.h"

struct call {
	struct supervisor *sup;
	uint64_t id;
	pid_t thread; /* of the caller, as the host counts */
	int number;   /* of the system call */
	uint64_t arguments[6];
	void *response;	    /* memory for its answer */
	bool must_not_wait; /* not even for a person */
};

/* Whether the caller still waits; asked after reading its memory. */
bool call_is_alive(const struct call *call);

/* Answers at once; answer_…() then returns CALL_ANSWERED. */
void call_answer(const struct call *call, int err);
/* The call succeeds with that result. */
void call_return(const struct call *call, long result);
/* The kernel makes it: only where what the caller can change is no matter. */
void call_continue(const struct call *call);
enum { CALL_ANSWERED = 1 };

/* Unix sockets that the run has bound. */
struct bound_sockets *notify_bound(struct supervisor *sup);

/* connect.c: what connect() is to return, 0 or -errno. May take long. */
MUST_CHECK int answer_connect(const struct call *call);
/* sockets.c: the same for bind() and listen(). */
MUST_CHECK int answer_bind(const struct call *call);
MUST_CHECK int answer_listen(const struct call *call);
/* connect.c: tells of one that was refused because it found no thread. */
void report_limit(const struct call *call);
