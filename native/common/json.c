/*
 * JSON in and out, see json.h. Turns bytes into values and values into bytes,
 * and nothing else; fuzzed by test/native.
 */
#include "json.h"

#include <stdio.h>
#include <string.h>

#include "limits.h"

static const int64_t INTEGER_MAX = (INT64_C(1) << 53) - 1;

/* Arena */

enum { CHUNK_BYTES = 64 << 10 };

struct json_chunk {
	struct json_chunk *next;
	size_t size;
	max_align_t memory[];
};

void *json_allocate(struct json_arena *arena, size_t size)
{
	struct json_chunk *chunk = arena->chunks;
	size_t rounded, capacity;

	if (size > JSON_MEMORY_MAX)
		return NULL;
	rounded = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	if (!chunk || chunk->size - arena->used < rounded) {
		capacity = rounded > CHUNK_BYTES ? rounded : CHUNK_BYTES;
		if (capacity > JSON_MEMORY_MAX - arena->total)
			return NULL;
		chunk = calloc(1, sizeof(*chunk) + capacity);
		if (!chunk)
			return NULL;
		chunk->size = capacity;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
		arena->total += capacity;
		arena->used = 0;
	}
	arena->used += rounded;
	return (char *)chunk->memory + arena->used - rounded;
}

void json_free(struct json_arena *arena)
{
	struct json_chunk *next;

	for (struct json_chunk *chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*arena = (struct json_arena){ 0 };
}

/* UTF-8, RFC 3629 */

size_t utf8_sequence(const unsigned char *bytes, size_t length)
{
	unsigned char first, low = 0x80, high = 0xbf;
	size_t count;

	if (length == 0)
		return 0;
	first = bytes[0];
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	count = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (count > length)
		return 0;
	if (first == 0xe0)
		low = 0xa0; /* no overlong forms */
	else if (first == 0xed)
		high = 0x9f; /* no surrogates */
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f; /* up to U+10FFFF */
	if (bytes[1] < low || bytes[1] > high)
		return 0;
	for (size_t i = 2; i < count; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return count;
}

static size_t encode_utf8(unsigned code, char *to)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Reader */

struct reader {
	char *at, *end;
	struct json_arena *arena;
};

static void skip_space(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\n\r", *r->at) && *r->at)
		r->at++;
}

static bool take(struct reader *r, char wanted)
{
	skip_space(r);
	if (r->at == r->end || *r->at != wanted)
		return false;
	r->at++;
	return true;
}

static int read_hex4(struct reader *r, unsigned *ret_code)
{
	unsigned code = 0;

	if (r->end - r->at < 4)
		return -EBADMSG;
	for (int i = 0; i < 4; i++) {
		char c = *r->at++;

		code <<= 4;
		if (c >= '0' && c <= '9')
			code |= (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			code |= (unsigned)((c | 0x20) - 'a' + 10);
		else
			return -EBADMSG;
	}
	*ret_code = code;
	return 0;
}

/* After "\u": one code point, or the byte that a lone surrogate stands for. */
static int read_unicode(struct reader *r, char **to)
{
	unsigned code, low;
	int err;

	err = read_hex4(r, &code);
	if (err)
		return err;
	if (code >= 0xd800 && code <= 0xdbff) {
		if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u')
			return -EBADMSG;
		r->at += 2;
		err = read_hex4(r, &low);
		if (err)
			return err;
		if (low < 0xdc00 || low > 0xdfff)
			return -EBADMSG;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	} else if (code >= 0xdc80 && code <= 0xdcff) {
		*(*to)++ = (char)(code - 0xdc00);
		return 0;
	} else if (code == 0 || (code >= 0xdc00 && code <= 0xdfff)) {
		return -EBADMSG;
	}
	*to += encode_utf8(code, *to);
	return 0;
}

static int read_escape(struct reader *r, char **to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c;

	if (r->at == r->end)
		return -EBADMSG;
	c = *r->at++;
	if (c == 'u')
		return read_unicode(r, to);
	found = c ? strchr(from, c) : NULL;
	if (!found)
		return -EBADMSG;
	*(*to)++ = into[found - from];
	return 0;
}

/* After the opening quote. Decodes in place: never longer than its source. */
static int read_string(struct reader *r, const char **ret_string,
		       size_t *ret_length)
{
	char *start = r->at, *to = r->at;
	size_t count;
	int err;

	while (r->at < r->end && *r->at != '"') {
		if ((unsigned char)*r->at < 0x20)
			return -EBADMSG;
		if (*r->at == '\\') {
			r->at++;
			err = read_escape(r, &to);
			if (err)
				return err;
			continue;
		}
		count = utf8_sequence((const unsigned char *)r->at,
				      (size_t)(r->end - r->at));
		if (count == 0)
			return -EBADMSG;
		if (to != r->at)
			memmove(to, r->at, count);
		to += count;
		r->at += count;
	}
	if (r->at == r->end)
		return -EBADMSG;
	r->at++;
	*to = '\0'; /* at the latest where the closing quote was */
	*ret_string = start;
	*ret_length = (size_t)(to - start);
	return 0;
}

static int read_integer(struct reader *r, int64_t *ret_integer)
{
	bool negative = *r->at == '-';
	int64_t value = 0;

	if (negative)
		r->at++;
	if (r->at == r->end || *r->at < '0' || *r->at > '9')
		return -EBADMSG;
	if (*r->at == '0' && r->end - r->at > 1 && r->at[1] >= '0' &&
	    r->at[1] <= '9')
		return -EBADMSG;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
		value = value * 10 + (*r->at++ - '0');
		if (value > INTEGER_MAX)
			return -EBADMSG;
	}
	if (r->at < r->end && strchr(".eE", *r->at) && *r->at)
		return -EBADMSG; /* no field of ours is a fraction */
	*ret_integer = negative ? -value : value;
	return 0;
}

static bool take_word(struct reader *r, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(r->end - r->at) < length ||
	    memcmp(r->at, word, length) != 0)
		return false;
	r->at += length;
	return true;
}

static int read_value(struct reader *r, int depth, struct json *value);

static int read_key(struct reader *r, const struct json *object,
		    const char **ret_key)
{
	size_t length;
	int err;

	if (object->length == JSON_MEMBERS_MAX)
		return -E2BIG;
	if (!take(r, '"'))
		return -EBADMSG;
	err = read_string(r, ret_key, &length);
	if (err)
		return err;
	for (const struct json *m = object->first; m; m = m->next)
		if (strcmp(m->key, *ret_key) == 0)
			return -EBADMSG;
	return take(r, ':') ? 0 : -EBADMSG;
}

/* After the opening bracket, up to and with the closing one. */
static int read_entries(struct reader *r, int depth, struct json *holder)
{
	char closing = holder->type == JSON_ARRAY ? ']' : '}';
	struct json *last = NULL, *entry;
	const char *key = NULL;
	int err;

	if (depth == JSON_DEPTH_MAX)
		return -E2BIG;
	if (take(r, closing))
		return 0;
	do {
		if (holder->type == JSON_OBJECT) {
			err = read_key(r, holder, &key);
			if (err)
				return err;
		}
		entry = json_allocate(r->arena, sizeof(*entry));
		if (!entry)
			return -ENOMEM;
		entry->key = key;
		err = read_value(r, depth + 1, entry);
		if (err)
			return err;
		if (last)
			last->next = entry;
		else
			holder->first = entry;
		last = entry;
		holder->length++;
	} while (take(r, ','));
	return take(r, closing) ? 0 : -EBADMSG;
}

static int read_value(struct reader *r, int depth, struct json *value)
{
	skip_space(r);
	if (r->at == r->end)
		return -EBADMSG;
	switch (*r->at) {
	case '{':
	case '[':
		value->type = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
		r->at++;
		return read_entries(r, depth, value);
	case '"':
		value->type = JSON_STRING;
		r->at++;
		return read_string(r, &value->string, &value->length);
	case 't':
	case 'f':
		value->type = JSON_BOOLEAN;
		value->boolean = *r->at == 't';
		return take_word(r, value->boolean ? "true" : "false")
			       ? 0
			       : -EBADMSG;
	case 'n':
		value->type = JSON_NULL;
		return take_word(r, "null") ? 0 : -EBADMSG;
	default:
		value->type = JSON_INTEGER;
		return read_integer(r, &value->integer);
	}
}

int json_parse(char *text, size_t length, struct json_arena *arena,
	       const struct json **ret_value)
{
	struct reader r = { .at = text, .end = text + length, .arena = arena };
	struct json *value = json_allocate(arena, sizeof(*value));
	int err;

	if (!value)
		return -ENOMEM;
	err = read_value(&r, 0, value);
	if (err)
		return err;
	skip_space(&r);
	if (r.at != r.end)
		return -EBADMSG;
	*ret_value = value;
	return 0;
}

/* Looking at values */

const struct json *json_member(const struct json *object, const char *key)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (const struct json *m = object->first; m; m = m->next)
		if (strcmp(m->key, key) == 0)
			return m;
	return NULL;
}

