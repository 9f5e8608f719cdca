/* Folding of names, see fold.h. */
#include "fold.h"

#include <string.h>

/*
 * What a casefold folder folds to ASCII besides ASCII itself: the entries of
 * status C and F in Unicode's CaseFolding.txt, and canonical decompositions
 * (kernel: fs/unicode, "NFDICF").
 */
static const struct {
	uint32_t from;
	const char *to;
} foldings[] = {
	{ 0x00df, "ss" }, { 0x017f, "s" },   { 0x1e9e, "ss" },
	{ 0x212a, "k" },  { 0xfb00, "ff" },  { 0xfb01, "fi" },
	{ 0xfb02, "fl" }, { 0xfb03, "ffi" }, { 0xfb04, "ffl" },
	{ 0xfb05, "st" }, { 0xfb06, "st" },
};

/* Default_Ignorable_Code_Point of Unicode, which the same folders leave out. */
static const struct {
	uint32_t from, to;
} ignored[] = {
	{ 0x00ad, 0x00ad },   { 0x034f, 0x034f },   { 0x061c, 0x061c },
	{ 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
	{ 0x200b, 0x200f },   { 0x202a, 0x202e },   { 0x2060, 0x206f },
	{ 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfff8 },   { 0x1bca0, 0x1bca3 },
	{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

/* Bytes of the character at `at`; 1 for what is not UTF-8. */
static size_t decode(const char *at, const char *end, uint32_t *ret_character)
{
	unsigned char first = (unsigned char)*at;
	size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	uint32_t character = first & (0x7fU >> length);

	*ret_character = first;
	if (first < 0xc2 || first > 0xf4 || (size_t)(end - at) < length)
		return 1;
	for (size_t i = 1; i < length; i++) {
		if (((unsigned char)at[i] & 0xc0) != 0x80)
			return 1;
		character = character << 6 | ((unsigned char)at[i] & 0x3f);
	}
	*ret_character = character;
	return length;
}

static bool is_ignored(uint32_t character)
{
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++) {
		if (character >= ignored[i].from && character <= ignored[i].to)
			return true;
	}
	return false;
}

/* What a character of several bytes becomes; NULL: it stays. */
static const char *folding_of(uint32_t character)
{
	for (size_t i = 0; i < ARRAY_SIZE(foldings); i++) {
		if (foldings[i].from == character)
			return foldings[i].to;
	}
	return is_ignored(character) ? "" : NULL;
}

static char lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* No folding is longer than its character, so the name's room is enough. */
void fold_name(const char *name, size_t length, char ret[NAME_BYTES_MAX])
{
	const char *end =
		name + (length < NAME_BYTES_MAX ? length : NAME_BYTES_MAX - 1);
	size_t written = 0;

	for (size_t step; name < end; name += step) {
		const char *folding = NULL;
		uint32_t character;

		step = decode(name, end, &character);
		if (step > 1)
			folding = folding_of(character);
		if (folding) {
			memcpy(ret + written, folding, strlen(folding));
			written += strlen(folding);
			continue;
		}
		for (size_t i = 0; i < step; i++)
			ret[written++] = lower(name[i]);
	}
	while (written > 1 &&
	       (ret[written - 1] == '.' || ret[written - 1] == ' '))
		written--;
	ret[written] = '\0';
}

bool is_short_name(const char *folded)
{
	for (; (folded = strchr(folded, '~')); folded++) {
		if (folded[1] >= '0' && folded[1] <= '9')
			return true;
	}
	return false;
}
