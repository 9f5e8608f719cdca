/* broker.c: the fixtures that the broker may send, and how questions end. */
#include <dirent.h>

#include "supervised.h"

#define FRAMES "test/fixtures/frames/"

struct asked {
	struct question question; /* first */
	int times;
	struct answer answer;
};

static void note_answer(struct question *question, const struct answer *answer)
{
	struct asked *asked = (struct asked *)question;

	asked->times++;
	asked->answer = *answer;
}

static const struct subject curl = {
	.pid = 42,
	.executable = "/usr/bin/curl",
	.directory = "/ws",
	.arguments = "curl\0-s\xff",
	.arguments_length = 9,
	.chain = { { .pid = 42, .name = "curl" }, { .pid = 1, .name = "i" } },
	.chain_length = 2,
};

static struct asked ask_for(const char *host)
{
	return (struct asked){
		.question = { .wanted = { .action = ACTION_CONNECT,
					  .to = { .host = host, .port = 443 },
					  .rule = RULE_MODE },
			      .subject = &curl,
			      .settled = note_answer }
	};
}

/* A valid frame leaves the channel open, an invalid one closes it. */
static void try_fixture(const char *folder, const char *name, bool valid)
{
	struct supervised s;
	char path[512], *text, *said;
	size_t length;

	(void)snprintf(path, sizeof(path), FRAMES "%s/%s", folder, name);
	text = check_read_file(path, &length);
	if (strstr(name, "nul-") || length == 0 || strlen(text) != length) {
		free(text);
		return; /* cannot be said as a string; json tests have it */
	}
	supervised_open(&s);
	peer_says(&s, text);
	said = peer_hears(&s);
	if ((s.sup.channel.fd >= 0) != valid ||
	    (!valid && (!said || !strstr(said, "malformedFrame")))) {
		printf("# %s/%s\n", folder, name);
		check_failed = true;
	}
	free(said);
	free(text);
	supervised_close(&s);
}

static int try_folder(const char *folder, bool valid)
{
	static const char *const elsewhere[] = { "broker-plan", "broker-error",
						 "broker-welcome" };
	char path[512];
	struct dirent *entry;
	DIR *directory;
	int count = 0;

	(void)snprintf(path, sizeof(path), FRAMES "%s", folder);
	directory = opendir(path);
	CHECK(directory);
	while (directory && (entry = readdir(directory))) {
		bool skipped = strncmp(entry->d_name, "broker-", 7) != 0;

		/* A plan is not for this file; the others end the channel. */
		for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
			skipped = skipped ||
				  (valid && strncmp(entry->d_name, elsewhere[i],
						    strlen(elsewhere[i])) == 0);
		if (skipped)
			continue;
		try_fixture(folder, entry->d_name, valid);
		count++;
	}
	if (directory)
		(void)closedir(directory);
	return count;
}

static void valid_frames(void)
{
	CHECK(try_folder("valid", true) > 5);
}

static void invalid_frames(void)
{
	CHECK(try_folder("invalid", false) > 20);
}

static void ask_and_answer(void)
{
	static const char wanted[] =
		"{\"kind\":\"ask\",\"id\":1,\"subject\":{\"pid\":42,"
		"\"executable\":\"/usr/bin/curl\",\"arguments\":[\"curl\","
		"\"-s\\udcff\"],\"directory\":\"/ws\",\"chain\":[{\"pid\":42,"
		"\"name\":\"curl\"},{\"pid\":1,\"name\":\"i\"}]},\"action\":"
		"\"connect\",\"object\":{\"host\":\"a.test\",\"port\":443},"
		"\"rule\":null,\"because\":null,\"want\":\"decision\"}";
	struct asked asked = ask_for("a.test");
	struct ip_address mapped;
	struct supervised s;
	char *said;

	supervised_open(&s);
	broker_ask(&s.sup, &asked.question);
	said = peer_hears(&s);
	CHECK_STRING(said, wanted);
	free(said);
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"allow\","
		      "\"reason\":\"user\",\"addresses\":[\"::ffff:10.0.0.1\","
		      "\"2001:db8::1\"],\"opens\":[],\"message\":\"told\"}");
	CHECK(asked.times == 1 && asked.answer.allowed && asked.answer.told);
	CHECK(asked.answer.reason == REASON_USER);
	CHECK(asked.answer.address_count == 2);
	CHECK(address_parse("10.0.0.1", &mapped) == 0);
	CHECK(address_equal(&asked.answer.addresses[0], &mapped));
	CHECK_STRING(recorded.lines, "told\n");
	/* Once is enough. */
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"deny\","
		      "\"reason\":\"user\",\"addresses\":[],\"opens\":[],"
		      "\"message\":null}");
	CHECK(asked.times == 1 && s.sup.channel.fd >= 0);
	supervised_close(&s);
}

