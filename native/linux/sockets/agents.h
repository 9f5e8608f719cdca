/*
 * Agents of the host (ssh-agent, gpg-agent): anybody may connect, each use of
 * a key is a question of its own. The program's socket is joined to one of
 * ours, and what it says is judged before the agent hears it.
 */
#pragma once

#include "../supervisor/notify.h"
#include "sockets.h"

/* The plan's agent that listens at this path of the host; NULL: none. */
const struct planned_agent *find_agent(const struct plan *plan,
				       const char *path);

/* The result of the connect: 0 or -errno. Any thread. */
MUST_CHECK int agents_connect(const struct call *call,
			      const struct target_socket *socket,
			      const struct planned_agent *agent);
