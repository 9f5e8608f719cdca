/* Which rule decides, see decide.h. */
#include "decide.h"

#include <string.h>

enum { PORT_WORDS = 65536 / 64 };

static bool host_matches(const char *pattern, const char *host)
{
	size_t host_length, suffix_length;

	if (pattern[0] != '*')
		return strcmp(pattern, host) == 0;
	if (pattern[1] == '\0')
		return true;
	host_length = strlen(host);
	suffix_length = strlen(pattern + 1); /* ".x", which x itself lacks */
	return host_length > suffix_length &&
	       strcmp(host + host_length - suffix_length, pattern + 1) == 0;
}

static bool rule_matches(const struct rule *rule, const struct destination *to)
{
	if (to->port < rule->from || to->port > rule->to)
		return false;
	if (to->host)
		return rule->host && host_matches(rule->host, to->host);
	if (rule->host)
		return strcmp(rule->host, "*") == 0;
	return address_within(&to->address, &rule->network);
}

static enum effect effect_of_mode(enum network_mode mode)
{
	switch (mode) {
	case NETWORK_ON:
		return EFFECT_ALLOW;
	case NETWORK_ASK:
		return EFFECT_ASK;
	case NETWORK_OFF:
		break;
	}
	return EFFECT_DENY;
}

struct decision decide(const struct plan *plan, const struct destination *to)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if (rule_matches(&plan->rules[i], to))
			return (struct decision){ plan->rules[i].effect,
						  (int)i };
	return (struct decision){ effect_of_mode(plan->network_mode),
				  RULE_MODE };
}

int find_forbidden(const struct plan *plan, const struct ip_address *address,
		   uint16_t port)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct rule *rule = &plan->rules[i];

		if (rule->effect == EFFECT_DENY && !rule->host &&
		    port >= rule->from && port <= rule->to &&
		    address_within(address, &rule->network))
			return (int)i;
	}
	return RULE_MODE;
}

/* Marks from…to as decided; whether one of them was not decided before. */
static bool take_ports(uint64_t decided[PORT_WORDS], unsigned from, unsigned to)
{
	uint64_t mask, fresh = 0;

	for (unsigned word = from / 64; word <= to / 64; word++) {
		mask = ~UINT64_C(0);
		if (word == from / 64)
			mask &= ~UINT64_C(0) << from % 64;
		if (word == to / 64)
			mask &= ~UINT64_C(0) >> (63 - to % 64);
		fresh |= mask & ~decided[word];
		decided[word] |= mask;
	}
	return fresh != 0;
}

bool may_look_up(const struct plan *plan, const char *host, int *ret_rule)
{
	uint64_t decided[PORT_WORDS] = { 0 };

	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct rule *rule = &plan->rules[i];

		if (!rule->host || !host_matches(rule->host, host) ||
		    !take_ports(decided, rule->from, rule->to) ||
		    rule->effect != EFFECT_ALLOW)
			continue;
		*ret_rule = (int)i;
		return true;
	}
	if (plan->network_mode != NETWORK_ON || !take_ports(decided, 1, 65535))
		return false;
	*ret_rule = RULE_MODE;
	return true;
}

enum effect decide_socket(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->socket_rule_count; i++)
		if (is_below(path, plan->socket_rules[i].path))
			return plan->socket_rules[i].effect;
	return EFFECT_ASK;
}
