/* The parts of a plan that say what may be asked for and what is open. */
#include <string.h>

#include "../../common/limits.h"
#include "../supervisor/wanted.h"
#include "planning.h"

/* Files */

/* "a" or "a/b": what would be a plain path below a root. */
static bool is_relative_name(const char *name)
{
	char path[PATH_BYTES_MAX] = "/";
	size_t length = strlen(name);

	if (length == 0 || length + 2 > sizeof(path))
		return false;
	memcpy(path + 1, name, length + 1);
	return is_plain_path(path);
}

static bool is_single_name(const char *name)
{
	return is_relative_name(name) && !strchr(name, '/');
}

static bool is_pattern(const char *pattern)
{
	return *pattern && !strchr(pattern, '/');
}

static int parse_repository(struct parse *p, const struct json *value,
			    struct planned_repository *repository)
{
	static const char *const keys[] = { "directory", "common" };
	int err;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "a repository's keys");
	err = parse_path(p, json_member(value, "directory"),
			 &repository->directory);
	if (err)
		return err;
	return parse_path(p, json_member(value, "common"), &repository->common);
}

static int parse_repositories(struct parse *p, const struct json *value,
			      struct plan_files *files)
{
	struct planned_repository *repositories;
	int err = check_array(p, value, PLAN_PLACES_MAX, "files.repositories");

	if (err)
		return err;
	repositories = allocate(p, value->length, sizeof(*repositories));
	if (!repositories)
		return -ENOMEM;
	files->repositories = repositories;
	files->repository_count = value->length;
	for (const struct json *r = value->first; r; r = r->next) {
		err = parse_repository(p, r, repositories++);
		if (err)
			return err;
	}
	return 0;
}

static int parse_file_lists(struct parse *p, const struct json *value,
			    struct plan_files *files)
{
	const struct {
		const char *key, *what;
		bool (*is_right)(const char *text);
		size_t max;
		struct strings *to;
	} lists[] = {
		{ "roots", "files.roots", is_plain_path, PLAN_PLACES_MAX,
		  &files->roots },
		{ "names", "files.names", is_relative_name, PLAN_PATTERNS_MAX,
		  &files->names },
		{ "protected", "files.protected", is_plain_path,
		  PLAN_PLACES_MAX, &files->protected },
		{ "packages", "files.packages", is_single_name,
		  PLAN_PATTERNS_MAX, &files->packages },
		{ "quiet", "files.quiet", is_pattern, PLAN_PATTERNS_MAX,
		  &files->quiet },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists) && !err; i++)
		err = parse_strings(p, json_member(value, lists[i].key),
				    lists[i].is_right, lists[i].max,
				    lists[i].what, lists[i].to);
	return err;
}

static int parse_files(struct parse *p, const struct json *value,
		       struct plan_files *files)
{
	static const char *const keys[] = {
		"roots", "names", "protected",	  "packages",
		"quiet", "git",	  "repositories",
	};
	static const char *const modes[] = {
		[GIT_ASK] = "ask",
		[GIT_ALLOW] = "allow",
		[GIT_PROTECT] = "protect",
	};
	int err, mode;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "the keys of files");
	mode = json_as_choice(json_member(value, "git"), modes,
			      ARRAY_SIZE(modes));
	if (mode < 0)
		return bad(p, "files.git");
	files->git = (enum git_mode)mode;
	err = parse_file_lists(p, value, files);
	if (err)
		return err;
	return parse_repositories(p, json_member(value, "repositories"), files);
}

/* Sockets */

static int parse_socket_rule(struct parse *p, const struct json *value,
			     struct socket_rule *rule)
{
	static const char *const keys[] = { "effect", "path" };
	static const char *const effects[] = {
		[EFFECT_DENY] = "deny",
		[EFFECT_ALLOW] = "allow",
		[EFFECT_ASK] = "ask",
	};
	int effect = json_as_choice(json_member(value, "effect"), effects,
				    ARRAY_SIZE(effects));

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "the keys of a socket's rule");
	if (effect < 0)
		return bad(p, "the effect of a socket's rule");
	rule->effect = (enum effect)effect;
	return parse_path(p, json_member(value, "path"), &rule->path);
}

