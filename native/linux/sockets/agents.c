/*
 * Agents, see agents.h. Each connection has a thread, which takes turns with
 * the two sides: a request, its answer, and so on, as both protocols have it.
 * Only bytes are carried; descriptors that a program sends along are dropped
 * by the kernel, as they are not received.
 */
#include "agents.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "../supervisor/ask.h"
#include "../supervisor/denial.h"
#include "../supervisor/serving.h"
#include "agentsGpg.h"
#include "agentsSsh.h"

/* gpg-error.h: source 4 is gpg-agent's. */
#define GPG_ERR_FORBIDDEN "ERR 67109115 Forbidden <GPG Agent>\n"
#define GPG_ERR_CANCELED "ERR 67108963 Operation cancelled <GPG Agent>\n"

/* A side whose lines are read: those of gpg-agent's protocol. */
struct line_reader {
	int fd, other;
	size_t begin, end; /* of what is read and not yet taken */
	char bytes[2 * (GPG_LINE_MAX + 2)];
};

const struct planned_agent *find_agent(const struct plan *plan,
				       const char *path)
{
	for (size_t i = 0; i < plan->agent_count; i++)
		if (strcmp(plan->agents[i].path, path) == 0)
			return &plan->agents[i];
	return NULL;
}

static int write_whole(int fd, const void *bytes, size_t length)
{
	const char *at = bytes;
	ssize_t sent;

	while (length) {
		sent = RETRY(send(fd, at, length, MSG_NOSIGNAL));
		if (sent < 0)
			return -errno;
		at += sent;
		length -= (size_t)sent;
	}
	return 0;
}

/*
 * What has come from one side, waiting for it; -EPIPE: a side is gone. A
 * program that goes while its agent shows a dialog ends that by it.
 */
static ssize_t read_some(int fd, int other, void *bytes, size_t size)
{
	struct pollfd sides[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = other },
	};
	ssize_t got;

	if (RETRY(poll(sides, ARRAY_SIZE(sides), -1)) < 0)
		return -errno;
	if (!sides[0].revents)
		return -EPIPE;
	got = RETRY(recv(fd, bytes, size, 0));
	if (got < 0)
		return -errno;
	return got ? got : -EPIPE;
}

static int read_whole(int fd, int other, void *bytes, size_t length)
{
	char *at = bytes;
	ssize_t got;

	while (length) {
		got = read_some(fd, other, at, length);
		if (got < 0)
			return (int)got;
		at += got;
		length -= (size_t)got;
	}
	return 0;
}

/* Asks; false: refused, or nobody waits for it any more. */
static bool may_use(const struct served *served, const char *key,
		    const char *purpose)
{
	const struct planned_agent *agent = served->of;
	struct asker asker = {
		.sup = served->sup,
		.thread = served->thread,
		.is_alive = is_served,
		.of = served,
	};
	struct wanted wanted = {
		.action = ACTION_SIGN,
		.rule = RULE_MODE,
		.agent = agent->kind == AGENT_SSH ? "ssh" : "gpg",
		.key = key,
		.purpose = purpose,
	};
	struct answer answer;

	if (ask_as(&asker, &wanted, &answer))
		return false;
	if (!answer.allowed)
		report_answer(served->sup, served->thread, &wanted, &answer);
	return answer.allowed;
}

/* ssh-agent */

enum { SSH_LENGTH_BYTES = 4 };

struct ssh_message_buffer {
	size_t length; /* of the message, which comes after its length */
	unsigned char whole[SSH_LENGTH_BYTES + SSH_MESSAGE_MAX];
};

static unsigned char *message_of(struct ssh_message_buffer *m)
{
	return m->whole + SSH_LENGTH_BYTES;
}

