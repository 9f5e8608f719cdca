/*
 * Every length and count that someone else could choose has its name here.
 * Those of the protocol are the same as in src/launch/control/schema.ts.
 */
#pragma once

enum {
	/* Frames (PROTOCOL.md, "Limits"). */
	FRAME_MAX = 1 << 20,
	FRAME_PLAN_MAX = 8 << 20,
	FRAME_QUEUE_MAX = 8 << 20, /* unsent bytes; more: the broker is lost */

	/* JSON. */
	JSON_DEPTH_MAX = 16,
	JSON_MEMBERS_MAX =
		64, /* in one object: keeps the duplicate check short */
	JSON_MEMORY_MAX = 128 << 20, /* values of one text */

	/* Plan. */
	PLAN_MOUNTS_MAX = 20000,
	PLAN_RULES_MAX = 20000,
	PLAN_PORTS_MAX = 1024,	  /* network.hostPorts, publish.ports: each */
	PLAN_PATTERNS_MAX = 1024, /* names and patterns, each list */
	PLAN_PLACES_MAX = 20000,  /* paths in files and sockets, each list */
	PLAN_AGENTS_MAX = 64,
	PLAN_RUN_MAX = 64,	     /* bytes of the run's name */
	PLAN_WAIT_MS_MAX = 86400000, /* one day */

	/* Names and paths. */
	PATH_BYTES_MAX = 4096, /* with the terminating zero, as in the kernel */
	HOST_MAX = 253,	       /* RFC 1035, without the trailing dot */
	HOST_BYTES_MAX = HOST_MAX + 1,

	/* Requests (subject in PROTOCOL.md). */
	SUBJECT_CHAIN_MAX = 16,
	SUBJECT_ARGUMENTS_MAX = 64,
	SUBJECT_ARGUMENT_BYTES_MAX = 4096, /* all of a subject's, together */

	/* Judging changes of files. */
	CHANGE_BYTES_MAX = 16 << 10, /* shown of what would be written */
	CONTENT_BYTES_MAX = 1 << 20, /* of a file judged by content */
	CONFIG_ENTRIES_MAX = 4096,   /* of git's; comparing takes the square */
	HOOKS_LISTED_MAX = 64,
	LISTING_LEVELS_MAX = 4, /* of a folder that would come */
	LISTING_ENTRIES_MAX = 256,

	/* Places that answers open. */
	OPENS_MAX = 4096,	/* of one run, and in one frame */
	DETACH_PATIENT_MS = 50, /* of a mount that nobody can write to */

	/* Tripwires. */
	TRIPWIRE_NODES_MAX = 1 << 20,	 /* files that the kernel knows of */
	TRIPWIRE_HANDLES_MAX = 64 << 10, /* open files and folders */
	TRIPWIRE_HELD_MAX = 512,	 /* opens that wait for an answer */
	TRIPWIRE_READ_MAX = 128 << 10,	 /* bytes of one answer */
	TRIPWIRE_KEEP_MS = 1000,	 /* until the folders are watched */
	TRIPWIRE_REQUEST_MAX = 16 << 10, /* FUSE_MIN_READ_BUFFER at least */

	/* Published ports. */
	PUBLISHED_MAX = 64,	 /* asked about, refused or open, of one run */
	PUBLISH_BOUND_MAX = 256, /* sockets bound last */
	PUBLISH_CHECK_MS = 2000, /* whether somebody still listens inside */
	INSIDE_STOCK = 16,	 /* sockets made in advance */
	ARRIVING_MAX = 256,	 /* connections not yet taken inside */
	ARRIVING_MS = 10000,

	/* Requests of programs for themselves. */
	REQUESTS_MAX = 8, /* at a time: each may ask for all its wishes */
	REQUEST_FRAME_MAX = 64 << 10,
	REQUEST_WISHES_MAX = 32,
	REQUEST_BECAUSE_MAX = 4000, /* bytes */
	REQUEST_MS = 10000,	    /* to say it, and to hear the answer */

	/* Launch. */
	HELLO_ARGUMENTS_MAX = 256 << 10, /* bytes; the rest is left out */
	PLAN_WAIT_MS = 20000,		 /* for the broker, before the run */
	STOP_GRACE_MS = 2000,		 /* from SIGTERM to SIGKILL */
	RELAY_GRACE_MS = 2000,	     /* for bytes still under way at the end */
	HAND_OVER_MAX = 16,	     /* descriptors in one message */
	REGISTRATION_MAX = 64 << 10, /* bytes of a NAME.json */
	REGISTRATIONS_MAX = 256,     /* files looked at */

	/* Network. */
	NAMES_MAX = 16384, /* that one run may look up */
	LOOKUPS_MAX = 128, /* waiting for the broker */
	LOOKUP_MS = 5000,
	DNS_STREAMS_MAX = 16, /* connections to port 53 */
	DNS_STREAM_MS = 10000,
	CALLS_MAX = 256, /* calls that are answered at a time, a thread each */
	CALL_STACK_BYTES = 256 << 10,		 /* a judgement needs 70 KiB */
	QUESTIONS_MAX = CALLS_MAX + LOOKUPS_MAX, /* open ones */
	ANSWER_ADDRESSES_MAX = 64,
	BOUND_SOCKETS_MAX = 1024, /* unix sockets with a path, of one run */
	DIAL_PATIENT_MS = 300, /* while a socket that does not block is held */
	DIAL_MS = 10000,       /* for each address but the last */
	DIAL_LAST_MS = 30000,
	DIALLED_MAX = CALLS_MAX, /* connections that wait for their program */
	DIALLED_MS = 40000,	 /* longer than a SYN takes to come again */
	RELAYED_MAX = 4096,
	RELAY_PIPE_BYTES = 256 << 10,
	SERVED_MAX = 64,	      /* programs that speak to us at a time */
	MAILBOX_FULL = 4 * CALLS_MAX, /* denials are dropped from here on */
	DENIALS_KEPT_MAX = 1024,      /* told apart, so as to tell each once */
	DENIAL_REPEAT_MS = 1000,
	BROKER_RETRY_MS = 500,
	BROKER_FINISH_MS = 1000,
	ALIVE_CHECK_MS = 100, /* of a program whose call is held */
};
