/*
 * Frame to struct plan, see plan.h. Everything the later stages rely on is
 * checked here, once: types, ranges, counts, paths. An unknown key is a
 * refusal, since it could be a promise that we would silently not keep.
 */
#include "plan.h"

#include <arpa/inet.h>
#include <string.h>

#include "../../common/limits.h"
#include "planning.h"

int bad(struct parse *p, const char *what)
{
	*p->what = what;
	return -EBADMSG;
}

bool is_plain_path(const char *path)
{
	const char *at = path;

	if (*path != '/' || strlen(path) >= PATH_BYTES_MAX)
		return false;
	if (path[1] == '\0')
		return true;
	while (*at == '/') {
		size_t length = strcspn(++at, "/");

		if (length == 0 || (length == 1 && at[0] == '.') ||
		    (length == 2 && at[0] == '.' && at[1] == '.'))
			return false;
		at += length;
	}
	return true;
}

bool is_below(const char *path, const char *base)
{
	size_t length = strlen(base);

	if (length == 1)
		return true; /* everything lies below "/" */
	return strncmp(path, base, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/');
}

void *allocate(struct parse *p, size_t count, size_t size)
{
	return json_allocate(p->arena, (count ? count : 1) * size);
}

int check_array(struct parse *p, const struct json *value, size_t max,
		const char *what)
{
	if (!value || value->type != JSON_ARRAY || value->length > max)
		return bad(p, what);
	return 0;
}

int parse_path(struct parse *p, const struct json *value, const char **ret_path)
{
	const char *path = json_as_string(value);

	if (!path || !is_plain_path(path))
		return bad(p, "a path that is not absolute and normalised");
	*ret_path = path;
	return 0;
}

int parse_strings(struct parse *p, const struct json *value,
		  bool (*is_right)(const char *text), size_t max,
		  const char *what, struct strings *ret)
{
	const char **strings;
	int err = check_array(p, value, max, what);

	if (err)
		return err;
	strings = allocate(p, value->length, sizeof(*strings));
	if (!strings)
		return -ENOMEM;
	*ret = (struct strings){ strings, value->length };
	for (const struct json *item = value->first; item; item = item->next) {
		*strings = json_as_string(item);
		if (!*strings || !is_right(*strings++))
			return bad(p, what);
	}
	return 0;
}

/* Mounts */

static int expect_mount_keys(const struct json *value, enum mount_op op)
{
	static const char *const layer[] = { "op", "path", "upper", "work" };
	static const char *const tripwire[] = { "op", "path", "names" };

	if (op == MOUNT_TRIPWIRE)
		return json_expect_keys(value, tripwire, ARRAY_SIZE(tripwire));
	return json_expect_keys(value, layer,
				op == MOUNT_COPY_ON_WRITE ? 4 : 2);
}

static int parse_mount(struct parse *p, const struct json *value,
		       struct planned_mount *mount)
{
	static const char *const ops[] = {
		[MOUNT_PRIVATE] = "private",
		[MOUNT_WRITABLE] = "writable",
		[MOUNT_COPY_ON_WRITE] = "copyOnWrite",
		[MOUNT_PIN] = "pin",
		[MOUNT_PROTECT] = "protect",
		[MOUNT_MASK] = "mask",
		[MOUNT_TRIPWIRE] = "tripwire",
		[MOUNT_GUARD] = "guard",
		[MOUNT_READABLE] = "readable",
	};
	int op = json_as_choice(json_member(value, "op"), ops, ARRAY_SIZE(ops));
	int err;

	if (op < 0)
		return bad(p, "a mount's op");
	mount->op = (enum mount_op)op;
	if (expect_mount_keys(value, mount->op))
		return bad(p, "a mount's keys");
	if (op == MOUNT_TRIPWIRE &&
	    json_as_boolean(json_member(value, "names"), &mount->shows_names))
		return bad(p, "a mount's names");
	err = parse_path(p, json_member(value, "path"), &mount->path);
	if (err || op != MOUNT_COPY_ON_WRITE)
		return err;
	err = parse_path(p, json_member(value, "upper"), &mount->upper);
	if (err)
		return err;
	return parse_path(p, json_member(value, "work"), &mount->work);
}

static int parse_mounts(struct parse *p, const struct json *value,
			struct plan *plan)
{
	struct planned_mount *mounts;
	int err = check_array(p, value, PLAN_MOUNTS_MAX, "mounts");

	if (err)
		return err;
	mounts = allocate(p, value->length, sizeof(*mounts));
	if (!mounts)
		return -ENOMEM;
	plan->mounts = mounts;
	plan->mount_count = value->length;
	for (const struct json *m = value->first; m; m = m->next) {
		err = parse_mount(p, m, mounts++);
		if (err)
			return err;
	}
	return 0;
}

/* Network */

static bool is_host_pattern(const char *host)
{
	if (strcmp(host, "*") == 0)
		return true;
	if (strncmp(host, "*.", 2) == 0)
		host += 2;
	if (strlen(host) > HOST_MAX)
		return false;
	for (;;) {
		size_t length = strspn(host, "abcdefghijklmnopqrstuvwxyz"
					     "0123456789-_");

		if (length == 0)
			return false;
		host += length;
		if (*host == '\0')
			return true;
		if (*host++ != '.')
			return false;
	}
}

/* IPv4-mapped networks are IPv4 ones: addresses are compared that way. */
static void unmap_network(struct ip_network *network)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (network->family != AF_INET6 || network->prefix < 96 ||
	    memcmp(network->bytes, mapped, sizeof(mapped)) != 0)
		return;
	network->family = AF_INET;
	network->prefix -= 96;
	memmove(network->bytes, network->bytes + 12, 4);
	memset(network->bytes + 4, 0, 12);
}

