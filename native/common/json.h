/*
 * JSON text to a tree of values and back. Bounded in size, depth and number
 * of members; integers only, within ±2^53; duplicate keys, U+0000 and
 * anything that JSON does not allow are refused. Bytes that are not UTF-8
 * travel as the lone surrogates U+DC80 … U+DCFF (PROTOCOL.md, "Bytes").
 * Never reads or writes a descriptor.
 */
#pragma once

#include "cordon.h"

enum json_type {
	JSON_NULL,
	JSON_BOOLEAN,
	JSON_INTEGER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json {
	enum json_type type;
	bool boolean;
	size_t length; /* bytes of a string, entries of an array or object */
	int64_t integer;
	const char *key;	  /* its name in an object, else NULL */
	const char *string;	  /* zero-terminated, without zeros inside */
	const struct json *first; /* of an array or object */
	const struct json *next;  /* in the array or object that holds it */
};

/* Owns all values of one text. Initialise with {0}, free with json_free(). */
struct json_arena {
	struct json_chunk *chunks;
	size_t used;  /* in the first chunk */
	size_t total; /* in all */
};

#define AUTO_ARENA __attribute__((cleanup(json_free)))

/*
 * Parses text[0..length), which is overwritten: strings are decoded in place
 * and point into it.
 * -EBADMSG: not JSON as we take it; -E2BIG: over a limit; -ENOMEM.
 */
MUST_CHECK int json_parse(char *text, size_t length, struct json_arena *arena,
			  const struct json **ret_value);
void json_free(struct json_arena *arena);

/* Memory that lives as long as the arena, zeroed; NULL when there is none. */
void *json_allocate(struct json_arena *arena, size_t size);

/* The member of that name, NULL when there is none or not an object. */
const struct json *json_member(const struct json *object, const char *key);

/* The string, NULL when `value` is NULL or something else. */
const char *json_as_string(const struct json *value);

/* An integer within from … to: 0, else -EBADMSG. */
MUST_CHECK int json_as_integer(const struct json *value, int64_t from,
			       int64_t to, int64_t *ret_integer);
MUST_CHECK int json_as_boolean(const struct json *value, bool *ret_boolean);

/* The index of the string in names[count], else -EBADMSG. */
MUST_CHECK int json_as_choice(const struct json *value,
			      const char *const names[], size_t count);

/* Refuses an object that lacks one of the keys or has another one. */
MUST_CHECK int json_expect_keys(const struct json *object,
				const char *const keys[], size_t count);

/*
 * Writer: grows by itself; a failure sticks and is told by json_finish().
 * Commas and colons come by themselves. Initialise with {0}.
 */
struct json_writer {
	char *text;
	size_t length;
	size_t capacity;
	bool follows; /* the next value needs a comma before it */
	int err;
};

#define AUTO_WRITER __attribute__((cleanup(json_writer_free)))

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key);
/* Any bytes; what is not UTF-8 is escaped. */
void json_bytes(struct json_writer *w, const char *bytes, size_t length);
void json_string(struct json_writer *w, const char *string);
void json_integer(struct json_writer *w, int64_t integer);
void json_boolean(struct json_writer *w, bool boolean);
void json_null(struct json_writer *w);

/* Opens an object whose first member is "kind". */
void json_open_frame(struct json_writer *w, const char *kind);
/* Key and value at once. */
void json_member_string(struct json_writer *w, const char *key,
			const char *string);
void json_member_integer(struct json_writer *w, const char *key,
			 int64_t integer);

/* 0, or what went wrong on the way (-ENOMEM, -E2BIG). */
MUST_CHECK int json_finish(const struct json_writer *w);
void json_writer_free(struct json_writer *w);

/* Length of the valid UTF-8 sequence at bytes[0], 0 when there is none. */
size_t utf8_sequence(const unsigned char *bytes, size_t length);
