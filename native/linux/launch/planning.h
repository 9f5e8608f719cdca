/* What the files that parse a plan share; for them alone. */
#pragma once

#include "plan.h"

struct parse {
	struct json_arena *arena;
	const char **what; /* what is wrong, for people */
};

/* -EBADMSG, and notes what. */
int bad(struct parse *p, const char *what);
/* Zeroed, for count elements; count 0 gives a valid pointer as well. */
void *allocate(struct parse *p, size_t count, size_t size);

/* An array of at most `max` entries. */
MUST_CHECK int check_array(struct parse *p, const struct json *value,
			   size_t max, const char *what);
MUST_CHECK int parse_path(struct parse *p, const struct json *value,
			  const char **ret_path);
MUST_CHECK int parse_ports(struct parse *p, const struct json *value,
			   const char *what, const uint16_t **ret_ports,
			   size_t *ret_count);
/* Strings that `is_right` takes. */
MUST_CHECK int parse_strings(struct parse *p, const struct json *value,
			     bool (*is_right)(const char *text), size_t max,
			     const char *what, struct strings *ret);

/* planAccess.c: "files", "sockets", "publish" and "opens". */
MUST_CHECK int parse_accesses(struct parse *p, const struct json *frame,
			      struct plan *plan);
