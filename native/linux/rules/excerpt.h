/*
 * Text that is shown to a person before it is written somewhere: at most
 * CHANGE_BYTES_MAX, cut at a character, with a last line "…" then.
 */
#pragma once

#include "../../common/cordon.h"

struct excerpt {
	char *text; /* zero-terminated once something was added; malloc(3) */
	size_t length;
	bool is_full;
};

/* Bytes as they are; zero bytes become "?". Without memory: is_full. */
void excerpt_add(struct excerpt *excerpt, const char *bytes, size_t length);
void excerpt_add_text(struct excerpt *excerpt, const char *text);

/* The same on one line: what ends lines is written as \n and \r. */
void excerpt_add_inline(struct excerpt *excerpt, const char *text);

/* Hands the text over, NULL when nothing was added. */
char *excerpt_take(struct excerpt *excerpt);
