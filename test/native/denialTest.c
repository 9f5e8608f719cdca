/* denial.c: one line that says everything, and each refusal said once. */
#include "linux/supervisor/denial.h"
#include "supervised.h"

static const struct rule rules[] = {
	{ .effect = EFFECT_DENY, .host = "*.test", .from = 1, .to = 65535 },
	{ .effect = EFFECT_DENY,
	  .network = { .family = AF_INET, .bytes = { 169, 254 }, .prefix = 16 },
	  .from = 80,
	  .to = 90 },
};
static const struct plan plan = { .rules = rules, .rule_count = 2 };

static struct subject curl = { .executable = "/usr/bin/curl" };

static void check_line(const struct wanted *wanted, enum reason reason,
		       const char *expected)
{
	struct denial denial = { &curl, wanted, reason };
	char line[32768];

	denial_write_line(&plan, &denial, line, sizeof(line));
	CHECK_STRING(line, expected);
}

static void network_lines(void)
{
	struct wanted wanted = {
		.action = ACTION_CONNECT,
		.to = { .host = "a.test", .port = 443 },
		.rule = RULE_MODE,
	};

	check_line(&wanted, REASON_RULE,
		   "cordon: denied: curl to a.test:443 (the network "
		   "is off; to allow it, add \"a.test:443\" to the "
		   "setting cordon.network.allow)");
	wanted.rule = 0;
	check_line(&wanted, REASON_RULE,
		   "cordon: denied: curl to a.test:443 (rule: deny "
		   "*.test; to allow it, change the setting "
		   "cordon.network.deny)");
	wanted.to.host = NULL;
	CHECK(address_parse("169.254.1.2", &wanted.to.address) == 0);
	wanted.to.port = 80;
	wanted.rule = 1;
	check_line(&wanted, REASON_RULE,
		   "cordon: denied: curl to 169.254.1.2:80 (rule: "
		   "deny 169.254.0.0/16:80-90; to allow it, change "
		   "the setting cordon.network.deny)");
	CHECK(address_parse("2001:db8::1", &wanted.to.address) == 0);
	check_line(&wanted, REASON_INTERNAL,
		   "cordon: denied: curl to [2001:db8::1]:80 "
		   "(reason: internal)");
}

