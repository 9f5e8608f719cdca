/*
 * Serves a program of the sandbox at its own unix socket, which is joined to
 * one of ours: it speaks to the supervisor where it thinks of somebody else.
 * It is given nothing that it did not have. Each one served has a thread.
 */
#pragma once

#include "notify.h"

enum served_kind { SERVED_AGENT, SERVED_REQUEST };

struct served {
	enum served_kind kind;
	void (*serve)(const struct served *served); /* until it returns */
	const void *of; /* the server's own; lives as long as the run */
	int outer;	/* the server's own descriptor, or -1 */

	/* serving.c's. */
	struct supervisor *sup;
	pid_t thread; /* that connected, as the host counts */
	int program;  /* our end of its socket, which blocks */
};

/* Before "go". */
MUST_CHECK int serving_start(struct supervisor *sup);

/*
 * Joins the caller's socket and starts to serve it. Gives what the caller's
 * connect() is to give. Takes wanted->outer over, on failure too. Any thread.
 */
MUST_CHECK int serve_caller(const struct call *call, int socket,
			    const struct served *wanted);

/* Whether the program still has its socket; for an asker's is_alive. */
bool is_served(const void *served);
