/* plan.c: the fixtures that TypeScript writes, and what must be refused. */
#include "linux/launch/plan.h"
#include <dirent.h>

#include "check.h"
#include "common/limits.h"

static struct json_arena arena;
static char *text;
static const char *what;

/* 0 and the plan, or a refusal, of a frame's text. */
static int read_plan(struct plan *plan, size_t length)
{
	const struct json *frame;
	int err;

	json_free(&arena);
	what = "JSON";
	err = json_parse(text, length, &arena, &frame);
	return err ? err : plan_parse(frame, &arena, plan, &what);
}

static int read_fixture(const char *name, struct plan *plan)
{
	char path[512];
	size_t length;

	(void)snprintf(path, sizeof(path), "test/fixtures/frames/%s", name);
	free(text);
	text = check_read_file(path, &length);
	return read_plan(plan, length);
}

static void reads_whole_plan(void)
{
	struct plan p;

	if (read_fixture("valid/broker-plan.json", &p)) {
		CHECK(!"taken");
		return;
	}
	CHECK_STRING(p.run, "4f1c9a2e0b7d4c55");
	CHECK_STRING(p.directory, "/home/ada/web");
	CHECK(p.mount_count == 9);
	CHECK(p.mounts[0].op == MOUNT_PRIVATE);
	CHECK(p.mounts[1].op == MOUNT_WRITABLE);
	CHECK(p.mounts[2].op == MOUNT_COPY_ON_WRITE);
	CHECK(p.mounts[3].op == MOUNT_PIN);
	CHECK(p.mounts[4].op == MOUNT_PROTECT);
	CHECK(p.mounts[5].op == MOUNT_MASK);
	CHECK(p.mounts[6].op == MOUNT_TRIPWIRE && p.mounts[6].shows_names);
	CHECK(p.mounts[7].op == MOUNT_READABLE);
	CHECK(p.mounts[8].op == MOUNT_GUARD);
	CHECK_STRING(p.mounts[2].path, "/home/ada/.npm");
	CHECK_STRING(p.mounts[2].work,
		     "/home/ada/.cache/cordon/layers/npm/work");
	CHECK(p.mounts[4].upper == NULL);
	CHECK(p.network_mode == NETWORK_ASK && p.rule_count == 4);
	CHECK(p.rules[0].effect == EFFECT_ALLOW && p.rules[0].from == 443 &&
	      p.rules[0].to == 443);
	CHECK_STRING(p.rules[1].host, "*.example.com");
	CHECK(p.rules[2].host == NULL && p.rules[2].effect == EFFECT_DENY &&
	      p.rules[2].network.family == AF_INET &&
	      p.rules[2].network.prefix == 16);
	CHECK(p.rules[3].network.family == AF_INET6 &&
	      p.rules[3].network.prefix == 10);
	CHECK(p.host_port_count == 1 && p.host_ports[0] == 5432);
	CHECK(p.drop.count == 2 && p.keep.count == 1);
	CHECK_STRING(p.drop.at[0], "*_TOKEN");
	CHECK_STRING(p.set[0].name, "TMPDIR");
	CHECK(p.set[0].overwrite);
}

static void check_strings(const struct strings *strings, size_t count,
			  const char *first)
{
	CHECK(strings->count == count);
	CHECK_STRING(strings->at[0], first);
}

static void reads_accesses(void)
{
	struct plan p;

	if (read_fixture("valid/broker-plan.json", &p)) {
		CHECK(!"taken");
		return;
	}
	check_strings(&p.files.roots, 1, "/ws");
	check_strings(&p.files.names, 2, ".vscode");
	check_strings(&p.files.protected, 2, "/home/a/.bashrc");
	check_strings(&p.files.packages, 1, "node_modules");
	check_strings(&p.files.quiet, 2, "__pycache__");
	CHECK(p.files.git == GIT_ASK && p.files.repository_count == 1);
	CHECK_STRING(p.files.repositories[0].directory,
		     "/main/.git/worktrees/ws");
	CHECK_STRING(p.files.repositories[0].common, "/main/.git");
	CHECK(p.socket_rule_count == 2 &&
	      p.socket_rules[0].effect == EFFECT_DENY &&
	      p.socket_rules[1].effect == EFFECT_ASK);
	CHECK_STRING(p.socket_rules[1].path, "/run/docker.sock");
	CHECK(p.agent_count == 2 && p.agents[0].kind == AGENT_SSH &&
	      p.agents[1].kind == AGENT_GPG);
	CHECK_STRING(p.agents[1].path, "/home/a/.gnupg/S.gpg-agent");
	CHECK(p.publish_mode == PUBLISH_ASK && p.publish_port_count == 1 &&
	      p.publish_ports[0] == 5173);
	CHECK(p.open_count == 2 && p.opens[0].access == ACCESS_READ &&
	      p.opens[1].access == ACCESS_WRITE);
	CHECK_STRING(p.opens[1].path, "/ws/.vscode/settings.json");
}

