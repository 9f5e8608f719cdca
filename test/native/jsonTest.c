/* json.c: what is taken, what is refused, and bytes there and back. */
#include "common/json.h"
#include "check.h"
#include "common/limits.h"

/* The parsed text, NULL when it is refused; lives until the next call. */
static const struct json *parse(const char *text, size_t length)
{
	static struct json_arena arena;
	static char *copy;
	const struct json *value = NULL;

	json_free(&arena);
	free(copy);
	/* Exactly as long as the text, so that ASan sees one byte too many. */
	copy = malloc(length ? length : 1);
	if (!copy)
		exit(1);
	memcpy(copy, text, length);
	return json_parse(copy, length, &arena, &value) ? NULL : value;
}

static const struct json *parse_string(const char *text)
{
	return parse(text, strlen(text));
}

static void takes_values(void)
{
	const struct json *v = parse_string(
		" {\"a\": [1, -2, 0, \"x\", true, false, null, {}, []]} ");
	const struct json *a = json_member(v, "a");
	int64_t n;

	CHECK(v && v->type == JSON_OBJECT && v->length == 1);
	CHECK(a && a->type == JSON_ARRAY && a->length == 9);
	CHECK(a && json_as_integer(a->first, 1, 1, &n) == 0 && n == 1);
	CHECK(a && json_as_integer(a->first->next, -2, -2, &n) == 0);
	CHECK(json_member(v, "b") == NULL);
	v = parse_string("9007199254740991");
	CHECK(v && v->integer == 9007199254740991);
}

static void refuses_texts(void)
{
	static const char *const texts[] = {
		"",
		" ",
		"{",
		"[",
		"]",
		"[1,]",
		"[1 2]",
		"{,}",
		"{\"a\"}",
		"{\"a\":}",
		"{a:1}",
		"01",
		"-",
		"1.5",
		"1e3",
		"+1",
		"--1",
		"tru",
		"nul",
		"NaN",
		"\"",
		"\"\\x\"",
		"\"\\u12\"",
		"\"\t\"",
		"1 1",
		"[1]x",
		"/**/1",
		"'a'",
		"\xef\xbb\xbf{}",
		"9007199254740992",
		"-9007199254740992",
		"99999999999999999999999999",
		"{\"a\":1,\"a\":2}",
		"{\"a\":1,\"\\u0061\":2}",
		"\"\\u0000\"",
		"\"\\ud800\"",
		"\"\\ud800x\"",
		"\"\\ud800\\u0041\"",
		"\"\\udc00\"",
		"\"\\udc7f\"",
		"\"\\udd00\"",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xe2\x82\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (parse_string(texts[i])) {
			printf("# %s was taken\n", texts[i]);
			check_failed = true;
		}
	CHECK(parse("\"a\0b\"", 5) == NULL);
}

static void decodes_strings(void)
{
	CHECK_STRING(json_as_string(parse_string(
			     "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u20AC\"")),
		     "\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac");
	CHECK_STRING(json_as_string(parse_string("\"\\ud83d\\ude00\"")),
		     "\xf0\x9f\x98\x80");
	CHECK_STRING(json_as_string(parse_string("\"a\\udcff\\udc80b\"")),
		     "a\xff\x80"
		     "b");
}

static void bounds_depth(void)
{
	char text[2 * JSON_DEPTH_MAX + 3];

	memset(text, '[', JSON_DEPTH_MAX);
	memset(text + JSON_DEPTH_MAX, ']', JSON_DEPTH_MAX);
	CHECK(parse(text, 2UL * JSON_DEPTH_MAX));
	memset(text, '[', JSON_DEPTH_MAX + 1);
	memset(text + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
	CHECK(!parse(text, 2UL * JSON_DEPTH_MAX + 2));
}

static void bounds_members(void)
{
	AUTO_WRITER struct json_writer w = { 0 };
	char key[16];

	json_open_object(&w);
	for (int i = 0; i <= JSON_MEMBERS_MAX; i++) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		json_member_integer(&w, key, i);
	}
	json_close_object(&w);
	CHECK(json_finish(&w) == 0 && !parse(w.text, w.length));
}

static void bounds_memory(void)
{
	/* Values are larger than their text: 2 bytes against a struct each. */
	size_t length = (size_t)4 << 20;
	char *text = malloc(length);

	if (!text)
		exit(1);
	for (size_t i = 0; i < length; i++)
		text[i] = i % 2 ? ',' : '0';
	text[0] = '[';
	text[1] = '0';
	text[length - 2] = '0';
	text[length - 1] = ']';
	CHECK(!parse(text, length));
	free(text);
}

static void all_bytes_survive(void)
{
	AUTO_WRITER struct json_writer w = { 0 };
	char bytes[2 * 255 + 4], *at = bytes;

	for (int i = 1; i < 256; i++)
		*at++ = (char)i;
	for (int i = 255; i > 0; i--)
		*at++ = (char)i;
	memcpy(at, "\xe2\x82", 3);
	json_string(&w, bytes);
	CHECK(json_finish(&w) == 0);
	CHECK_STRING(json_as_string(parse(w.text, w.length)), bytes);
}

static void writes_json(void)
{
	static const char wanted[] =
		"{\"kind\":\"k\",\"list\":[-5,true,null,{},"
		"\"\\u0001\\udcff\\u0022\\u005c\"],\"s\":\"\"}";
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "k");
	json_key(&w, "list");
	json_open_array(&w);
	json_integer(&w, -5);
	json_boolean(&w, true);
	json_null(&w);
	json_open_object(&w);
	json_close_object(&w);
	json_bytes(&w, "\x01\xff\"\\", 4);
	json_close_array(&w);
	json_member_string(&w, "s", "");
	json_close_object(&w);
	CHECK(json_finish(&w) == 0);
	CHECK(w.length == strlen(wanted) &&
	      memcmp(w.text, wanted, w.length) == 0);
}

