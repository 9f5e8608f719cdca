/*
 * The plan: what the launcher is to do, as in PROTOCOL.md. It is parsed and
 * checked completely before the first privileged act; whoever holds a
 * struct plan need not look again. Never touches the system.
 */
#pragma once

#include <netinet/in.h>

#include "../common/json.h"

enum mount_op {
	MOUNT_PRIVATE,
	MOUNT_WRITABLE,
	MOUNT_COPY_ON_WRITE,
	MOUNT_PIN,
	MOUNT_PROTECT,
	MOUNT_MASK,
};

struct planned_mount {
	enum mount_op op;
	const char *path; /* absolute, no "." or "..", no trailing slash */
	const char *upper, *work; /* copyOnWrite only */
};

enum effect { EFFECT_DENY, EFFECT_ALLOW, EFFECT_ASK };
enum network_mode { NETWORK_OFF, NETWORK_ASK, NETWORK_ON };

struct ip_network {
	sa_family_t family;	 /* AF_INET, AF_INET6 (mapped IPv4: AF_INET) */
	unsigned char bytes[16]; /* network order, host bits are zero */
	unsigned prefix;	 /* 0 … 32 or 0 … 128 */
};

struct rule {
	enum effect effect;
	const char *host; /* "a.test", "*.a.test", "*"; NULL: network */
	struct ip_network network;
	uint16_t from, to; /* ports, both included */
};

struct planned_variable {
	const char *name, *value;
	bool overwrite;
};

struct plan {
	const char *run;
	const char *directory;

	const struct planned_mount *mounts;
	size_t mount_count;

	enum network_mode network_mode;
	const struct rule *rules;
	size_t rule_count;
	const uint16_t *host_ports;
	size_t host_port_count;

	const char *const *drop; /* fnmatch(3) patterns */
	size_t drop_count;
	const char *const *keep;
	size_t keep_count;
	const struct planned_variable *set;
	size_t set_count;

	int answer_ms, broker_ms;
	bool broker_loss_ends; /* else the run waits for another broker */
	bool terminal_relayed;
};

/*
 * Parses a "plan" frame; strings and arrays live in the arena and in the text.
 * -EBADMSG with *ret_what naming what is wrong; -ENOMEM.
 */
MUST_CHECK int plan_parse(const struct json *frame, struct json_arena *arena,
			  struct plan *ret_plan, const char **ret_what);

/* Text of a network or a single address; -EBADMSG. Used by plan and tests. */
MUST_CHECK int parse_ip_network(const char *text, struct ip_network *ret);

/* Absolute, normal, shorter than PATH_BYTES_MAX. */
bool is_plain_path(const char *path);

/* path is base or below it, by components. */
bool is_below(const char *path, const char *base);
