/*
 * git's configuration syntax, see gitConfig.h. The grammar is that of
 * git-config(1); where the page is silent the tests ask git itself
 * (test/native/gitConfigTest.c): a file that git reads must give the same
 * entries here, or be refused.
 */
#include "gitConfig.h"

#include <string.h>

#include "../../common/limits.h"

struct reader {
	const unsigned char *at, *end;
	bool ended; /* the line end that was given last is the file's */
	char *out;  /* where the next string goes */
	struct config *config;
	size_t capacity;
};

static bool is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_key_character(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static char lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* CR LF is a line end, and so is the end of the file. */
static int next_character(struct reader *r)
{
	if (r->at == r->end) {
		r->ended = true;
		return '\n';
	}
	if (r->at[0] == '\r' && (r->at + 1 == r->end || r->at[1] == '\n')) {
		bool is_line_end = r->at + 1 < r->end;

		r->at += is_line_end ? 2 : 1;
		return is_line_end ? '\n' : '\r';
	}
	return *r->at++;
}

static void put(struct reader *r, char c)
{
	*r->out++ = c;
}

/* Between the quotes of [section "subsection"], and the bracket after them. */
static int read_quoted_subsection(struct reader *r)
{
	for (;;) {
		int c = next_character(r);

		if (c == '"')
			break;
		if (c == '\\')
			c = next_character(r);
		if (c == '\n')
			return -EBADMSG;
		put(r, (char)c);
	}
	return next_character(r) == ']' ? 0 : -EBADMSG;
}

static int read_subsection(struct reader *r, int c)
{
	while (is_blank(c)) {
		if (c == '\n')
			return -EBADMSG;
		c = next_character(r);
	}
	if (c != '"')
		return -EBADMSG;
	put(r, '.');
	return read_quoted_subsection(r);
}

/* The old form [a.b] is section a and subsection b, both in lower case. */
static void split_section(char *name, struct config_entry *ret)
{
	char *dot = strchr(name, '.');

	ret->section = name;
	ret->subsection = NULL;
	if (dot) {
		*dot = '\0';
		ret->subsection = dot + 1;
	}
}

/* After the opening bracket. */
static int read_section(struct reader *r, struct config_entry *ret)
{
	char *name = r->out;

	for (;;) {
		int c = next_character(r);

		if (c == ']')
			break;
		if (is_blank(c) && !r->ended) {
			int err = read_subsection(r, c);

			if (err)
				return err;
			break;
		}
		if (!is_key_character(c) && c != '.')
			return -EBADMSG;
		put(r, lower(c));
	}
	put(r, '\0');
	split_section(name, ret);
	return 0;
}

/* What a backslash and `c` stand for; -1 for nothing. */
static int unescape(int c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return -1;
	}
}

