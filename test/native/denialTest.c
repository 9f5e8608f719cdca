/* denial.c: one line that says everything, and each refusal said once. */
#include "linux/denial.h"
#include "supervised.h"

static const struct rule rules[] = {
	{ .effect = EFFECT_DENY, .host = "*.test", .from = 1, .to = 65535 },
	{ .effect = EFFECT_DENY,
	  .network = { .family = AF_INET, .bytes = { 169, 254 }, .prefix = 16 },
	  .from = 80,
	  .to = 90 },
};
static const struct plan plan = { .rules = rules, .rule_count = 2 };

static void check_line(struct denial *denial, const char *wanted)
{
	char line[8192];

	denial_write_line(&plan, denial, line, sizeof(line));
	CHECK_STRING(line, wanted);
}

static void lines(void)
{
	static struct denial denial = {
		.subject = { .executable = "/usr/bin/curl" },
		.to = { .host = "a.test", .port = 443 },
		.rule = RULE_MODE,
	};

	check_line(&denial, "cordon: denied: curl to a.test:443 (the network "
			    "is off; to allow it, add \"a.test:443\" to the "
			    "setting cordon.network.allow)");
	denial.rule = 0;
	check_line(&denial, "cordon: denied: curl to a.test:443 (rule: deny "
			    "*.test; to allow it, change the setting "
			    "cordon.network.deny)");
	denial.to.host = NULL;
	CHECK(address_parse("169.254.1.2", &denial.to.address) == 0);
	denial.to.port = 80;
	denial.rule = 1;
	check_line(&denial, "cordon: denied: curl to 169.254.1.2:80 (rule: "
			    "deny 169.254.0.0/16:80-90; to allow it, change "
			    "the setting cordon.network.deny)");
	CHECK(address_parse("2001:db8::1", &denial.to.address) == 0);
	denial.reason = REASON_INTERNAL;
	check_line(&denial, "cordon: denied: curl to [2001:db8::1]:80 "
			    "(reason: internal)");
	denial.reason = REASON_RULE;
	(void)strcpy(denial.path, "/run/docker.sock");
	check_line(&denial, "cordon: denied: curl to the socket "
			    "/run/docker.sock (it is not a socket of this "
			    "run; programs in the sandbox reach only their "
			    "own)");
}

static void once(void)
{
	static struct denials denials;
	static struct denial denial = {
		.subject = { .executable = "/usr/bin/curl" },
		.to = { .host = "a.test", .port = 443 },
	};

	CHECK(denials_note(&denials, &denial, 1000) ==
	      (DENIAL_NEW | DENIAL_RECORD));
	CHECK(denials_note(&denials, &denial, 1500) == 0);
	CHECK(denials_note(&denials, &denial, 2500) == DENIAL_RECORD);
	denial.to.port = 80;
	CHECK(denials_note(&denials, &denial, 2500) ==
	      (DENIAL_NEW | DENIAL_RECORD));
	(void)strcpy(denial.subject.executable, "/usr/bin/wget");
	CHECK(denials_note(&denials, &denial, 2500) ==
	      (DENIAL_NEW | DENIAL_RECORD));
}

static void flood(void)
{
	static struct denials denials;
	static struct denial denial;
	unsigned lines_told = 0, records = 0, full = 0, news;

	for (int i = 0; i < 10000; i++) {
		denial.to.port = (uint16_t)(i + 1);
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

int main(void)
{
	static const struct check_test tests[] = {
		{ "a refusal names program, place, reason and the way out",
		  lines },
		{ "a program that tries again is not told again", once },
		{ "a flood of refusals fills neither screen nor record",
		  flood },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
