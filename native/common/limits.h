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
	PLAN_HOST_PORTS_MAX = 1024,
	PLAN_PATTERNS_MAX = 1024,    /* environment drop, keep, set: each */
	PLAN_RUN_MAX = 64,	     /* bytes of the run's name */
	PLAN_WAIT_MS_MAX = 86400000, /* one day */

	/* Names and paths. */
	PATH_BYTES_MAX = 4096, /* with the terminating zero, as in the kernel */
	HOST_MAX = 253,	       /* RFC 1035, without the trailing dot */

	/* Requests (subject in PROTOCOL.md). */
	SUBJECT_CHAIN_MAX = 16,
	SUBJECT_ARGUMENTS_MAX = 64,
	SUBJECT_ARGUMENT_BYTES_MAX = 4096, /* all of a subject's, together */

	/* Launch. */
	HELLO_ARGUMENTS_MAX = 256 << 10, /* bytes; the rest is left out */
	STOP_GRACE_MS = 2000,		 /* from SIGTERM to SIGKILL */
	HAND_OVER_MAX = 16,		 /* descriptors in one message */
	REGISTRATION_MAX = 64 << 10,	 /* bytes of a NAME.json */
	REGISTRATIONS_MAX = 256,	 /* files looked at */
};
