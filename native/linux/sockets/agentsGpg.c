/* Lines to gpg-agent, see agentsGpg.h. */
#include "agentsGpg.h"

#include <stdio.h>
#include <string.h>

enum argument { NOTHING, ANYTHING, KEYGRIP, DESCRIPTION, INFORMATION, OPTION };

/*
 * Commands are compared without regard to case, as the agent does. What asks
 * for a passphrase in a program's own words, changes keys or trust, reaches
 * a card or ends the agent is left out.
 */
static const struct {
	const char *name;
	enum argument argument;
	enum gpg_step step;
} commands[] = {
	{ "RESET", NOTHING, GPG_PASS },
	{ "NOP", NOTHING, GPG_PASS },
	{ "BYE", NOTHING, GPG_END },
	{ "GETINFO", INFORMATION, GPG_PASS },
	{ "OPTION", OPTION, GPG_PASS },
	{ "HAVEKEY", ANYTHING, GPG_PASS },
	{ "KEYINFO", ANYTHING, GPG_PASS },
	{ "READKEY", KEYGRIP, GPG_PASS },
	{ "SIGKEY", KEYGRIP, GPG_SELECT },
	{ "SETKEY", KEYGRIP, GPG_SELECT },
	{ "SETKEYDESC", DESCRIPTION, GPG_PASS },
	{ "SETHASH", ANYTHING, GPG_PASS },
	{ "PKSIGN", ANYTHING, GPG_USE },
	{ "PKDECRYPT", ANYTHING, GPG_USE },
};

/* GETINFO: not what the agent's own environment holds. */
static const char *const information[] = {
	"version",    "pid",	     "socket_name", "cmd_has_option",
	"restricted", "s2k_count",   "s2k_time",    "s2k_count_cal",
	"s2k_cal",    "jent_active",
};

static const char *const options[] = {
	"lc-ctype",	 "lc-messages",		  "allow-pinentry-notify",
	"pinentry-mode", "use-cache-for-signing", "agent-awareness",
	"s2k-count",
};

/*
 * Where to show a dialog, in names that mean something else out here: a
 * display may even be another host's. The agent shows it where its user is.
 */
static const char *const satisfied_options[] = {
	"display", "xauthority", "putenv", "ttyname", "ttytype",
};

struct word {
	const char *at;
	size_t length;
};

static bool is_word(struct word word, const char *text)
{
	return word.length == strlen(text) &&
	       strncasecmp(word.at, text, word.length) == 0;
}

static bool is_one_of(struct word word, const char *const names[], size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_word(word, names[i]))
			return true;
	return false;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* The first word; *rest is what comes after it and its spaces. */
static struct word take_word(struct word *rest, const char *ends)
{
	struct word word = { rest->at, 0 };

	while (word.length < rest->length &&
	       !strchr(ends, rest->at[word.length]))
		word.length++;
	rest->at += word.length;
	rest->length -= word.length;
	while (rest->length && is_space(rest->at[0])) {
		rest->at++;
		rest->length--;
	}
	return word;
}

static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	found = c ? strchr(digits, c) : NULL;
	return found ? (int)(found - digits) : -1;
}

static bool is_keygrip(struct word argument)
{
	if (argument.length != GPG_KEY_BYTES - 1)
		return false;
	for (size_t i = 0; i < argument.length; i++)
		if (digit_of(argument.at[i]) < 0)
			return false;
	return true;
}

/* Percent-escapes and "+" for a space, as the manual has it for SETKEYDESC. */
static bool decode(struct word argument, char ret_text[GPG_DESCRIPTION_MAX])
{
	char text[GPG_DESCRIPTION_MAX];
	size_t length = 0;

	if (argument.length >= sizeof(text))
		return false;
	for (size_t i = 0; i < argument.length; i++) {
		int c = argument.at[i] == '+' ? ' '
					      : (unsigned char)argument.at[i];

		if (c == '%') {
			if (argument.length - i < 3 ||
			    digit_of(argument.at[i + 1]) < 0 ||
			    digit_of(argument.at[i + 2]) < 0)
				return false;
			c = digit_of(argument.at[i + 1]) << 4 |
			    digit_of(argument.at[i + 2]);
			i += 2;
		}
		/* For a person to read, on one line. */
		text[length++] = (char)(c < 0x20 || c == 0x7f ? ' ' : c);
	}
	text[length] = '\0';
	memcpy(ret_text, text, length + 1);
	return true;
}