static void exact_keys(void)
{
	static const char *const keys[] = { "a", "b" };

	CHECK(json_expect_keys(parse_string("{\"b\":1,\"a\":2}"), keys, 2) ==
	      0);
	CHECK(json_expect_keys(parse_string("{\"a\":1}"), keys, 2));
	CHECK(json_expect_keys(parse_string("{\"a\":1,\"c\":2}"), keys, 2));
	CHECK(json_expect_keys(parse_string("{\"a\":1,\"b\":2,\"c\":3}"), keys,
			       2));
	CHECK(json_expect_keys(parse_string("[]"), keys, 0));
}

/* xorshift32, Marsaglia 2003: the same numbers in every run. */
static size_t random_below(size_t limit)
{
	static uint32_t state = 1;

	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % limit;
}

/* Bytes of a valid text, changed at random: no crash, no byte too far. */
static void survives_mutations(void)
{
	static const char text[] =
		"{\"kind\":\"plan\",\"a\":[1,-2,{\"x\":\"\\udc80\\ud83d\\ude00"
		"\xc3\xa9\"}],\"b\":{\"c\":true,\"d\":null},\"e\":\"\\n\"}";
	static const char pool[] = "{}[]\",:\\u0d8cef12.-tn \xff\xc3\xe2";
	char mutated[sizeof(text)];
	size_t taken = 0;

	for (int round = 0; round < 50000; round++) {
		size_t length = sizeof(text) - 1;

		memcpy(mutated, text, sizeof(text));
		for (size_t i = 0; i <= random_below(4); i++)
			mutated[random_below(length)] =
				pool[random_below(sizeof(pool) - 1)];
		if (random_below(4) == 0)
			length = random_below(length);
		taken += parse(mutated, length) != NULL;
	}
	CHECK(taken > 100);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "JSON values are taken", takes_values },
		{ "what JSON does not allow, or we do not, is refused",
		  refuses_texts },
		{ "strings are decoded", decodes_strings },
		{ "depth is bounded", bounds_depth },
		{ "the members of an object are bounded", bounds_members },
		{ "the memory of values is bounded", bounds_memory },
		{ "any bytes survive as JSON text", all_bytes_survive },
		{ "values are written as JSON", writes_json },
		{ "an object has exactly the keys it should", exact_keys },
		{ "mutated texts do no harm", survives_mutations },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