static void reads_bytes(void)
{
	struct plan p;

	if (read_fixture("valid/broker-plan-bytes.json", &p)) {
		CHECK(!"taken");
		return;
	}
	CHECK_STRING(p.directory, "/ws/\xff b\n");
	CHECK_STRING(p.mounts[0].path, "/ws/\xff b\n");
	CHECK(p.answer_ms == 1 && p.broker_ms == 0 && p.broker_loss_ends &&
	      p.terminal_relayed);
}

/* All of a folder whose names begin so; returns how many there were. */
static int for_fixtures(const char *folder, const char *prefix, bool valid)
{
	char path[512];
	const struct dirent *entry;
	DIR *entries;
	int count = 0;

	(void)snprintf(path, sizeof(path), "test/fixtures/frames/%s", folder);
	entries = opendir(path);
	if (!entries)
		exit(1);
	while ((entry = readdir(entries))) {
		struct plan plan;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", folder,
			       entry->d_name);
		if ((read_fixture(path, &plan) == 0) != valid) {
			printf("# %s: %s\n", path, what);
			check_failed = true;
		}
		count++;
	}
	(void)closedir(entries);
	return count;
}

static void takes_valid(void)
{
	CHECK(for_fixtures("valid", "broker-plan", true) >= 3);
}

static void refuses_invalid(void)
{
	CHECK(for_fixtures("invalid", "broker-plan", false) >= 15);
}

/* The smallest valid plan with one part replaced. */
static int read_with(const char *from, const char *to)
{
	static const char smallest[] =
		"{\"kind\":\"plan\",\"run\":\"r\",\"engine\":\"namespaces\","
		"\"directory\":\"/\",\"mounts\":[],\"network\":{\"mode\":"
		"\"off\",\"rules\":[],\"hostPorts\":[]},\"files\":{\"roots\":"
		"[],\"names\":[],\"protected\":[],\"packages\":[],\"quiet\":"
		"[],\"git\":\"ask\",\"repositories\":[]},\"sockets\":{"
		"\"rules\":[],\"agents\":[]},\"publish\":{\"mode\":\"ask\","
		"\"ports\":[]},\"opens\":[],\"environment\":{"
		"\"drop\":[],\"keep\":[],\"set\":[]},\"limits\":{\"answerMs\":"
		"1,\"brokerMs\":0},\"brokerLoss\":\"end\",\"terminal\":"
		"\"inherit\"}";
	const char *at = strstr(smallest, from);
	struct plan plan;

	if (!at)
		exit(1);
	free(text);
	text = malloc(sizeof(smallest) + strlen(to));
	if (!text)
		exit(1);
	(void)sprintf(text, "%.*s%s%s", (int)(at - smallest), smallest, to,
		      at + strlen(from));
	return read_plan(&plan, strlen(text));
}

