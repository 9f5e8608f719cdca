/* requestParse.c: what a program may ask for; decide.c: rules of sockets. */
#include "linux/sockets/requestWish.h"

#include "check.h"

static struct json_arena arena;
static char text[1024];

static int parse(const char *json, struct wish *wish)
{
	const struct json *value;

	json_free(&arena);
	(void)snprintf(text, sizeof(text), "%s", json);
	return json_parse(text, strlen(text), &arena, &value)
		       ?: parse_wish(value, wish);
}

static void takes_wishes(void)
{
	struct wish wish;

	CHECK(parse("{\"access\":\"read\",\"path\":\"/a/b\"}", &wish) == 0);
	CHECK(wish.kind == WISH_PATH && wish.access == ACCESS_READ);
	CHECK_STRING(wish.path, "/a/b");
	CHECK(parse("{\"host\":\"a.test\",\"port\":443}", &wish) == 0);
	CHECK(wish.kind == WISH_CONNECT && wish.to.port == 443);
	CHECK_STRING(wish.to.host, "a.test");
	CHECK(parse("{\"publish\":5173}", &wish) == 0);
	CHECK(wish.kind == WISH_PUBLISH && wish.to.port == 5173);
}

/* A rule about networks must see an address, not a name of digits. */
static void takes_addresses_for_addresses(void)
{
	struct wish wish;

	CHECK(parse("{\"host\":\"127.0.0.1\",\"port\":22}", &wish) == 0);
	CHECK(!wish.to.host && wish.to.address.family == AF_INET);
	CHECK(parse("{\"host\":\"::1\",\"port\":22}", &wish) == 0);
	CHECK(!wish.to.host && wish.to.address.family == AF_INET6);
}

static void refuses_all_else(void)
{
	static const char *const wrong[] = {
		"null",
		"[]",
		"{}",
		"{\"access\":\"read\"}",
		"{\"access\":1,\"path\":\"/a\"}",
		"{\"access\":\"publish\",\"path\":\"/a\"}",
		"{\"access\":\"read\",\"path\":\"a\"}",
		"{\"access\":\"read\",\"path\":\"/a/../b\"}",
		"{\"access\":\"read\",\"path\":\"/a/\"}",
		"{\"access\":\"read\",\"path\":\"/a\",\"host\":\"b\"}",
		"{\"host\":\"a.test\"}",
		"{\"host\":\"a.test\",\"port\":0}",
		"{\"host\":\"a.test\",\"port\":65536}",
		"{\"host\":\"A.test\",\"port\":1}",
		"{\"host\":\"\",\"port\":1}",
		"{\"publish\":65536}",
		"{\"publish\":\"5173\"}",
	};
	struct wish wish;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (parse(wrong[i], &wish) != -EBADMSG) {
			printf("# %s\n", wrong[i]);
			CHECK(!"refused");
		}
}

static void first_socket_rule_decides(void)
{
	static const struct socket_rule rules[] = {
		{ EFFECT_ALLOW, "/run/a/s" },
		{ EFFECT_DENY, "/run/a" },
		{ EFFECT_ASK, "/run/b/c" },
		{ EFFECT_ALLOW, "/run/b" },
	};
	static const struct plan plan = {
		.socket_rules = rules,
		.socket_rule_count = ARRAY_SIZE(rules),
	};

	CHECK(decide_socket(&plan, "/run/a/s") == EFFECT_ALLOW);
	CHECK(decide_socket(&plan, "/run/a/s2") == EFFECT_DENY);
	CHECK(decide_socket(&plan, "/run/a") == EFFECT_DENY);
	CHECK(decide_socket(&plan, "/run/ab") == EFFECT_ASK);
	CHECK(decide_socket(&plan, "/run/b/c/d") == EFFECT_ASK);
	CHECK(decide_socket(&plan, "/run/b/d") == EFFECT_ALLOW);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "paths, hosts and ports can be asked for", takes_wishes },
		{ "an address in digits is no name",
		  takes_addresses_for_addresses },
		{ "what is no wish is refused", refuses_all_else },
		{ "the first rule for a socket's path decides",
		  first_socket_rule_decides },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