const char *json_as_string(const struct json *value)
{
	return value && value->type == JSON_STRING ? value->string : NULL;
}

int json_as_integer(const struct json *value, int64_t from, int64_t to,
		    int64_t *ret_integer)
{
	if (!value || value->type != JSON_INTEGER || value->integer < from ||
	    value->integer > to)
		return -EBADMSG;
	*ret_integer = value->integer;
	return 0;
}

int json_as_boolean(const struct json *value, bool *ret_boolean)
{
	if (!value || value->type != JSON_BOOLEAN)
		return -EBADMSG;
	*ret_boolean = value->boolean;
	return 0;
}

int json_as_choice(const struct json *value, const char *const names[],
		   size_t count)
{
	const char *string = json_as_string(value);

	for (size_t i = 0; string && i < count; i++)
		if (strcmp(string, names[i]) == 0)
			return (int)i;
	return -EBADMSG;
}

int json_expect_keys(const struct json *object, const char *const keys[],
		     size_t count)
{
	if (!object || object->type != JSON_OBJECT || object->length != count)
		return -EBADMSG;
	for (size_t i = 0; i < count; i++)
		if (!json_member(object, keys[i]))
			return -EBADMSG;
	return 0;
}

/* Writer */

static void append(struct json_writer *w, const char *bytes, size_t length)
{
	size_t capacity = w->capacity ? w->capacity : 256;
	char *grown;

	if (w->err)
		return;
	if (length > FRAME_PLAN_MAX || w->length + length > FRAME_PLAN_MAX) {
		w->err = -E2BIG;
		return;
	}
	while (capacity < w->length + length)
		capacity *= 2;
	if (capacity != w->capacity) {
		grown = realloc(w->text, capacity);
		if (!grown) {
			w->err = -ENOMEM;
			return;
		}
		w->text = grown;
		w->capacity = capacity;
	}
	memcpy(w->text + w->length, bytes, length);
	w->length += length;
}