static int parse_agent(struct parse *p, const struct json *value,
		       struct planned_agent *agent)
{
	static const char *const keys[] = { "kind", "path" };
	static const char *const kinds[] = {
		[AGENT_SSH] = "ssh",
		[AGENT_GPG] = "gpg",
	};
	int kind = json_as_choice(json_member(value, "kind"), kinds,
				  ARRAY_SIZE(kinds));

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "an agent's keys");
	if (kind < 0)
		return bad(p, "an agent's kind");
	agent->kind = (enum agent_kind)kind;
	return parse_path(p, json_member(value, "path"), &agent->path);
}

static int parse_sockets(struct parse *p, const struct json *value,
			 struct plan *plan)
{
	static const char *const keys[] = { "rules", "agents" };
	const struct json *rules = json_member(value, "rules");
	const struct json *agents = json_member(value, "agents");
	struct socket_rule *rule;
	struct planned_agent *agent;
	int err;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "the keys of sockets");
	err = check_array(p, rules, PLAN_PLACES_MAX, "sockets.rules");
	if (!err)
		err = check_array(p, agents, PLAN_AGENTS_MAX, "sockets.agents");
	if (err)
		return err;
	rule = allocate(p, rules->length, sizeof(*rule));
	agent = allocate(p, agents->length, sizeof(*agent));
	if (!rule || !agent)
		return -ENOMEM;
	plan->socket_rules = rule;
	plan->socket_rule_count = rules->length;
	plan->agents = agent;
	plan->agent_count = agents->length;
	for (const struct json *r = rules->first; r && !err; r = r->next)
		err = parse_socket_rule(p, r, rule++);
	for (const struct json *a = agents->first; a && !err; a = a->next)
		err = parse_agent(p, a, agent++);
	return err;
}

/* Ports */

static int parse_publish(struct parse *p, const struct json *value,
			 struct plan *plan)
{
	static const char *const keys[] = { "mode", "ports" };
	static const char *const modes[] = {
		[PUBLISH_PRIVATE] = "private",
		[PUBLISH_ASK] = "ask",
	};
	int mode = json_as_choice(json_member(value, "mode"), modes,
				  ARRAY_SIZE(modes));

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)))
		return bad(p, "the keys of publish");
	if (mode < 0)
		return bad(p, "publish.mode");
	plan->publish_mode = (enum publish_mode)mode;
	return parse_ports(p, json_member(value, "ports"), "publish.ports",
			   &plan->publish_ports, &plan->publish_port_count);
}

/* Places that are open from the start */

int open_parse(const struct json *value, struct open *ret_open)
{
	static const char *const keys[] = { "access", "path" };
	const char *access = json_as_string(json_member(value, "access"));
	const char *path = json_as_string(json_member(value, "path"));
	int which;

	if (json_expect_keys(value, keys, ARRAY_SIZE(keys)) || !access ||
	    !path || !is_plain_path(path))
		return -EBADMSG;
	which = access_of(access);
	if (which < 0)
		return which;
	*ret_open = (struct open){ (enum access)which, path };
	return 0;
}

static int parse_opens(struct parse *p, const struct json *value,
		       struct plan *plan)
{
	struct open *opens;
	int err = check_array(p, value, OPENS_MAX, "opens");

	if (err)
		return err;
	opens = allocate(p, value->length, sizeof(*opens));
	if (!opens)
		return -ENOMEM;
	plan->opens = opens;
	plan->open_count = value->length;
	for (const struct json *o = value->first; o; o = o->next)
		if (open_parse(o, opens++))
			return bad(p, "an entry of opens");
	return 0;
}

int parse_accesses(struct parse *p, const struct json *frame, struct plan *plan)
{
	int err = parse_files(p, json_member(frame, "files"), &plan->files);

	if (!err)
		err = parse_sockets(p, json_member(frame, "sockets"), plan);
	if (!err)
		err = parse_publish(p, json_member(frame, "publish"), plan);
	if (!err)
		err = parse_opens(p, json_member(frame, "opens"), plan);
	return err;
}
