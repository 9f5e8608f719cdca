/*
 * Ports of the sandbox that the host can reach: a TCP listener inside whose
 * port its program chose may, once it is allowed, be reached at the host's
 * loopback. The question holds nothing up. It ends with the listener, and so
 * does the port on the host.
 */
#pragma once

#include "../sockets/sockets.h"
#include "../supervisor/notify.h"

enum { PUBLISH_PORT_MIN = 1024 }; /* none of the privileged ones, ip(7) */

/* Before "go". */
MUST_CHECK int publish_start(struct supervisor *sup);

/* Any thread: a socket was bound to a port of the program's own choice. */
void publish_note_bound(struct supervisor *sup, int socket);
/* Any thread: the caller's socket listens now. */
void publish_note_listening(const struct call *call,
			    const struct target_socket *socket);
/* Any thread: a question about that port has been answered with yes. */
void publish_allow(struct supervisor *sup, uint16_t port);

/* The plan publishes it without a question. */
bool is_planned_port(const struct plan *plan, uint16_t port);

/* The rest is for the loop's thread. */

/* Takes a port back, with its connections. */
void publish_revoke(struct supervisor *sup, uint16_t port);
/* Tells a broker that has taken the run over what is open. */
void publish_tell(struct supervisor *sup);
/* The run has ended. */
void publish_finish(struct supervisor *sup);
