/*
 * What a program wants beyond the boundary, and its words in a frame. Never
 * touches the system.
 */
#pragma once

#include "../network/decide.h"

/* PROTOCOL.md, "Actions and objects". */
enum action {
	ACTION_CONNECT,
	ACTION_LOOKUP,
	ACTION_WRITE,
	ACTION_GIT,
	ACTION_READ,
	ACTION_SOCKET,
	ACTION_SIGN,
	ACTION_PUBLISH,
};

/*
 * Strings belong to whoever wants it, until the question is over; those that
 * an action does not name are NULL. Paths are absolute.
 */
struct wanted {
	enum action action;
	int rule;	       /* connect, lookup: its index, or RULE_MODE */
	bool wants_addresses;  /* connect, lookup: allowed already */
	struct destination to; /* connect, lookup; publish: only its port */
	const char *path;      /* write, read, socket; git: the path inside */
	const char *call;      /* write, git, socket: as in PROTOCOL.md */
	const char *other;     /* write: rename's or link's other path, or NULL;
				  git: the repository */
	const char *folder;    /* write, read: what a wider grant opens */
	bool is_protected;     /* write */
	const char *change;    /* write: the text to show, or NULL */
	const char *agent, *key, *purpose; /* sign; purpose may be "" */
	const char *because;		   /* a program's own words, or NULL */
};

const char *action_name(enum action action);
const char *access_name(enum access access);
/* The access of that name, else -EBADMSG. */
MUST_CHECK int access_of(const char *name);

/* Whether its paths are absolute and normalised: a broker takes no others. */
bool wanted_is_plain(const struct wanted *wanted);

/* The place that a wider answer would open for writing; NULL: none. */
const char *wanted_wider(const struct wanted *wanted);

/* With all its strings, in one piece for free(); NULL: no memory. */
struct wanted *wanted_copy(const struct wanted *wanted);

/* The members "access" and "path". */
void write_open(struct json_writer *w, const struct open *open);
/* The members "action" and "object" of a frame. */
void wanted_write(struct json_writer *w, const struct wanted *wanted);
