/*
 * What a host may lack without there being no boundary at all: each is a
 * promise that is not kept, told in `ready` and by --probe.
 */
#pragma once

struct gap {
	const char *promise;
	const char *reason;
};

enum {
	GAP_PROC = 1 << 0,     /* the surrounding /proc had to stay */
	GAP_SCOPE = 1 << 1,    /* no Landlock scope */
	GAP_LISTENER = 1 << 2, /* no seccomp listener */
	GAP_REDIRECT = 1 << 3, /* no nf_tables */
	GAP_FUSE = 1 << 4,     /* no tripwires */
	GAP_LAST = GAP_FUSE,
};

/* In words. `bit` is one of the above. */
struct gap describe_gap(int bit);
