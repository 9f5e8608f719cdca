/*
 * The plan: what the launcher is to do, as in PROTOCOL.md. It is parsed and
 * checked completely before the first privileged act; whoever holds a
 * struct plan need not look again. Never touches the system.
 */
#pragma once

#include <netinet/in.h>

#include "../../common/json.h"

enum mount_op {
	MOUNT_PRIVATE,
	MOUNT_WRITABLE,
	MOUNT_COPY_ON_WRITE,
	MOUNT_PIN,
	MOUNT_PROTECT,
	MOUNT_MASK,
	MOUNT_TRIPWIRE,
	MOUNT_GUARD,
	MOUNT_READABLE,
};

struct planned_mount {
	enum mount_op op;
	const char *path; /* absolute, no "." or "..", no trailing slash */
	const char *upper, *work; /* copyOnWrite only */
	bool shows_names;	  /* tripwire only */
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

/* In the order of the plan; strings live as long as it. */
struct strings {
	const char *const *at;
	size_t count;
};

enum git_mode { GIT_ASK, GIT_ALLOW, GIT_PROTECT };

/* A git directory outside its root: of a linked worktree or a submodule. */
struct planned_repository {
	const char *directory, *common; /* real paths */
};

/* What of a writable root is protected, PROTOCOL.md "files". */
struct plan_files {
	struct strings roots;	  /* real paths */
	struct strings names;	  /* "a" or "a/b", below a root */
	struct strings protected; /* real paths */
	struct strings packages;  /* single names */
	struct strings quiet;	  /* fnmatch(3) patterns of single names */
	enum git_mode git;
	const struct planned_repository *repositories;
	size_t repository_count;
};

struct socket_rule {
	enum effect effect;
	const char *path; /* itself or below */
};

enum agent_kind { AGENT_SSH, AGENT_GPG };

struct planned_agent {
	enum agent_kind kind;
	const char *path;
};

enum publish_mode { PUBLISH_PRIVATE, PUBLISH_ASK };

enum access { ACCESS_WRITE, ACCESS_READ, ACCESS_GIT, ACCESS_SOCKET };

/* A place that was closed and is open to this run. */
struct open {
	enum access access;
	const char *path;
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

	struct plan_files files;
	const struct socket_rule *socket_rules;
	size_t socket_rule_count;
	const struct planned_agent *agents;
	size_t agent_count;
	enum publish_mode publish_mode;
	const uint16_t *publish_ports; /* allowed without a question */
	size_t publish_port_count;
	const struct open *opens;
	size_t open_count;

	struct strings drop, keep; /* fnmatch(3) patterns */
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

/* {access, path} of a frame; -EBADMSG. The path lives in the frame's text. */
MUST_CHECK int open_parse(const struct json *value, struct open *ret_open);

/* Text of a network or a single address; -EBADMSG. Used by plan and tests. */
MUST_CHECK int parse_ip_network(const char *text, struct ip_network *ret);

/* Absolute, normal, shorter than PATH_BYTES_MAX. */
bool is_plain_path(const char *path);

/* path is base or below it, by components. */
bool is_below(const char *path, const char *base);