static void addresses_have_a_limit(void)
{
	char text[4096] = "{\"kind\":\"answer\",\"id\":1,\"effect\":\"allow\","
			  "\"reason\":\"user\",\"addresses\":[\"192.0.2.1\"";
	struct asked asked = ask_for("a.test");
	struct supervised s;

	for (int i = 0; i < 100; i++)
		(void)strcat(text, ",\"192.0.2.2\"");
	(void)strcat(text, "],\"opens\":[],\"message\":null}");
	supervised_open(&s);
	broker_ask(&s.sup, &asked.question);
	peer_says(&s, text);
	CHECK(asked.times == 1);
	CHECK(asked.answer.address_count == ANSWER_ADDRESSES_MAX);
	supervised_close(&s);
}

static void withdrawn(void)
{
	struct asked first = ask_for("a.test"), second = ask_for("b.test");
	struct supervised s;
	char *said;

	supervised_open(&s);
	broker_ask(&s.sup, &first.question);
	broker_ask(&s.sup, &second.question);
	free(peer_hears(&s));
	free(peer_hears(&s));
	broker_withdraw(&s.sup, &first.question);
	broker_withdraw(&s.sup, &first.question); /* harmless */
	said = peer_hears(&s);
	CHECK_STRING(said, "{\"kind\":\"withdraw\",\"id\":1}");
	free(said);
	CHECK(!peer_hears(&s));
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"allow\","
		      "\"reason\":\"user\",\"addresses\":[],\"opens\":[],"
		      "\"message\":\"late\"}");
	CHECK(first.times == 0 && second.times == 0);
	CHECK_STRING(recorded.lines, "");
	broker_withdraw(&s.sup, &second.question);
	supervised_close(&s);
}

static void no_answer(void)
{
	struct asked asked = ask_for("a.test");
	struct supervised s;
	char *said;

	supervised_open(&s);
	s.plan.answer_ms = 20;
	broker_ask(&s.sup, &asked.question);
	free(peer_hears(&s));
	supervised_run(&s, 60);
	CHECK(asked.times == 1 && !asked.answer.allowed);
	CHECK(asked.answer.reason == REASON_NO_ANSWER);
	said = peer_hears(&s);
	CHECK_STRING(said, "{\"kind\":\"withdraw\",\"id\":1}");
	free(said);
	supervised_close(&s);
}

static void loss_ends(void)
{
	struct supervised s;

	supervised_open(&s);
	frame_close(&s.peer);
	supervised_run(&s, 10);
	CHECK_STRING(recorded.stopped, "brokerLost");
	CHECK(s.sup.channel.fd < 0);
	supervised_close(&s);
}

static void loss_waits(void)
{
	struct asked before = ask_for("a.test"), after = ask_for("b.test");
	struct supervised s;

	supervised_open(&s);
	s.plan.broker_loss_ends = false;
	s.plan.broker_ms = 50;
	broker_ask(&s.sup, &before.question);
	frame_close(&s.peer);
	supervised_run(&s, 10);
	CHECK(before.times == 0);
	broker_ask(&s.sup, &after.question);
	supervised_run(&s, 150);
	CHECK(before.times == 1 && after.times == 1);
	CHECK(before.answer.reason == REASON_BROKER_LOST);
	CHECK(after.answer.reason == REASON_BROKER_LOST);
	CHECK_STRING(recorded.stopped, "");
	supervised_close(&s);
}

/* The next frame, however long the thread that opens takes. */
static char *await_frame(struct supervised *s)
{
	char *said = peer_hears(s);

	for (int i = 0; !said && i < 2000; i++) {
		supervised_run(s, 5);
		said = peer_hears(s);
	}
	return said;
}

static void check_next(struct supervised *s, const char *wanted)
{
	char *said = await_frame(s);

	CHECK(said != NULL);
	CHECK_STRING(said ? said : "", wanted);
	free(said);
}

#define OPENS                                           \
	"[{\"access\":\"write\",\"path\":\"/none/a\"}," \
	"{\"access\":\"socket\",\"path\":\"/none/b\"}]"
#define OPENED                                                            \
	"{\"kind\":\"opened\",\"opens\":[{\"access\":\"write\",\"path\":" \
	"\"/none/a\",\"error\":null},{\"access\":\"socket\",\"path\":"    \
	"\"/none/b\",\"error\":null}]}"

static void opens_first(void)
{
	struct asked asked = ask_for("a.test");
	struct supervised s;

	supervised_open(&s);
	broker_ask(&s.sup, &asked.question);
	free(peer_hears(&s));
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"allow\","
		      "\"reason\":\"user\",\"addresses\":[],\"opens\":" OPENS
		      ",\"message\":null}");
	check_next(&s, OPENED);
	CHECK(asked.times == 1 && asked.answer.allowed);
	CHECK(opens_cover(&s.sup, ACCESS_WRITE, "/none/a/b"));
	CHECK(opens_cover(&s.sup, ACCESS_SOCKET, "/none/b"));
	CHECK(!opens_cover(&s.sup, ACCESS_READ, "/none/a"));
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none/ab"));
	supervised_close(&s);
}