static void append_value(struct json_writer *w, const char *text)
{
	if (w->follows)
		append(w, ",", 1);
	append(w, text, strlen(text));
	w->follows = true;
}

void json_open_object(struct json_writer *w)
{
	append_value(w, "{");
	w->follows = false;
}

void json_close_object(struct json_writer *w)
{
	append(w, "}", 1);
	w->follows = true;
}

void json_open_array(struct json_writer *w)
{
	append_value(w, "[");
	w->follows = false;
}

void json_close_array(struct json_writer *w)
{
	append(w, "]", 1);
	w->follows = true;
}

void json_key(struct json_writer *w, const char *key)
{
	json_string(w, key);
	append(w, ":", 1);
	w->follows = false;
}

static void append_escaped(struct json_writer *w, unsigned code)
{
	char text[8];

	(void)snprintf(text, sizeof(text), "\\u%04x", code);
	append(w, text, 6);
}

void json_bytes(struct json_writer *w, const char *bytes, size_t length)
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t plain = 0, count;

	append_value(w, "\"");
	for (size_t i = 0; i < length; i += count) {
		count = utf8_sequence(at + i, length - i);
		if (count && at[i] >= 0x20 && at[i] != '"' && at[i] != '\\')
			continue;
		append(w, bytes + plain, i - plain);
		if (count == 0)
			append_escaped(w, 0xdc00U + at[i]);
		else
			append_escaped(w, at[i]);
		count = 1;
		plain = i + 1;
	}
	append(w, bytes + plain, length - plain);
	append(w, "\"", 1);
}

void json_string(struct json_writer *w, const char *string)
{
	json_bytes(w, string, strlen(string));
}

void json_integer(struct json_writer *w, int64_t integer)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", (long long)integer);
	append_value(w, text);
}

void json_boolean(struct json_writer *w, bool boolean)
{
	append_value(w, boolean ? "true" : "false");
}

void json_null(struct json_writer *w)
{
	append_value(w, "null");
}

void json_open_frame(struct json_writer *w, const char *kind)
{
	json_open_object(w);
	json_member_string(w, "kind", kind);
}

void json_member_string(struct json_writer *w, const char *key,
			const char *string)
{
	json_key(w, key);
	json_string(w, string);
}

void json_member_integer(struct json_writer *w, const char *key,
			 int64_t integer)
{
	json_key(w, key);
	json_integer(w, integer);
}

int json_finish(const struct json_writer *w)
{
	return w->err;
}

void json_writer_free(struct json_writer *w)
{
	free(w->text);
	*w = (struct json_writer){ 0 };
}