static void clear_host_bits(struct ip_network *network)
{
	for (unsigned bit = network->prefix; bit < 128; bit++)
		network->bytes[bit / 8] &= (unsigned char)~(0x80U >> bit % 8);
}

static int parse_prefix(const char *text, unsigned max, unsigned *ret_prefix)
{
	unsigned prefix = 0;

	if (*text == '\0' || strlen(text) > 3 || (*text == '0' && text[1]))
		return -EBADMSG;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -EBADMSG;
		prefix = prefix * 10 + (unsigned)(*text - '0');
	}
	if (prefix > max)
		return -EBADMSG;
	*ret_prefix = prefix;
	return 0;
}

int parse_ip_network(const char *text, struct ip_network *ret)
{
	char address[INET6_ADDRSTRLEN];
	size_t length = strcspn(text, "/");
	struct ip_network network = { .family = AF_INET, .prefix = 32 };
	int err;

	if (length >= sizeof(address))
		return -EBADMSG;
	memcpy(address, text, length);
	address[length] = '\0';
	if (inet_pton(AF_INET, address, network.bytes) != 1) {
		network.family = AF_INET6;
		network.prefix = 128;
		if (inet_pton(AF_INET6, address, network.bytes) != 1)
			return -EBADMSG;
	}
	if (text[length] == '/') {
		err = parse_prefix(text + length + 1, network.prefix,
				   &network.prefix);
		if (err)
			return err;
	}
	unmap_network(&network);
	clear_host_bits(&network);
	*ret = network;
	return 0;
}

static int parse_port(struct parse *p, const struct json *value,
		      uint16_t *ret_port)
{
	int64_t port;

	if (json_as_integer(value, 1, 65535, &port))
		return bad(p, "a port");
	*ret_port = (uint16_t)port;
	return 0;
}

