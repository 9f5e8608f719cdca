/*
 * Lines that a program says to gpg-agent (the Assuan protocol, its manual's
 * "Agent's Assuan Protocol"): which may pass, which are a use of a key. A
 * command that is not in the table is refused. Never touches the system.
 */
#pragma once

#include "../../common/cordon.h"

enum {
	GPG_LINE_MAX = 1000, /* Assuan's, without the line feed */
	GPG_KEY_BYTES = 41,  /* a keygrip in hexadecimal, with the zero */
	GPG_DESCRIPTION_MAX = GPG_LINE_MAX + 1,
	GPG_PURPOSE_MAX = GPG_DESCRIPTION_MAX + 16,
};

enum gpg_step {
	GPG_REFUSE,  /* not said to the agent */
	GPG_IGNORE,  /* nor answered: an empty line or a comment */
	GPG_SATISFY, /* answered "OK" by us: means nothing outside */
	GPG_PASS,
	GPG_SELECT, /* pass; an "OK" makes gpg_take_key() due */
	GPG_USE,    /* ask first */
	GPG_END,    /* pass; the agent's answer is the last */
};

/* What the connection has chosen so far. Initialise with {0}. */
struct gpg_client {
	char key[GPG_KEY_BYTES];	       /* "" when none */
	char description[GPG_DESCRIPTION_MAX]; /* of the next use, in its words
						*/
	char chosen[GPG_KEY_BYTES]; /* that the agent has not taken yet */
	bool decrypts;		    /* the use: else it signs */
};

/* A whole line without its line feed; any bytes. */
enum gpg_step gpg_judge_line(struct gpg_client *client, const char *line,
			     size_t length);

/* The agent has answered the line that selects a key. */
void gpg_take_key(struct gpg_client *client, bool is_taken);

/* What the use is for, as the program says; once. */
void gpg_take_purpose(struct gpg_client *client,
		      char ret_text[GPG_PURPOSE_MAX]);

/* What a line of the agent is. */
enum gpg_answer {
	GPG_MORE, /* status, data, comment: the answer goes on */
	GPG_OK,
	GPG_ERROR,
	GPG_INQUIRY, /* now the program speaks: D lines, then END or CAN */
};
enum gpg_answer gpg_read_answer(const char *line, size_t length);

/* What a program may say to an inquiry. */
enum gpg_reply { GPG_REPLY_NOT, GPG_REPLY_DATA, GPG_REPLY_LAST };
enum gpg_reply gpg_read_reply(const char *line, size_t length);
