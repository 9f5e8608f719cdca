/* decide.c against the vectors that src/policy/decide.ts is held to as well. */
#include "linux/network/decide.h"
#include "check.h"

static struct json_arena arena;

static enum effect effect_of(const char *name)
{
	static const char *const names[] = { [EFFECT_DENY] = "deny",
					     [EFFECT_ALLOW] = "allow",
					     [EFFECT_ASK] = "ask" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (name && strcmp(name, names[i]) == 0)
			return (enum effect)i;
	printf("# unknown effect %s\n", name ? name : "(null)");
	exit(1);
}

static int64_t number(const struct json *value)
{
	int64_t result;

	if (json_as_integer(value, 0, 65535, &result)) {
		printf("# not a number\n");
		exit(1);
	}
	return result;
}

static void read_rule(const struct json *from, struct rule *rule)
{
	const struct json *ports = json_member(from, "ports");
	const char *network = json_as_string(json_member(from, "network"));

	rule->effect = effect_of(json_as_string(json_member(from, "effect")));
	rule->host = json_as_string(json_member(from, "host"));
	rule->from = (uint16_t)number(ports->first);
	rule->to = (uint16_t)number(ports->first->next);
	CHECK(rule->host || parse_ip_network(network, &rule->network) == 0);
}

static void read_plan(const struct json *vector, struct plan *plan)
{
	static const char *const modes[] = { [NETWORK_OFF] = "off",
					     [NETWORK_ASK] = "ask",
					     [NETWORK_ON] = "on" };
	const struct json *list = json_member(vector, "rules");
	struct rule *rules =
		json_allocate(&arena, (list->length + 1) * sizeof(*rules));
	int mode = json_as_choice(json_member(vector, "mode"), modes,
				  ARRAY_SIZE(modes));

	CHECK(mode >= 0);
	*plan = (struct plan){ .network_mode = (enum network_mode)mode,
			       .rules = rules,
			       .rule_count = list->length };
	for (const struct json *rule = list->first; rule; rule = rule->next)
		read_rule(rule, rules++);
}

static struct decision judge(const struct plan *plan, const struct json *vector)
{
	const char *address = json_as_string(json_member(vector, "address"));
	struct destination to = {
		.host = json_as_string(json_member(vector, "host")),
	};
	struct decision result = { EFFECT_DENY, RULE_MODE };

	if (address)
		CHECK(address_parse(address, &to.address) == 0);
	if (json_member(vector, "lookup")) {
		if (may_look_up(plan, to.host, &result.rule))
			result.effect = EFFECT_ALLOW;
		else
			result.rule = RULE_MODE;
		return result;
	}
	to.port = (uint16_t)number(json_member(vector, "port"));
	if (!json_member(vector, "dial"))
		return decide(plan, &to);
	result.rule = find_forbidden(plan, &to.address, to.port);
	if (result.rule == RULE_MODE)
		result.effect = EFFECT_ALLOW;
	return result;
}

static void try_vector(const struct json *vector)
{
	const struct json *rule = json_member(vector, "rule");
	int wanted_rule =
		rule->type == JSON_NULL ? RULE_MODE : (int)rule->integer;
	enum effect wanted =
		effect_of(json_as_string(json_member(vector, "effect")));
	struct decision decision;
	struct plan plan;

	read_plan(vector, &plan);
	decision = judge(&plan, vector);
	if (decision.effect == wanted &&
	    (decision.rule == wanted_rule ||
	     (json_member(vector, "lookup") && wanted == EFFECT_DENY)))
		return;
	printf("# %s: effect %d, rule %d\n",
	       json_as_string(json_member(vector, "name")), decision.effect,
	       decision.rule);
	check_failed = true;
}

static void shared_vectors(void)
{
	const struct json *vectors;
	size_t length;
	char *text = check_read_file("test/fixtures/decisions.json", &length);

	CHECK(json_parse(text, length, &arena, &vectors) == 0);
	CHECK(vectors->length > 50);
	for (const struct json *v = vectors->first; v; v = v->next)
		try_vector(v);
	json_free(&arena);
	free(text);
}

static void lookup_port_by_port(void)
{
	struct rule rules[] = {
		{ .effect = EFFECT_DENY,
		  .host = "a.test",
		  .from = 1,
		  .to = 63 },
		{ .effect = EFFECT_ASK, .host = "*", .from = 64, .to = 127 },
		{ .effect = EFFECT_ALLOW,
		  .host = "*.test",
		  .from = 1,
		  .to = 127 },
		{ .effect = EFFECT_ALLOW,
		  .host = "a.test",
		  .from = 5,
		  .to = 128 },
	};
	struct plan plan = { .network_mode = NETWORK_OFF,
			     .rules = rules,
			     .rule_count = 3 };
	int rule = 99;

	/* Every port that rule 2 would allow is decided before it. */
	CHECK(!may_look_up(&plan, "a.test", &rule));
	CHECK(may_look_up(&plan, "b.test", &rule) && rule == 2);
	plan.rule_count = 4; /* port 128 alone is new */
	CHECK(may_look_up(&plan, "a.test", &rule) && rule == 3);
	plan.rule_count = 3;
	plan.network_mode = NETWORK_ON;
	CHECK(may_look_up(&plan, "a.test", &rule) && rule == RULE_MODE);
	rules[0].to = 65535;
	CHECK(!may_look_up(&plan, "a.test", &rule));
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "C decides as the shared vectors say", shared_vectors },
		{ "a lookup leaves only for a port that is allowed",
		  lookup_port_by_port },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
