/*
 * What the parts of the supervisor share, and who calls whom.
 *
 * main.c: find the broker → hello → plan → clone.
 * Child:  network_setup() → mounts → caps → Landlock → seccomp → hands its
 *         descriptors over → waits for "go" → becomes pid 1 (init.c).
 * Parent (supervise.c): takes the handles → network_start() → notify_start() →
 *         broker_start() → "go" and `ready` → the loop.
 */
#pragma once

#include <stdatomic.h>

#include "../../common/frame.h"
#include "../launch/gaps.h"
#include "../launch/plan.h"
#include "loop.h"
#include "mailbox.h"

/* Made inside by network_setup(), used from outside; -1: not there. */
struct net_sockets {
	int netfilter; /* netlink: the redirection is installed when needed */
	int relay; /* listener that the redirection leads to, IPv4 and IPv6 */
	int dns_udp, dns_tcp; /* port 53 of the sandbox, IPv4 and IPv6 */
};

#define NET_SOCKETS_NONE                                                   \
	{                                                                  \
		.netfilter = -1, .relay = -1, .dns_udp = -1, .dns_tcp = -1 \
	}

/* The sandbox as /proc/INIT had it before "go": later it is closed to us. */
struct inside {
	int user, mount, pid, ipc, net; /* namespaces */
	int mountinfo; /* proc_pid_mountinfo(5), for the thread of opening.c */
};

enum { GAPS_MAX = 8 };

struct supervisor {
	const struct plan *plan;
	const char *directory; /* ours, for hello */
	char *const *arguments;
	bool welcomed; /* the run has begun: hello names it */
	struct loop loop;
	struct mailbox mailbox;	      /* to its thread, from any */
	struct frame_channel channel; /* to the broker; fd -1: none now */

	pid_t init; /* pid 1 of the sandbox, as the host sees it */
	int init_pidfd;
	int control; /* socket to init */

	int root; /* the sandbox's "/", O_PATH */
	struct inside inside;
	/*
	 * Whether a task may have another root, or mounts that are not the
	 * sandbox's own: until then none need be looked at.
	 */
	atomic_bool nested;
	int listener; /* seccomp notifications; -1: none */
	struct net_sockets sockets;

	struct gap gaps[GAPS_MAX];
	size_t gap_count;

	struct terminal *terminal;   /* terminal.c; NULL: inherited */
	struct network *network;     /* network.c */
	struct notify *notify;	     /* notify.c */
	struct files *files;	     /* files.c; NULL: no listener */
	struct broker *broker;	     /* broker.c */
	struct serving *serving;     /* serving.c */
	struct publish *publish;     /* publish.c */
	struct denials *denials;     /* denial.c */
	struct opens *opens;	     /* opens.c */
	struct opening *opening;     /* opening.c */
	struct tripwires *tripwires; /* tripwire.c; NULL: there are none */

	struct loop_source signal_source, control_source, init_source;
	struct loop_timer stop_timer;
	bool stopping;
	bool exited;
	int status; /* wait status of the command, once exited */
};

/* network.c, inside the namespace: lo, addresses, routes, sockets. */
MUST_CHECK int network_setup(struct net_sockets *ret_sockets,
			     const char **ret_step);
/* network.c, before "go": keeps what is needed to set the network up later. */
MUST_CHECK int network_start(struct supervisor *sup);
/* After pid 1 ended: passes on what the program had written, then ends. */
void network_finish(struct supervisor *sup, int timeout_ms);

/* notify.c: threads answer notifications; only messages reach the loop. */
MUST_CHECK int notify_start(struct supervisor *sup);

/* broker.c: reads sup->channel on the loop, dispatches its frames. */
MUST_CHECK int broker_start(struct supervisor *sup);
/* Queues a frame. A failure is the loss of the broker, handled there. */
void broker_send(struct supervisor *sup, const struct json_writer *w);
/* Sends what is queued, waits a little for that, closes. */
void broker_finish(struct supervisor *sup);

/* supervise.c: SIGTERM to the command, SIGKILL to pid 1 after STOP_GRACE_MS. */
void stop_run(struct supervisor *sup, const char *reason);
/* main.c: the complete first frame; run: null, or ours for a new broker. */
void write_hello(const struct supervisor *sup, struct json_writer *w);
/* supervise.c: one line on the run's standard error; control bytes become '?'.
 */
void print_line(struct supervisor *sup, const char *text);
void add_gap(struct supervisor *sup, const char *promise, const char *reason);

/* terminal.c: stand still around a question (then sends `held`), go on. */
void terminal_hold(struct supervisor *sup);
void terminal_resume(struct supervisor *sup);

/*
 * discover.c: a connected socket of the broker whose workspace holds the
 * directory, or of CORDON_BROKER. -ENOENT: there is none; else -errno with
 * *ret_what as for plan_parse().
 */
MUST_CHECK int discover_broker(const char *directory, int *ret_fd,
			       const char **ret_what);