/* "/" cannot be mounted over, so the other entry must not stay either. */
static void never_half_open(void)
{
	struct asked asked = ask_for("a.test");
	struct supervised s;

	supervised_open(&s);
	broker_ask(&s.sup, &asked.question);
	free(peer_hears(&s));
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"allow\","
		      "\"reason\":\"user\",\"addresses\":[],\"opens\":["
		      "{\"access\":\"write\",\"path\":\"/none/a\"},"
		      "{\"access\":\"write\",\"path\":\"/\"},"
		      "{\"access\":\"read\",\"path\":\"/none/b\"}],"
		      "\"message\":null}");
	check_next(&s, "{\"kind\":\"opened\",\"opens\":[{\"access\":\"write\","
		       "\"path\":\"/none/a\",\"error\":\"another place of the "
		       "same answer could not be opened\"},{\"access\":"
		       "\"write\",\"path\":\"/\",\"error\":\"the whole file "
		       "system cannot be opened at once\"},{\"access\":"
		       "\"read\",\"path\":\"/none/b\",\"error\":\"another "
		       "place of the same answer could not be opened\"}]}");
	CHECK(asked.times == 1 && !asked.answer.allowed);
	CHECK(asked.answer.reason == REASON_INTERNAL);
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none/a"));
	supervised_close(&s);
}

/* The record has it as given, whoever asked has gone. */
static void opens_for_the_withdrawn(void)
{
	struct asked asked = ask_for("a.test");
	struct supervised s;

	supervised_open(&s);
	broker_ask(&s.sup, &asked.question);
	free(peer_hears(&s));
	broker_withdraw(&s.sup, &asked.question);
	free(peer_hears(&s));
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"allow\","
		      "\"reason\":\"user\",\"addresses\":[],\"opens\":" OPENS
		      ",\"message\":null}");
	check_next(&s, OPENED);
	CHECK(asked.times == 0);
	CHECK(opens_cover(&s.sup, ACCESS_WRITE, "/none/a"));
	supervised_close(&s);
}

static void denial_opens_nothing(void)
{
	struct asked asked = ask_for("a.test");
	struct supervised s;

	supervised_open(&s);
	broker_ask(&s.sup, &asked.question);
	peer_says(&s, "{\"kind\":\"answer\",\"id\":1,\"effect\":\"deny\","
		      "\"reason\":\"user\",\"addresses\":[],\"opens\":" OPENS
		      ",\"message\":null}");
	CHECK(s.sup.channel.fd < 0 && asked.times == 0);
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none/a"));
	broker_withdraw(&s.sup, &asked.question);
	supervised_close(&s);
}

static void in_order(void)
{
	struct supervised s;

	supervised_open(&s);
	for (int i = 0; i < 50; i++) {
		peer_says(&s, "{\"kind\":\"grant\",\"opens\":" OPENS "}");
		peer_says(&s, "{\"kind\":\"revoke\",\"connections\":[],"
			      "\"opens\":" OPENS ",\"ports\":[]}");
	}
	for (int i = 0; i < 50; i++) {
		check_next(&s, OPENED);
		check_next(&s, "{\"kind\":\"revoked\",\"opens\":[{\"access\":"
			       "\"write\",\"path\":\"/none/a\",\"busy\":false}"
			       ",{\"access\":\"socket\",\"path\":\"/none/b\","
			       "\"busy\":false}]}");
	}
	CHECK(!opens_cover(&s.sup, ACCESS_WRITE, "/none/a"));
	CHECK(!opens_cover(&s.sup, ACCESS_SOCKET, "/none/b"));
	CHECK_STRING(recorded.stopped, "");
	supervised_close(&s);
}

static void welcome_unasked(void)
{
	struct supervised s;

	supervised_open(&s);
	peer_says(&s, "{\"kind\":\"welcome\",\"opens\":[]}");
	CHECK(s.sup.channel.fd < 0);
	supervised_close(&s);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "every frame that a broker may send is taken", valid_frames },
		{ "every other frame closes the channel", invalid_frames },
		{ "a question is asked and answered once", ask_and_answer },
		{ "an answer's addresses are bounded", addresses_have_a_limit },
		{ "a withdrawn question has no answer", withdrawn },
		{ "a question without an answer is denied", no_answer },
		{ "the loss of the broker ends the run", loss_ends },
		{ "a run that waits for another broker denies in the end",
		  loss_waits },
		{ "an answer takes effect when its places are open",
		  opens_first },
		{ "an answer opens all of its places or none",
		  never_half_open },
		{ "an answer to a withdrawn question opens all the same",
		  opens_for_the_withdrawn },
		{ "a refusal that opens something is refused",
		  denial_opens_nothing },
		{ "grants and revocations are carried out in order", in_order },
		{ "a welcome that nobody asked for is refused",
		  welcome_unasked },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