static void other_lines(void)
{
	static const struct {
		struct wanted wanted;
		const char *expected;
	} lines[] = {
		{ { .action = ACTION_WRITE,
		    .path = "/ws/.vscode/tasks.json",
		    .call = "rename",
		    .other = "/ws/t" },
		  "cordon: denied: curl rename /ws/.vscode/tasks.json (with "
		  "/ws/t) (what lies there runs outside the sandbox later, or "
		  "decides about it; to allow it, change the setting "
		  "cordon.filesystem.protectedPaths)" },
		{ { .action = ACTION_GIT,
		    .path = "/ws/.git/index.lock",
		    .call = "create",
		    .other = "/ws/.git" },
		  "cordon: denied: curl change the git repository /ws/.git "
		  "(/ws/.git/index.lock) (git's own folders are protected; to "
		  "be asked, change the setting cordon.filesystem.git)" },
		{ { .action = ACTION_READ, .path = "/home/ada/.ssh/id" },
		  "cordon: denied: curl read /home/ada/.ssh/id (it is closed; "
		  "to allow it, add \"!/home/ada/.ssh/id\" to the setting "
		  "cordon.filesystem.denyRead)" },
		{ { .action = ACTION_SOCKET,
		    .path = "/run/docker.sock",
		    .call = "connect" },
		  "cordon: denied: curl connect to the socket "
		  "/run/docker.sock (sockets of this machine lead out of the "
		  "sandbox; to allow it, add \"/run/docker.sock\" to the "
		  "setting cordon.sockets.allow)" },
		{ { .action = ACTION_SIGN,
		    .agent = "ssh",
		    .key = "SHA256:x",
		    .purpose = "" },
		  "cordon: denied: curl sign with the ssh key SHA256:x (the "
		  "key agents are closed; to be asked, change the setting "
		  "cordon.sockets.agents)" },
		{ { .action = ACTION_PUBLISH, .to = { .port = 5173 } },
		  "cordon: denied: curl publish port 5173 (servers stay in "
		  "the sandbox; to allow it, add 5173 to the setting "
		  "cordon.network.publish)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		check_line(&lines[i].wanted, REASON_RULE, lines[i].expected);
}

static void longest_line(void)
{
	static char path[PATH_BYTES_MAX];
	struct wanted wanted = { .action = ACTION_GIT,
				 .path = path,
				 .other = path,
				 .call = "mkdir" };
	struct denial denial = { &curl, &wanted, REASON_RULE };
	char line[256];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	denial_write_line(&plan, &denial, line, sizeof(line));
	CHECK(strlen(line) == sizeof(line) - 1);
}

static void once(void)
{
	static struct denials denials;
	struct subject wget = { .executable = "/usr/bin/wget" };
	struct wanted wanted = { .to = { .host = "a.test", .port = 443 } };
	struct denial denial = { &curl, &wanted, REASON_RULE };

	CHECK(denials_note(&denials, &denial, 1000) ==
	      (DENIAL_NEW | DENIAL_RECORD));
	CHECK(denials_note(&denials, &denial, 1500) == 0);
	CHECK(denials_note(&denials, &denial, 2500) == DENIAL_RECORD);
	wanted.to.port = 80;
	CHECK(denials_note(&denials, &denial, 2500) ==
	      (DENIAL_NEW | DENIAL_RECORD));
	denial.subject = &wget;
	CHECK(denials_note(&denials, &denial, 2500) ==
	      (DENIAL_NEW | DENIAL_RECORD));
	wanted = (struct wanted){ .action = ACTION_READ, .path = "/a" };
	CHECK(denials_note(&denials, &denial, 2500) ==
	      (DENIAL_NEW | DENIAL_RECORD));
}

static void flood(void)
{
	static struct denials denials;
	struct wanted wanted = { 0 };
	struct denial denial = { &curl, &wanted, REASON_RULE };
	unsigned lines_told = 0, records = 0, full = 0, news;

	for (int i = 0; i < 10000; i++) {
		wanted.to.port = (uint16_t)(i + 1);
		news = denials_note(&denials, &denial, 5000);
		lines_told += !!(news & DENIAL_NEW);
		records += !!(news & DENIAL_RECORD);
		full += !!(news & DENIAL_FULL);
	}
	CHECK(lines_told == DENIALS_KEPT_MAX && full == 1);
	CHECK(records == DENIALS_KEPT_MAX + 1);
	/* Later ones are still recorded, now and then. */
	CHECK(denials_note(&denials, &denial, 9000) == DENIAL_RECORD);
}

static void tell_of_socket(struct supervised *s, const char *path)
{
	struct wanted wanted = {
		.action = ACTION_SOCKET,
		.path = path,
		.call = "connect",
		.rule = RULE_MODE,
	};
	struct denial denial = { &curl, &wanted, REASON_RULE };

	tell_denial(&s->sup, &denial);
	supervised_run(s, 5);
}

static void desktop_sockets(void)
{
	struct supervised s;
	char *frame;

	supervised_open(&s);
	CHECK(denials_start(&s.sup) == 0);
	tell_of_socket(&s, "/run/user/1000/bus");
	tell_of_socket(&s, "/run/user/1000/bus");
	CHECK_STRING(recorded.lines, "");
	frame = peer_hears(&s);
	CHECK(frame && strstr(frame, "/run/user/1000/bus"));
	free(frame);
	CHECK(!peer_hears(&s));
	tell_of_socket(&s, "/run/users.sock");
	CHECK(recorded.lines[0]);
	free(s.sup.denials);
	supervised_close(&s);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "a refused connection names program, place, reason and the "
		  "way out",
		  network_lines },
		{ "so does everything else that is refused", other_lines },
		{ "a line is cut where its room ends", longest_line },
		{ "a program that tries again is not told again", once },
		{ "a socket of the desktop is recorded once, without a line",
		  desktop_sockets },
		{ "a flood of refusals fills neither screen nor record",
		  flood },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