static int parse_rule(struct parse *p, const struct json *value,
		      struct rule *rule)
{
	static const char *const effects[] = {
		[EFFECT_DENY] = "deny",
		[EFFECT_ALLOW] = "allow",
		[EFFECT_ASK] = "ask",
	};
	static const char *const host_keys[] = { "effect", "host", "ports" };
	static const char *const network_keys[] = { "effect", "network",
						    "ports" };
	bool by_host = json_member(value, "host") != NULL;
	const struct json *ports = json_member(value, "ports");
	int effect = json_as_choice(json_member(value, "effect"), effects,
				    ARRAY_SIZE(effects));
	const char *network = json_as_string(json_member(value, "network"));
	int err;

	if (json_expect_keys(value, by_host ? host_keys : network_keys, 3))
		return bad(p, "a rule's keys");
	if (effect < 0)
		return bad(p, "a rule's effect");
	rule->effect = (enum effect)effect;
	if (by_host) {
		rule->host = json_as_string(json_member(value, "host"));
		if (!rule->host || !is_host_pattern(rule->host))
			return bad(p, "a rule's host");
	} else if (!network || !strchr(network, '/') ||
		   parse_ip_network(network, &rule->network)) {
		return bad(p, "a rule's network");
	}
	if (ports->type != JSON_ARRAY || ports->length != 2)
		return bad(p, "a rule's ports");
	err = parse_port(p, ports->first, &rule->from);
	if (!err)
		err = parse_port(p, ports->first->next, &rule->to);
	if (!err && rule->from > rule->to)
		err = bad(p, "a rule's ports");
	return err;
}

static int parse_rules(struct parse *p, const struct json *value,
		       struct plan *plan)
{
	struct rule *rules;
	int err = check_array(p, value, PLAN_RULES_MAX, "network.rules");

	if (err)
		return err;
	rules = allocate(p, value->length, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	plan->rules = rules;
	plan->rule_count = value->length;
	for (const struct json *r = value->first; r; r = r->next) {
		err = parse_rule(p, r, rules++);
		if (err)
			return err;
	}
	return 0;
}

int parse_ports(struct parse *p, const struct json *value, const char *what,
		const uint16_t **ret_ports, size_t *ret_count)
{
	uint16_t *ports;
	int err = check_array(p, value, PLAN_PORTS_MAX, what);

	if (err)
		return err;
	ports = allocate(p, value->length, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	*ret_ports = ports;
	*ret_count = value->length;
	for (const struct json *port = value->first; port; port = port->next) {
		err = parse_port(p, port, ports++);
		if (err)
			return err;
	}
	return 0;
}

static int parse_network(struct parse *p, const struct json *value,
			 struct plan *plan)
{
	static const char *const keys[] = { "mode", "rules", "hostPorts" };
	static const char *const modes[] = {
		[NETWORK_OFF] = "off",
		[NETWORK_ASK] = "ask",
		[NETWORK_ON] = "on",
	};
	int mode = json_as_choice(json_member(value, "mode"), modes,
				  ARRAY_SIZE(modes));
	int err;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "network's keys");
	if (mode < 0)
		return bad(p, "network.mode");
	plan->network_mode = (enum network_mode)mode;
	err = parse_rules(p, json_member(value, "rules"), plan);
	if (err)
		return err;
	return parse_ports(p, json_member(value, "hostPorts"),
			   "network.hostPorts", &plan->host_ports,
			   &plan->host_port_count);
}

/* Environment */

static bool is_text(const char *text)
{
	return text != NULL;
}

static int parse_variable(struct parse *p, const struct json *value,
			  struct planned_variable *variable)
{
	static const char *const keys[] = { "name", "value", "overwrite" };

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "the keys of a variable");
	variable->name = json_as_string(json_member(value, "name"));
	variable->value = json_as_string(json_member(value, "value"));
	if (!variable->name || !*variable->name || strchr(variable->name, '='))
		return bad(p, "the name of a variable");
	if (!variable->value || json_as_boolean(json_member(value, "overwrite"),
						&variable->overwrite))
		return bad(p, "the value of a variable");
	return 0;
}