/* Blanks inside of a value are blanks; those at its ends are dropped. */
static int read_value(struct reader *r)
{
	const char *begin = r->out;
	bool is_quoted = false, is_comment = false;
	size_t blanks = 0;

	for (;;) {
		int c = next_character(r);

		if (c == '\n')
			break;
		if (is_comment)
			continue;
		if (is_blank(c) && !is_quoted) {
			blanks += r->out != begin;
			continue;
		}
		if ((c == ';' || c == '#') && !is_quoted) {
			is_comment = true;
			continue;
		}
		for (; blanks; blanks--)
			put(r, ' ');
		if (c == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (c == '\\') {
			c = next_character(r);
			if (c == '\n')
				continue;
			c = unescape(c);
			if (c < 0)
				return -EBADMSG;
		}
		put(r, (char)c);
	}
	put(r, '\0');
	return is_quoted ? -EBADMSG : 0;
}

static int append(struct reader *r, const struct config_entry *entry)
{
	struct config *config = r->config;

	if (config->count == CONFIG_ENTRIES_MAX)
		return -E2BIG;
	if (config->count == r->capacity) {
		size_t capacity = r->capacity ? 2 * r->capacity : 64;
		void *entries = realloc(config->entries,
					capacity * sizeof(*config->entries));

		if (!entries)
			return -ENOMEM;
		config->entries = entries;
		r->capacity = capacity;
	}
	config->entries[config->count++] = *entry;
	return 0;
}

/* A line "name = value", of which `first` is read already. */
static int read_entry(struct reader *r, int first, struct config_entry entry)
{
	int c, err;

	entry.name = r->out;
	put(r, lower(first));
	while (is_key_character(c = next_character(r)))
		put(r, lower(c));
	put(r, '\0');
	while (c == ' ' || c == '\t')
		c = next_character(r);
	if (c == '\n')
		return append(r, &entry);
	if (c != '=')
		return -EBADMSG;
	entry.value = r->out;
	err = read_value(r);
	return err ? err : append(r, &entry);
}

static void skip_comment(struct reader *r)
{
	while (next_character(r) != '\n')
		;
}

static int read_all(struct reader *r)
{
	struct config_entry section = { .section = "" };

	for (;;) {
		int c = next_character(r);
		int err = 0;

		if (r->ended)
			return 0;
		if (is_blank(c))
			continue;
		if (c == '#' || c == ';')
			skip_comment(r);
		else if (c == '[')
			err = read_section(r, &section);
		else if (is_letter(c))
			err = read_entry(r, c, section);
		else
			err = -EBADMSG;
		if (err)
			return err;
	}
}

int config_parse(const char *bytes, size_t length, struct config *ret)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	struct config config = { 0 };
	struct reader r = { .config = &config };
	int err;

	if (length > CONTENT_BYTES_MAX)
		return -E2BIG;
	if (memchr(bytes, '\0', length))
		return -EBADMSG;
	/* No string is longer than its source, but for its zero. */
	config.text = malloc(2 * length + 2);
	if (!config.text)
		return -ENOMEM;
	if (length >= 3 && memcmp(bytes, mark, 3) == 0) {
		bytes += 3;
		length -= 3;
	}
	r.at = (const unsigned char *)bytes;
	r.end = r.at + length;
	r.out = config.text;
	err = read_all(&r);
	if (err) {
		config_free(&config);
		return err;
	}
	*ret = config;
	return 0;
}

void config_free(struct config *config)
{
	free(config->entries);
	free(config->text);
	*config = (struct config){ 0 };
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_entry(const struct config_entry *a,
		       const struct config_entry *b)
{
	return same_text(a->name, b->name) && same_text(a->value, b->value) &&
	       same_text(a->section, b->section) &&
	       same_text(a->subsection, b->subsection);
}

/* Index of `entry` in `config` from `from` on; the count when it is absent. */
static size_t find_entry(const struct config *config, size_t from,
			 const struct config_entry *entry)
{
	while (from < config->count &&
	       !same_entry(&config->entries[from], entry))
		from++;
	return from;
}

bool config_adds_nothing(const struct config *old, const struct config *fresh,
			 const struct config_place *place)
{
	size_t next = 0;

	for (size_t i = 0; i < fresh->count; i++) {
		const struct config_entry *entry = &fresh->entries[i];

		if (config_is_harmless(entry, place))
			continue;
		next = find_entry(old, next, entry);
		if (next == old->count)
			return false;
		next++;
	}
	return true;
}

static void write_entry(struct excerpt *excerpt, const char *sign,
			const struct config_entry *entry)
{
	excerpt_add_text(excerpt, sign);
	if (*entry->section) {
		excerpt_add_text(excerpt, entry->section);
		excerpt_add_text(excerpt, ".");
	}
	if (entry->subsection) {
		excerpt_add_inline(excerpt, entry->subsection);
		excerpt_add_text(excerpt, ".");
	}
	excerpt_add_text(excerpt, entry->name);
	if (entry->value) {
		excerpt_add_text(excerpt, " = ");
		excerpt_add_inline(excerpt, entry->value);
	}
	excerpt_add_text(excerpt, "\n");
}

void config_write_changes(const struct config *old, const struct config *fresh,
			  struct excerpt *excerpt)
{
	size_t next = 0;

	for (size_t i = 0; i < fresh->count; i++) {
		size_t same = find_entry(old, next, &fresh->entries[i]);

		if (same == old->count) {
			write_entry(excerpt, "+ ", &fresh->entries[i]);
			continue;
		}
		for (; next < same; next++)
			write_entry(excerpt, "- ", &old->entries[next]);
		next = same + 1;
	}
	for (; next < old->count; next++)
		write_entry(excerpt, "- ", &old->entries[next]);
}