static void refuses_parts(void)
{
	static const char *const parts[][2] = {
		{ "\"/\"", "\"/a/\"" },
		{ "\"/\"", "\"//\"" },
		{ "\"/\"", "\"/./a\"" },
		{ "\"/\"", "\"/a/..\"" },
		{ "\"/\"", "\"a\"" },
		{ "\"/\"", "null" },
		{ "\"r\"", "\"\"" },
		{ "\"r\"", "7" },
		{ "\"mounts\":[]", "\"mounts\":{}" },
		{ "\"mounts\":[]", "\"mounts\":[null]" },
		{ "\"mounts\":[]",
		  "\"mounts\":[{\"op\":\"pin\",\"path\":\"/\",\"upper\":"
		  "\"/\"}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"host\":\"A.test\","
		  "\"ports\":[1,2]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"host\":\"a..test\","
		  "\"ports\":[1,2]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"host\":\"a.test.\","
		  "\"ports\":[1,2]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"host\":\"*.\",\"ports\":"
		  "[1,2]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"host\":\"a\",\"ports\":"
		  "[1]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"host\":\"a\",\"ports\":"
		  "[0,2]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"network\":\"10.0.0.0\","
		  "\"ports\":[1,2]}]" },
		{ "\"rules\":[]",
		  "\"rules\":[{\"effect\":\"allow\",\"network\":\"10.0.0.0/08\""
		  ",\"ports\":[1,2]}]" },
		{ "\"hostPorts\":[]", "\"hostPorts\":[65536]" },
		{ "\"set\":[]",
		  "\"set\":[{\"name\":\"A=B\",\"value\":\"\",\"overwrite\":"
		  "true}]" },
		{ "\"set\":[]",
		  "\"set\":[{\"name\":\"A\",\"value\":\"\",\"overwrite\":1}]" },
		{ "\"drop\":[]", "\"drop\":[1]" },
		{ "\"mounts\":[]",
		  "\"mounts\":[{\"op\":\"tripwire\",\"path\":\"/a\"}]" },
		{ "\"mounts\":[]",
		  "\"mounts\":[{\"op\":\"tripwire\",\"path\":\"/a\","
		  "\"names\":1}]" },
		{ "\"mounts\":[]",
		  "\"mounts\":[{\"op\":\"guard\",\"path\":\"/a\","
		  "\"names\":true}]" },
		{ "\"roots\":[]", "\"roots\":[\"ws\"]" },
		{ "\"names\":[]", "\"names\":[\"/a\"]" },
		{ "\"names\":[]", "\"names\":[\"a/../b\"]" },
		{ "\"names\":[]", "\"names\":[\"\"]" },
		{ "\"protected\":[]", "\"protected\":[\"/a/\"]" },
		{ "\"packages\":[]", "\"packages\":[\"a/b\"]" },
		{ "\"packages\":[]", "\"packages\":[\"..\"]" },
		{ "\"quiet\":[]", "\"quiet\":[\"a/*\"]" },
		{ "\"quiet\":[]", "\"quiet\":[null]" },
		{ "\"git\":\"ask\"", "\"git\":\"off\"" },
		{ "\"repositories\":[]",
		  "\"repositories\":[{\"directory\":\"/a\"}]" },
		{ "\"agents\":[]",
		  "\"agents\":[{\"kind\":\"pgp\",\"path\":\"/a\"}]" },
		{ "\"sockets\":{\"rules\":[]",
		  "\"sockets\":{\"rules\":[{\"effect\":\"maybe\",\"path\":"
		  "\"/a\"}]" },
		{ "\"mode\":\"ask\"", "\"mode\":\"public\"" },
		{ "\"ports\":[]", "\"ports\":[0]" },
		{ "\"opens\":[]", "\"opens\":[{\"access\":\"write\"}]" },
		{ "\"opens\":[]",
		  "\"opens\":[{\"access\":\"exec\",\"path\":\"/a\"}]" },
		{ "\"opens\":[]",
		  "\"opens\":[{\"access\":\"write\",\"path\":\"a\"}]" },
		{ "\"end\"", "\"stop\"" },
		{ "\"inherit\"", "\"none\"" },
		{ "\"answerMs\":1", "\"answerMs\":86400001" },
	};

	CHECK(read_with("\"r\"", "\"s\"") == 0);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (read_with(parts[i][0], parts[i][1]) != -EBADMSG) {
			printf("# %s was taken\n", parts[i][1]);
			check_failed = true;
		}
}

static void networks(void)
{
	struct ip_network n;

	CHECK(parse_ip_network("10.1.2.3/8", &n) == 0 && n.bytes[0] == 10 &&
	      n.bytes[1] == 0 && n.prefix == 8);
	CHECK(parse_ip_network("::ffff:10.1.2.3/104", &n) == 0 &&
	      n.family == AF_INET && n.prefix == 8 && n.bytes[1] == 0);
	CHECK(parse_ip_network("::/0", &n) == 0 && n.family == AF_INET6);
	CHECK(parse_ip_network("0.0.0.0/0", &n) == 0 && n.prefix == 0);
	CHECK(parse_ip_network("2001:db8::1", &n) == 0 && n.prefix == 128);
	CHECK(parse_ip_network("10.0.0.0/33", &n) == -EBADMSG);
	CHECK(parse_ip_network("10.0.0.0/", &n) == -EBADMSG);
	CHECK(parse_ip_network("10.0.0.0/-1", &n) == -EBADMSG);
	CHECK(parse_ip_network("10.0.0/8", &n) == -EBADMSG);
	CHECK(parse_ip_network("fe80::1%lo/64", &n) == -EBADMSG);
	CHECK(parse_ip_network("", &n) == -EBADMSG);
}

static void containment(void)
{
	CHECK(is_below("/a/b", "/a") && is_below("/a", "/a"));
	CHECK(is_below("/a", "/") && is_below("/", "/"));
	CHECK(!is_below("/ab", "/a") && !is_below("/", "/a"));
	CHECK(!is_below("/a", "/a/b"));
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "a plan is read whole", reads_whole_plan },
		{ "a plan says what may be asked for", reads_accesses },
		{ "a plan's paths are the bytes they were", reads_bytes },
		{ "every valid plan of the fixtures is taken", takes_valid },
		{ "every invalid plan of the fixtures is refused",
		  refuses_invalid },
		{ "a plan with one wrong part is refused", refuses_parts },
		{ "networks are read in one form", networks },
		{ "paths contain each other by components", containment },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
