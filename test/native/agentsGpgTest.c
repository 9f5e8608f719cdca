/* agentsGpg.c: what a program may say to gpg-agent. */
#include "linux/sockets/agentsGpg.h"

#include "check.h"

#define GRIP "0123456789abcdefABCDEF0123456789abcdef01"

static struct gpg_client client;

/* In memory of its own size, so that ASan sees each read beyond the end. */
static enum gpg_step judge_bytes(const char *line, size_t length)
{
	char *copy = malloc(length ? length : 1);
	enum gpg_step step;

	memcpy(copy, line, length);
	step = gpg_judge_line(&client, copy, length);
	free(copy);
	return step;
}

static enum gpg_step judge(const char *line)
{
	return judge_bytes(line, strlen(line));
}

static void begin(void)
{
	client = (struct gpg_client){ 0 };
}

static void harmless_lines_pass(void)
{
	static const char *const lines[] = {
		"RESET",
		"reset",
		"NOP\r",
		"GETINFO version",
		"GETINFO cmd_has_option GET_PASSPHRASE repeat",
		"HAVEKEY --list=1000",
		"HAVEKEY 0123 4567",
		"KEYINFO --list",
		"SETKEYDESC a+b%0Ac",
		"SETHASH --hash=sha256 00ff",
		"OPTION lc-ctype=C.UTF-8",
		"OPTION allow-pinentry-notify",
		"OPTION --pinentry-mode = loopback",
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (judge(lines[i]) != GPG_PASS) {
			printf("# %s\n", lines[i]);
			CHECK(!"passes");
		}
	CHECK(judge("READKEY " GRIP) == GPG_PASS);
	CHECK(judge("BYE") == GPG_END);
	CHECK(judge("") == GPG_IGNORE);
	CHECK(judge("\r") == GPG_IGNORE);
	CHECK(judge("# PKSIGN") == GPG_IGNORE);
}

static void all_else_is_refused(void)
{
	static const char *const lines[] = {
		"PRESET_PASSPHRASE " GRIP " -1 00",
		"GET_PASSPHRASE x",
		"CLEAR_PASSPHRASE x",
		"GET_CONFIRMATION x",
		"IMPORT_KEY",
		"EXPORT_KEY " GRIP,
		"KEYWRAP_KEY --import",
		"DELETE_KEY " GRIP,
		"KILLAGENT",
		"RELOADAGENT",
		"UPDATESTARTUPTTY",
		"GENKEY",
		"PASSWD " GRIP,
		"LEARN",
		"SCD PKSIGN " GRIP,
		"MARKTRUSTED x",
		"KEYATTR " GRIP,
		"KEYTOCARD " GRIP,
		"PUTVAL x y",
		"PUT_SECRET x",
		"D data",
		"END",
		"INPUT FD=3",
		"PKSIGNX",
		" PKSIGN",
		"\tBYE",
		"RESET now",
		"GETINFO",
		"GETINFO std_startup_env",
		"GETINFO versions",
		"OPTION",
		"OPTION s2k-countx=1",
		"OPTION preset",
		"READKEY --card x",
		"SIGKEY",
		"SIGKEY 0123",
		"SIGKEY " GRIP " x",
		"SIGKEY " GRIP "0",
		"SETKEYDESC %0",
		"SETKEYDESC %zz",
		"NOP\rBYE",
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (judge(lines[i]) != GPG_REFUSE) {
			printf("# %s\n", lines[i]);
			CHECK(!"refused");
		}
	CHECK(judge_bytes("NOP\0", 4) == GPG_REFUSE);
	CHECK(judge_bytes("NOP\0BYE", 7) == GPG_REFUSE);
}

static void displays_are_not_told(void)
{
	static const char *const lines[] = {
		"OPTION display=evil.test:0",
		"OPTION putenv=DISPLAY=evil.test:0",
		"OPTION --xauthority=/tmp/x",
		"OPTION TTYNAME /dev/pts/0",
		"option ttytype=xterm",
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		CHECK(judge(lines[i]) == GPG_SATISFY);
}

static void uses_name_their_key(void)
{
	char purpose[GPG_PURPOSE_MAX];

	begin();
	CHECK(judge("PKSIGN") == GPG_REFUSE);
	CHECK(judge("SIGKEY " GRIP) == GPG_SELECT);
	CHECK(judge("PKSIGN") == GPG_REFUSE); /* not taken yet */
	gpg_take_key(&client, true);
	CHECK_STRING(client.key, GRIP);
	CHECK(judge("SETKEYDESC this%21%0Aplease") == GPG_PASS);
	CHECK(judge("pksign --hash=sha256") == GPG_USE);
	gpg_take_purpose(&client, purpose);
	CHECK_STRING(purpose, "sign: this! please");
	CHECK(judge("PKSIGN") == GPG_USE);
	gpg_take_purpose(&client, purpose);
	CHECK_STRING(purpose, "sign"); /* it was for the use before */
	CHECK(judge("SETKEYDESC open") == GPG_PASS);
	CHECK(judge("PKDECRYPT") == GPG_USE);
	gpg_take_purpose(&client, purpose);
	CHECK_STRING(purpose, "decrypt: open");
}

static void other_keys_are_not_told(void)
{
	begin();
	CHECK(judge("SIGKEY " GRIP) == GPG_SELECT);
	gpg_take_key(&client, true);
	CHECK(judge("SETKEY 1111111111111111111111111111111111111111") ==
	      GPG_SELECT);
	gpg_take_key(&client, false); /* then nobody knows which it has */
	CHECK(judge("PKDECRYPT") == GPG_REFUSE);
	CHECK(judge("SIGKEY " GRIP) == GPG_SELECT);
	gpg_take_key(&client, true);
	CHECK(judge("RESET") == GPG_PASS);
	CHECK(judge("PKSIGN") == GPG_REFUSE);
}

static void long_lines_are_refused(void)
{
	static const char command[] = "SETKEYDESC ";
	char line[GPG_LINE_MAX + 2];
	char purpose[GPG_PURPOSE_MAX];

	begin();
	memset(line, 'x', sizeof(line));
	for (size_t i = 0; i < strlen(command); i++)
		line[i] = command[i];
	CHECK(judge_bytes(line, GPG_LINE_MAX + 1) == GPG_REFUSE);
	CHECK(judge_bytes(line, GPG_LINE_MAX) == GPG_PASS);
	client.decrypts = true;
	gpg_take_purpose(&client, purpose);
	CHECK(strlen(purpose) == strlen("decrypt: ") + GPG_LINE_MAX - 11);
}

static void answers_are_told_apart(void)
{
	static const struct {
		const char *line;
		enum gpg_answer answer;
	} known[] = {
		{ "OK", GPG_OK },
		{ "OK Pleased to meet you", GPG_OK },
		{ "OK\r", GPG_OK },
		{ "OKAY", GPG_MORE },
		{ "ERR 1 x", GPG_ERROR },
		{ "INQUIRE CIPHERTEXT", GPG_INQUIRY },
		{ "INQUIREX", GPG_MORE },
		{ "D OK", GPG_MORE },
		{ "S KEYINFO x", GPG_MORE },
		{ "", GPG_MORE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		CHECK(gpg_read_answer(known[i].line, strlen(known[i].line)) ==
		      known[i].answer);
}

static void replies_are_told_apart(void)
{
	CHECK(gpg_read_reply("D x", 3) == GPG_REPLY_DATA);
	CHECK(gpg_read_reply("D", 1) == GPG_REPLY_DATA);
	CHECK(gpg_read_reply("END", 3) == GPG_REPLY_LAST);
	CHECK(gpg_read_reply("CAN", 3) == GPG_REPLY_LAST);
	CHECK(gpg_read_reply("DATA", 4) == GPG_REPLY_NOT);
	CHECK(gpg_read_reply("PKSIGN", 6) == GPG_REPLY_NOT);
	CHECK(gpg_read_reply("", 0) == GPG_REPLY_NOT);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "lines that change nothing pass", harmless_lines_pass },
		{ "a line that is not known is refused", all_else_is_refused },
		{ "a display of the program's choice is not passed on",
		  displays_are_not_told },
		{ "a use names the key that the agent has taken, and why",
		  uses_name_their_key },
		{ "a key that the agent did not take is not used",
		  other_keys_are_not_told },
		{ "a line has a limit", long_lines_are_refused },
		{ "the agent's answers are told apart",
		  answers_are_told_apart },
		{ "replies to an inquiry are data or its end",
		  replies_are_told_apart },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