static int read_message(int fd, int other, struct ssh_message_buffer *m)
{
	const unsigned char *b = m->whole;
	int err = read_whole(fd, other, m->whole, SSH_LENGTH_BYTES);

	if (err)
		return err;
	m->length = (size_t)b[0] << 24 | (size_t)b[1] << 16 |
		    (size_t)b[2] << 8 | b[3];
	if (m->length == 0 || m->length > SSH_MESSAGE_MAX)
		return -EMSGSIZE;
	return read_whole(fd, other, message_of(m), m->length);
}

static int write_message(int fd, const struct ssh_message_buffer *m)
{
	return write_whole(fd, m->whole, SSH_LENGTH_BYTES + m->length);
}

static void write_short(struct ssh_message_buffer *m, enum ssh_message type)
{
	static const unsigned char length[SSH_LENGTH_BYTES] = { 0, 0, 0, 1 };

	memcpy(m->whole, length, sizeof(length));
	m->length = 1;
	message_of(m)[0] = (unsigned char)type;
}

/* A request of our own. */
static int list_identities(const struct served *served,
			   struct ssh_message_buffer *answer)
{
	int err;

	write_short(answer, SSH_AGENTC_REQUEST_IDENTITIES);
	err = write_message(served->outer, answer);
	return err ? err : read_message(served->outer, served->program, answer);
}

struct ssh_turn {
	struct ssh_message_buffer request, answer;
	struct ssh_sessions sessions;
};

/* 0 with whether it is allowed; -errno: the agent is gone. */
static int ask_to_sign(const struct served *served, struct ssh_turn *turn,
		       const struct ssh_request *sign, bool *ret_allowed)
{
	char key[SSH_KEY_TEXT_MAX], purpose[SSH_PURPOSE_MAX];
	int err = list_identities(served, &turn->answer);

	if (err)
		return err;
	ssh_describe_key(sign->key, message_of(&turn->answer),
			 turn->answer.length, key);
	ssh_describe_purpose(sign, &turn->sessions, purpose);
	*ret_allowed = may_use(served, key, purpose);
	return 0;
}

static int answer_request(const struct served *served, struct ssh_turn *turn)
{
	struct ssh_request request = ssh_parse_request(
		message_of(&turn->request), turn->request.length);
	bool allowed = request.kind != SSH_REFUSED;
	int err = 0;

	if (request.kind == SSH_SIGN)
		err = ask_to_sign(served, turn, &request, &allowed);
	if (!err && allowed)
		err = write_message(served->outer, &turn->request);
	if (!err && allowed)
		err = read_message(served->outer, served->program,
				   &turn->answer);
	if (err)
		return err;
	if (!allowed)
		write_short(&turn->answer, SSH_AGENT_FAILURE);
	else if (request.kind == SSH_BIND &&
		 message_of(&turn->answer)[0] == SSH_AGENT_SUCCESS)
		ssh_bind_session(&turn->sessions, &request);
	return write_message(served->program, &turn->answer);
}

static void serve_ssh(const struct served *served)
{
	AUTO_FREE struct ssh_turn *turn = calloc(1, sizeof(*turn));
	int err = turn ? 0 : -ENOMEM;

	while (!err) {
		err = read_message(served->program, served->outer,
				   &turn->request);
		if (!err)
			err = answer_request(served, turn);
	}
}

/* gpg-agent */