static enum gpg_step judge_option(struct word argument)
{
	struct word name;

	/* "NAME=VALUE", "NAME = VALUE", "NAME VALUE", also with dashes. */
	while (argument.length && argument.at[0] == '-') {
		argument.at++;
		argument.length--;
	}
	name = take_word(&argument, "= \t");
	if (is_one_of(name, satisfied_options, ARRAY_SIZE(satisfied_options)))
		return GPG_SATISFY;
	return is_one_of(name, options, ARRAY_SIZE(options)) ? GPG_PASS
							     : GPG_REFUSE;
}

static enum gpg_step judge_command(struct gpg_client *client, size_t command,
				   struct word argument)
{
	enum gpg_step step = commands[command].step;
	struct word first;

	switch (commands[command].argument) {
	case NOTHING:
		if (argument.length)
			return GPG_REFUSE;
		break;
	case ANYTHING:
		break;
	case KEYGRIP:
		if (!is_keygrip(argument))
			return GPG_REFUSE;
		break;
	case DESCRIPTION:
		if (!decode(argument, client->description))
			return GPG_REFUSE;
		break;
	case INFORMATION:
		first = take_word(&argument, " \t");
		if (!is_one_of(first, information, ARRAY_SIZE(information)))
			return GPG_REFUSE;
		break;
	case OPTION:
		return judge_option(argument);
	}
	if (strcmp(commands[command].name, "RESET") == 0)
		*client = (struct gpg_client){ 0 };
	if (step == GPG_SELECT) {
		client->key[0] = '\0';
		memcpy(client->chosen, argument.at, argument.length);
		client->chosen[argument.length] = '\0';
	}
	if (step == GPG_USE) {
		client->decrypts =
			strcmp(commands[command].name, "PKDECRYPT") == 0;
		if (!client->key[0])
			return GPG_REFUSE; /* nobody could say which key */
	}
	return step;
}

enum gpg_step gpg_judge_line(struct gpg_client *client, const char *line,
			     size_t length)
{
	struct word rest = { line, length }, name;

	if (length && line[length - 1] == '\r')
		rest.length--;
	if (length > GPG_LINE_MAX || memchr(rest.at, '\0', rest.length) ||
	    memchr(rest.at, '\r', rest.length))
		return GPG_REFUSE;
	if (rest.length == 0 || rest.at[0] == '#')
		return GPG_IGNORE;
	name = take_word(&rest, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (is_word(name, commands[i].name))
			return judge_command(client, i, rest);
	return GPG_REFUSE;
}

void gpg_take_key(struct gpg_client *client, bool is_taken)
{
	if (is_taken)
		memcpy(client->key, client->chosen, sizeof(client->key));
	client->chosen[0] = '\0';
}

void gpg_take_purpose(struct gpg_client *client, char ret_text[GPG_PURPOSE_MAX])
{
	(void)snprintf(ret_text, GPG_PURPOSE_MAX, "%s%s%s",
		       client->decrypts ? "decrypt" : "sign",
		       client->description[0] ? ": " : "", client->description);
	client->description[0] = '\0';
}

static bool begins(const char *line, size_t length, const char *word)
{
	size_t wanted = strlen(word);

	return length >= wanted && memcmp(line, word, wanted) == 0 &&
	       (length == wanted || is_space(line[wanted]) ||
		line[wanted] == '\r');
}

enum gpg_answer gpg_read_answer(const char *line, size_t length)
{
	if (begins(line, length, "OK"))
		return GPG_OK;
	if (begins(line, length, "ERR"))
		return GPG_ERROR;
	return begins(line, length, "INQUIRE") ? GPG_INQUIRY : GPG_MORE;
}

enum gpg_reply gpg_read_reply(const char *line, size_t length)
{
	if (begins(line, length, "END") || begins(line, length, "CAN"))
		return GPG_REPLY_LAST;
	return begins(line, length, "D") ? GPG_REPLY_DATA : GPG_REPLY_NOT;
}
