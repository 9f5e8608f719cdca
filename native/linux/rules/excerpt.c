/* Text to show, see excerpt.h. */
#include "excerpt.h"

#include <string.h>

#include "../../common/limits.h"

static const char ellipsis[] = "\n…\n";

/* Takes the end back to before a character that was cut. */
static size_t whole_characters(const char *text, size_t length)
{
	size_t back = 0;

	while (back < 3 && back < length &&
	       ((unsigned char)text[length - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back < length && (unsigned char)text[length - 1 - back] >= 0xc0)
		return length - 1 - back;
	return length;
}

static void close_full(struct excerpt *e)
{
	e->length = whole_characters(e->text, e->length);
	memcpy(e->text + e->length, ellipsis, sizeof(ellipsis));
	e->length += sizeof(ellipsis) - 1;
	e->is_full = true;
}

void excerpt_add(struct excerpt *e, const char *bytes, size_t length)
{
	size_t room;

	if (e->is_full || length == 0)
		return;
	if (!e->text)
		e->text = malloc(CHANGE_BYTES_MAX);
	if (!e->text) {
		e->is_full = true;
		return;
	}
	room = CHANGE_BYTES_MAX - sizeof(ellipsis) - e->length;
	for (size_t i = 0; i < length && i < room; i++) {
		e->text[e->length] = bytes[i];
		if (bytes[i] == '\0')
			e->text[e->length] = '?';
		e->length++;
	}
	if (length > room)
		close_full(e);
	e->text[e->length] = '\0';
}

void excerpt_add_text(struct excerpt *e, const char *text)
{
	excerpt_add(e, text, strlen(text));
}

void excerpt_add_inline(struct excerpt *e, const char *text)
{
	while (*text) {
		size_t plain = strcspn(text, "\n\r");

		excerpt_add(e, text, plain);
		text += plain;
		if (*text)
			excerpt_add_text(e, *text++ == '\n' ? "\\n" : "\\r");
	}
}

char *excerpt_take(struct excerpt *e)
{
	return TAKE(e->text);
}