static int parse_environment(struct parse *p, const struct json *value,
			     struct plan *plan)
{
	static const char *const keys[] = { "drop", "keep", "set" };
	const struct json *set = json_member(value, "set");
	struct planned_variable *variables;
	int err;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "environment's keys");
	err = parse_strings(p, json_member(value, "drop"), is_text,
			    PLAN_PATTERNS_MAX, "environment.drop", &plan->drop);
	if (!err)
		err = parse_strings(p, json_member(value, "keep"), is_text,
				    PLAN_PATTERNS_MAX, "environment.keep",
				    &plan->keep);
	if (!err)
		err = check_array(p, set, PLAN_PATTERNS_MAX, "environment.set");
	if (err)
		return err;
	variables = allocate(p, set->length, sizeof(*variables));
	if (!variables)
		return -ENOMEM;
	plan->set = variables;
	plan->set_count = set->length;
	for (const struct json *item = set->first; item; item = item->next) {
		err = parse_variable(p, item, variables++);
		if (err)
			return err;
	}
	return 0;
}

/* The rest */

static int parse_limits(struct parse *p, const struct json *value,
			struct plan *plan)
{
	static const char *const keys[] = { "answerMs", "brokerMs" };
	int64_t answer_ms, broker_ms;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)) ||
	    json_as_integer(json_member(value, "answerMs"), 0, PLAN_WAIT_MS_MAX,
			    &answer_ms) ||
	    json_as_integer(json_member(value, "brokerMs"), 0, PLAN_WAIT_MS_MAX,
			    &broker_ms))
		return bad(p, "limits");
	plan->answer_ms = (int)answer_ms;
	plan->broker_ms = (int)broker_ms;
	return 0;
}

static int parse_choices(struct parse *p, const struct json *frame,
			 struct plan *plan)
{
	static const char *const losses[] = { "wait", "end" };
	static const char *const terminals[] = { "inherit", "relay" };
	int loss = json_as_choice(json_member(frame, "brokerLoss"), losses, 2);
	int terminal =
		json_as_choice(json_member(frame, "terminal"), terminals, 2);
	const char *engine = json_as_string(json_member(frame, "engine"));

	if (!engine || strcmp(engine, "namespaces") != 0)
		return bad(p, "engine");
	if (loss < 0)
		return bad(p, "brokerLoss");
	if (terminal < 0)
		return bad(p, "terminal");
	plan->broker_loss_ends = loss == 1;
	plan->terminal_relayed = terminal == 1;
	return 0;
}

int plan_parse(const struct json *frame, struct json_arena *arena,
	       struct plan *ret_plan, const char **ret_what)
{
	static const char *const keys[] = {
		"kind",	   "run",      "engine",      "directory",  "mounts",
		"network", "files",    "sockets",     "publish",    "opens",
		"limits",  "terminal", "environment", "brokerLoss",
	};
	struct parse p = { .arena = arena, .what = ret_what };
	struct plan plan = { .run = json_as_string(json_member(frame, "run")) };
	int err;

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)))
		return bad(&p, "the plan's keys");
	if (!plan.run || !*plan.run || strlen(plan.run) > PLAN_RUN_MAX)
		return bad(&p, "run");
	err = parse_choices(&p, frame, &plan);
	if (!err)
		err = parse_path(&p, json_member(frame, "directory"),
				 &plan.directory);
	if (!err)
		err = parse_mounts(&p, json_member(frame, "mounts"), &plan);
	if (!err)
		err = parse_network(&p, json_member(frame, "network"), &plan);
	if (!err)
		err = parse_accesses(&p, frame, &plan);
	if (!err)
		err = parse_environment(&p, json_member(frame, "environment"),
					&plan);
	if (!err)
		err = parse_limits(&p, json_member(frame, "limits"), &plan);
	if (err)
		return err;
	*ret_plan = plan;
	return 0;
}
