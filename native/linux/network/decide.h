/*
 * Which rule of the plan decides about a connection: the first that matches,
 * else the mode. src/policy/decide.ts decides the same way, and
 * test/fixtures/decisions.json holds both to it. Never touches the system.
 */
#pragma once

#include "address.h"

/* Where a program wants to connect, as it asked for it. */
struct destination {
	const char *host; /* the name it looked up; NULL: a bare address */
	struct ip_address address; /* without a name: the address */
	uint16_t port;
};

enum { RULE_MODE = -1 }; /* no rule matched, the mode decides */

struct decision {
	enum effect effect;
	int rule; /* its index in the plan, or RULE_MODE */
};

struct decision decide(const struct plan *plan, const struct destination *to);

/*
 * The index of the rule that forbids to dial this address, though the name
 * that led to it is allowed; RULE_MODE when none does.
 */
int find_forbidden(const struct plan *plan, const struct ip_address *address,
		   uint16_t port);

/*
 * Whether some port of that name is allowed without a question, so that its
 * lookup may leave the host; *ret_rule is the rule that allows it.
 */
bool may_look_up(const struct plan *plan, const char *host, int *ret_rule);

/* What the rules say of a unix socket of the host: the first, or ask. */
enum effect decide_socket(const struct plan *plan, const char *path);