/* With its line feed, in the reader until the next call. */
static int read_line(struct line_reader *r, const char **ret_line,
		     size_t *ret_length)
{
	const char *found;
	ssize_t got;

	for (;;) {
		found = memchr(r->bytes + r->begin, '\n', r->end - r->begin);
		if (found)
			break;
		memmove(r->bytes, r->bytes + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
		if (r->end > GPG_LINE_MAX + 1)
			return -EMSGSIZE;
		got = read_some(r->fd, r->other, r->bytes + r->end,
				sizeof(r->bytes) - r->end);
		if (got < 0)
			return (int)got;
		r->end += (size_t)got;
	}
	*ret_line = r->bytes + r->begin;
	*ret_length = (size_t)(found - *ret_line) + 1;
	r->begin += *ret_length;
	return 0;
}

struct gpg_turn {
	struct line_reader program, agent;
	struct gpg_client client;
};

/* What the agent inquires, from the program, until it has said all. */
static int pass_replies(struct gpg_turn *turn)
{
	enum gpg_reply reply = GPG_REPLY_DATA;
	const char *line;
	size_t length;
	int err = 0;

	while (!err && reply != GPG_REPLY_LAST) {
		err = read_line(&turn->program, &line, &length);
		if (err)
			return err;
		reply = gpg_read_reply(line, length - 1);
		if (reply == GPG_REPLY_NOT)
			return -EPROTO;
		err = write_whole(turn->agent.fd, line, length);
	}
	return err;
}

/* The agent's whole answer to a command. */
static int pass_answer(struct gpg_turn *turn, enum gpg_answer *ret_answer)
{
	enum gpg_answer answer;
	const char *line;
	size_t length;
	int err;

	do {
		err = read_line(&turn->agent, &line, &length);
		if (err)
			return err;
		answer = gpg_read_answer(line, length - 1);
		err = write_whole(turn->program.fd, line, length);
		if (!err && answer == GPG_INQUIRY)
			err = pass_replies(turn);
	} while (!err && answer != GPG_OK && answer != GPG_ERROR);
	*ret_answer = answer;
	return err;
}

static int answer_here(const struct gpg_turn *turn, const char *line)
{
	return write_whole(turn->program.fd, line, strlen(line));
}

static bool may_use_gpg(const struct served *served, struct gpg_turn *turn)
{
	char purpose[GPG_PURPOSE_MAX];

	gpg_take_purpose(&turn->client, purpose);
	return may_use(served, turn->client.key, purpose);
}

/* 0: more lines may come. */
static int answer_line(const struct served *served, struct gpg_turn *turn,
		       const char *line, size_t length)
{
	enum gpg_step step = gpg_judge_line(&turn->client, line, length - 1);
	enum gpg_answer answer;
	int err;

	switch (step) {
	case GPG_IGNORE:
		return 0;
	case GPG_REFUSE:
		return answer_here(turn, GPG_ERR_FORBIDDEN);
	case GPG_SATISFY:
		return answer_here(turn, "OK\n");
	case GPG_USE:
		if (!may_use_gpg(served, turn))
			return answer_here(turn, GPG_ERR_CANCELED);
		break;
	case GPG_PASS:
	case GPG_SELECT:
	case GPG_END:
		break;
	}
	err = write_whole(turn->agent.fd, line, length);
	if (!err)
		err = pass_answer(turn, &answer);
	if (!err && step == GPG_SELECT)
		gpg_take_key(&turn->client, answer == GPG_OK);
	return !err && step == GPG_END ? -EPIPE : err;
}

static void serve_gpg(const struct served *served)
{
	AUTO_FREE struct gpg_turn *turn = calloc(1, sizeof(*turn));
	enum gpg_answer greeting;
	const char *line;
	size_t length;
	int err;

	if (!turn)
		return;
	turn->program.fd = turn->agent.other = served->program;
	turn->agent.fd = turn->program.other = served->outer;
	err = pass_answer(turn, &greeting);
	while (!err) {
		err = read_line(&turn->program, &line, &length);
		if (!err)
			err = answer_line(served, turn, line, length);
	}
}

/* Connections */

/* The agent is trusted; where it listens is not a place of the sandbox. */
static int connect_agent(const char *path, int *ret_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return -errno;
	*ret_fd = TAKE(fd);
	return 0;
}

int agents_connect(const struct call *call, const struct target_socket *socket,
		   const struct planned_agent *agent)
{
	struct served served = {
		.kind = SERVED_AGENT,
		.serve = agent->kind == AGENT_SSH ? serve_ssh : serve_gpg,
		.of = agent,
	};
	int err = connect_agent(agent->path, &served.outer);

	return err ? err : serve_caller(call, socket->fd, &served);
}
