/*
 * The other end of the control channel: dispatches the broker's frames, keeps
 * the open questions, and survives the broker. Every question ends: answered,
 * after answerMs, after brokerMs without a broker, or withdrawn. A frame that
 * is not as PROTOCOL.md has it closes the channel. Nothing here waits.
 */
#include "broker.h"

#include <string.h>

#include "../network/network.h"
#include "../network/publish.h"
#include "denial.h"
#include "opening.h"

enum channel_state {
	CHANNEL_LOST,
	CHANNEL_GREETING, /* said hello again, no welcome yet */
	CHANNEL_OPEN,
};

struct broker {
	struct supervisor *sup;
	struct loop_source source;
	enum channel_state state;
	int64_t lost_ms; /* when there was a broker last */
	struct loop_timer retry;
	struct loop_timer expiry;   /* of the question that ends first */
	struct question *questions; /* in the order of asking */
	int64_t last_id;
};

static const char *const REASONS[] = {
	[REASON_RULE] = "rule",
	[REASON_GRANT] = "grant",
	[REASON_USER] = "user",
	[REASON_NO_ANSWER] = "noAnswer",
	[REASON_NO_INTERFACE] = "noInterface",
	[REASON_WITHDRAWN] = "withdrawn",
	[REASON_SESSION_CLOSED] = "sessionClosed",
	[REASON_AUDIT_FAILED] = "auditFailed",
	[REASON_UNRESOLVED] = "unresolved",
	[REASON_BROKER_LOST] = "brokerLost",
	[REASON_LIMIT] = "limit",
	[REASON_INTERNAL] = "internal",
};

const char *reason_name(enum reason reason)
{
	return REASONS[reason];
}

/* Questions */

static bool has_rule(const struct wanted *wanted)
{
	return (wanted->action == ACTION_CONNECT ||
		wanted->action == ACTION_LOOKUP) &&
	       wanted->rule != RULE_MODE;
}

void write_request(struct json_writer *w, const struct subject *subject,
		   const struct wanted *wanted)
{
	subject_write(w, subject);
	wanted_write(w, wanted);
	json_key(w, "rule");
	if (has_rule(wanted))
		json_integer(w, wanted->rule);
	else
		json_null(w);
}

static void send_question(struct broker *broker, const struct question *q)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "ask");
	json_member_integer(&w, "id", q->id);
	write_request(&w, q->subject, &q->wanted);
	json_key(&w, "because");
	if (q->wanted.because)
		json_string(&w, q->wanted.because);
	else
		json_null(&w);
	json_member_string(&w, "want",
			   q->wanted.wants_addresses ? "addresses"
						     : "decision");
	json_close_object(&w);
	broker_send(broker->sup, &w);
}

static void send_withdrawal(struct broker *broker, const struct question *q)
{
	AUTO_WRITER struct json_writer w = { 0 };

	if (broker->state != CHANNEL_OPEN)
		return;
	json_open_frame(&w, "withdraw");
	json_member_integer(&w, "id", q->id);
	json_close_object(&w);
	broker_send(broker->sup, &w);
}

/* Takes it off the list; whether it was there. */
static bool forget(struct broker *broker, const struct question *question)
{
	for (struct question **at = &broker->questions; *at; at = &(*at)->next)
		if (*at == question) {
			*at = question->next;
			return true;
		}
	return false;
}

static int64_t no_answer_at(const struct broker *broker,
			    const struct question *q)
{
	return q->asked_ms + broker->sup->plan->answer_ms;
}

static int64_t broker_lost_at(const struct broker *broker,
			      const struct question *q)
{
	int64_t from =
		q->asked_ms > broker->lost_ms ? q->asked_ms : broker->lost_ms;

	if (broker->state == CHANNEL_OPEN)
		return INT64_MAX;
	return from + broker->sup->plan->broker_ms;
}

static void watch_expiry(struct broker *broker);

static void settle(struct broker *broker, struct question *question,
		   const struct answer *answer)
{
	if (forget(broker, question))
		question->settled(question, answer);
}

static void expire(void *owner)
{
	struct broker *broker = owner;
	struct answer answer = { .allowed = false };
	int64_t now = loop_now_ms();
	struct question *q = broker->questions, *next;

	for (; q; q = next) {
		next = q->next;
		if (q->answered)
			continue;
		if (broker_lost_at(broker, q) <= now)
			answer.reason = REASON_BROKER_LOST;
		else if (no_answer_at(broker, q) <= now)
			answer.reason = REASON_NO_ANSWER;
		else
			continue;
		send_withdrawal(broker, q);
		settle(broker, q, &answer);
	}
	watch_expiry(broker);
}

static void watch_expiry(struct broker *broker)
{
	int64_t soonest = INT64_MAX, at;

	for (const struct question *q = broker->questions; q; q = q->next) {
		if (q->answered)
			continue;
		at = no_answer_at(broker, q);
		if (at > broker_lost_at(broker, q))
			at = broker_lost_at(broker, q);
		if (at < soonest)
			soonest = at;
	}
	if (soonest == INT64_MAX) {
		loop_disarm(&broker->sup->loop, &broker->expiry);
		return;
	}
	at = soonest - loop_now_ms();
	loop_arm(&broker->sup->loop, &broker->expiry, at > 0 ? at : 0);
}

void broker_ask(struct supervisor *sup, struct question *question)
{
	struct broker *broker = sup->broker;
	struct question **last = &broker->questions;

	question->next = NULL;
	question->answered = false;
	question->id = ++broker->last_id;
	question->asked_ms = loop_now_ms();
	while (*last)
		last = &(*last)->next;
	*last = question;
	watch_expiry(broker);
	if (broker->state == CHANNEL_OPEN)
		send_question(broker, question);
}

void broker_withdraw(struct supervisor *sup, struct question *question)
{
	if (!forget(sup->broker, question))
		return;
	if (!question->answered)
		send_withdrawal(sup->broker, question);
	watch_expiry(sup->broker);
}

/* Frames of the broker */

static struct question *find_question(const struct broker *broker, int64_t id)
{
	struct question *q = broker->questions;

	while (q && q->id != id)
		q = q->next;
	return q;
}

/* Addresses beyond the limit are not dialled: there are enough before. */
static int read_addresses(const struct json *list, struct answer *answer)
{
	const char *text;
	int err;

	if (!list || list->type != JSON_ARRAY)
		return -EBADMSG;
	for (const struct json *entry = list->first; entry;
	     entry = entry->next) {
		if (answer->address_count == ANSWER_ADDRESSES_MAX)
			return 0;
		text = json_as_string(entry);
		if (!text)
			return -EBADMSG;
		err = address_parse(text,
				    &answer->addresses[answer->address_count]);
		if (err)
			return err;
		answer->address_count++;
	}
	return 0;
}

/* An answer whose places are being opened. */
struct accepted {
	int64_t id;
	struct answer answer;
};

static void settle_by_id(struct broker *broker, int64_t id,
			 const struct answer *answer)
{
	struct question *question = find_question(broker, id);

	if (question)
		settle(broker, question, answer);
	watch_expiry(broker);
}

/* Never half open: when one place stayed closed, the call is refused. */
static void answer_opened(struct opening_job *job)
{
	struct accepted *accepted = job->owner;

	broker_send(job->sup, &job->told);
	if (job->err)
		accepted->answer = (struct answer){
			.allowed = false,
			.reason = REASON_INTERNAL,
		};
	settle_by_id(job->sup->broker, accepted->id, &accepted->answer);
	free(accepted);
	opening_free(job);
}

/* What was asked about must be what is opened. */
static void pass_judged(struct opening_job *job,
			const struct question *question)
{
	const char *wider = wanted_wider(&question->wanted);

	for (size_t i = 0; wider && i < job->count; i++)
		if (strcmp(job->entries[i].open.path, wider) == 0)
			job->entries[i].judged = question->judged;
}

/* Also when its question was withdrawn: the person has opened these. */
static int open_and_settle(struct broker *broker, const struct json *opens,
			   int64_t id, const struct answer *answer)
{
	struct question *question = find_question(broker, id);
	struct accepted *accepted;
	struct opening_job *job;
	int err = opening_parse(opens, &job);

	if (err)
		return err;
	if (job->count == 0 || !answer->allowed) {
		err = job->count ? -EBADMSG : 0;
		opening_free(job);
		if (!err)
			settle_by_id(broker, id, answer);
		return err;
	}
	accepted = malloc(sizeof(*accepted));
	if (!accepted) {
		opening_free(job);
		return -ENOMEM;
	}
	*accepted = (struct accepted){ id, *answer };
	if (question)
		pass_judged(job, question);
	job->kind = OPENING_ADD_ALL;
	job->done = answer_opened;
	job->owner = accepted;
	err = opening_begin(broker->sup, job);
	if (err) {
		free(accepted);
		opening_free(job);
	} else if (question) {
		question->answered = true;
	}
	return err;
}

static int take_answer(struct broker *broker, const struct json *frame)
{
	static const char *const keys[] = { "kind",   "id",    "effect",
					    "reason", "opens", "addresses",
					    "message" };
	static const char *const effects[] = { "deny", "allow" };
	const struct json *message = json_member(frame, "message");
	struct answer answer = { 0 };
	const struct question *question;
	int err, effect, reason;
	int64_t id;

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)) ||
	    json_as_integer(json_member(frame, "id"), 1, INT64_MAX, &id) ||
	    (!json_as_string(message) && message->type != JSON_NULL))
		return -EBADMSG;
	effect = json_as_choice(json_member(frame, "effect"), effects,
				ARRAY_SIZE(effects));
	reason = json_as_choice(json_member(frame, "reason"), REASONS,
				ARRAY_SIZE(REASONS));
	if (effect < 0 || reason < 0)
		return -EBADMSG;
	err = read_addresses(json_member(frame, "addresses"), &answer);
	if (err)
		return err;
	question = find_question(broker, id);
	if (question && question->answered)
		return 0;
	answer.allowed = effect == 1;
	answer.reason = (enum reason)reason;
	answer.told = message->type == JSON_STRING;
	/* Without a question: withdrawn while the answer was on its way. */
	if (answer.told && question)
		print_line(broker->sup, message->string);
	return open_and_settle(broker, json_member(frame, "opens"), id,
			       &answer);
}

/* Opens that no call waits for */

static void granted(struct opening_job *job)
{
	broker_send(job->sup, &job->told);
	opening_free(job);
}

/* What cannot be closed ends the run: nobody may go on writing there. */
static void revoked(struct opening_job *job)
{
	broker_send(job->sup, &job->told);
	if (job->err) {
		print_line(job->sup, "cordon: a place that was taken back "
				     "could not be closed; the run ends");
		stop_run(job->sup, REASONS[REASON_INTERNAL]);
	}
	opening_free(job);
}

static int begin(struct broker *broker, const struct json *opens,
		 enum opening_kind kind, void (*done)(struct opening_job *job))
{
	struct opening_job *job;
	int err = opening_parse(opens, &job);

	if (err)
		return err;
	if (job->count == 0 && kind != OPENING_KEEP) {
		opening_free(job);
		return 0;
	}
	job->kind = kind;
	job->done = done;
	err = opening_begin(broker->sup, job);
	if (err)
		opening_free(job);
	return err;
}

static int take_grant(struct broker *broker, const struct json *frame)
{
	static const char *const keys[] = { "kind", "opens" };

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)))
		return -EBADMSG;
	return begin(broker, json_member(frame, "opens"), OPENING_ADD, granted);
}

static int take_notice(struct broker *broker, const struct json *frame)
{
	static const char *const keys[] = { "kind", "text" };
	const char *text = json_as_string(json_member(frame, "text"));

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)) || !text)
		return -EBADMSG;
	print_line(broker->sup, text);
	return 0;
}

static int take_stop(struct broker *broker, const struct json *frame)
{
	static const char *const keys[] = { "kind", "reason" };
	int reason = json_as_choice(json_member(frame, "reason"), REASONS,
				    ARRAY_SIZE(REASONS));

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)) || reason < 0)
		return -EBADMSG;
	stop_run(broker->sup, REASONS[reason]);
	return 0;
}

/* {host, port} or {address, port}. */
static int read_connection(const struct json *entry, struct destination *ret_to)
{
	static const char *const keys[2][2] = { { "host", "port" },
						{ "address", "port" } };
	const char *host = json_as_string(json_member(entry, "host"));
	const char *address = json_as_string(json_member(entry, "address"));
	struct destination to = { .host = host };
	int64_t port;

	if (json_expect_keys(entry, keys[!host], 2) ||
	    json_as_integer(json_member(entry, "port"), 1, 65535, &port))
		return -EBADMSG;
	to.port = (uint16_t)port;
	if (host ? !is_host_name(host)
		 : !address || address_parse(address, &to.address))
		return -EBADMSG;
	*ret_to = to;
	return 0;
}

static int revoke_connections(struct broker *broker, const struct json *list)
{
	struct destination to;
	int err;

	if (list->type != JSON_ARRAY)
		return -EBADMSG;
	for (const struct json *entry = list->first; entry;
	     entry = entry->next) {
		err = read_connection(entry, &to);
		if (err)
			return err;
		network_revoke(broker->sup, &to);
	}
	return 0;
}

static int revoke_ports(struct broker *broker, const struct json *list)
{
	int64_t port;

	if (list->type != JSON_ARRAY)
		return -EBADMSG;
	for (const struct json *entry = list->first; entry;
	     entry = entry->next) {
		if (json_as_integer(entry, 1, 65535, &port))
			return -EBADMSG;
		publish_revoke(broker->sup, (uint16_t)port);
	}
	return 0;
}

static int take_revocation(struct broker *broker, const struct json *frame)
{
	static const char *const keys[] = { "kind", "connections", "opens",
					    "ports" };
	int err;

	if (json_expect_keys(frame, keys, ARRAY_SIZE(keys)))
		return -EBADMSG;
	err = revoke_connections(broker, json_member(frame, "connections"));
	if (!err)
		err = revoke_ports(broker, json_member(frame, "ports"));
	if (err)
		return err;
	return begin(broker, json_member(frame, "opens"), OPENING_REMOVE,
		     revoked);
}

/*
 * A broker that takes this run over is told again what is open. What was
 * opened and is not in its record any more is closed.
 */
static int take_welcome(struct broker *broker, const struct json *frame)
{
	static const char *const keys[] = { "kind", "opens" };
	int err;

	if (broker->state != CHANNEL_GREETING ||
	    json_expect_keys(frame, keys, ARRAY_SIZE(keys)))
		return -EBADMSG;
	err = begin(broker, json_member(frame, "opens"), OPENING_KEEP, revoked);
	if (err)
		return err;
	broker->state = CHANNEL_OPEN;
	for (const struct question *q = broker->questions;
	     q && broker->state == CHANNEL_OPEN; q = q->next)
		if (!q->answered)
			send_question(broker, q);
	publish_tell(broker->sup);
	watch_expiry(broker);
	return 0;
}

static int take_frame(struct broker *broker, const struct json *frame)
{
	enum { ANSWER, NOTICE, STOP, HOLD, RESUME, GRANT, REVOKE, WELCOME };
	static const char *const kinds[] = {
		[ANSWER] = "answer", [NOTICE] = "notice",   [STOP] = "stop",
		[HOLD] = "hold",     [RESUME] = "resume",   [GRANT] = "grant",
		[REVOKE] = "revoke", [WELCOME] = "welcome",
	};
	int kind = json_as_choice(json_member(frame, "kind"), kinds,
				  ARRAY_SIZE(kinds));

	/* Before its welcome a broker has nothing to say about this run. */
	if (broker->state == CHANNEL_GREETING && kind != WELCOME)
		return -EBADMSG;
	switch (kind) {
	case ANSWER:
		return take_answer(broker, frame);
	case NOTICE:
		return take_notice(broker, frame);
	case STOP:
		return take_stop(broker, frame);
	case GRANT:
		return take_grant(broker, frame);
	case REVOKE:
		return take_revocation(broker, frame);
	case WELCOME:
		return take_welcome(broker, frame);
	case HOLD:
	case RESUME:
		if (frame->length != 1)
			return -EBADMSG;
		if (kind == HOLD)
			terminal_hold(broker->sup);
		else
			terminal_resume(broker->sup);
		return 0;
	default: /* "error" too: whatever it was, we part */
		return -EBADMSG;
	}
}

/* The channel */

static void lose(struct broker *broker)
{
	struct supervisor *sup = broker->sup;

	if (broker->state == CHANNEL_LOST)
		return;
	if (broker->state == CHANNEL_OPEN)
		broker->lost_ms = loop_now_ms();
	broker->state = CHANNEL_LOST;
	loop_remove(&sup->loop, &broker->source);
	frame_close(&sup->channel);
	/* Nobody is left who could say that the question is over. */
	terminal_resume(sup);
	if (sup->plan->broker_loss_ends)
		stop_run(sup, REASONS[REASON_BROKER_LOST]);
	else
		loop_arm(&sup->loop, &broker->retry, BROKER_RETRY_MS);
	watch_expiry(broker);
}

static void refuse_peer(struct broker *broker, int err)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "error");
	json_member_string(&w, "code", "malformedFrame");
	json_member_string(&w, "stage", "broker");
	json_member_string(&w, "message", "a frame is not as it should be");
	json_member_integer(&w, "errno", -err);
	json_close_object(&w);
	/* It may be gone; it is left in either case. */
	(void)!frame_send(&broker->sup->channel, &w);
}

static int read_frame(struct broker *broker, char *text, size_t length)
{
	AUTO_ARENA struct json_arena arena = { 0 };
	const struct json *frame;
	int err;

	err = json_parse(text, length, &arena, &frame);
	if (!err)
		err = take_frame(broker, frame);
	return err;
}

static void read_frames(struct broker *broker)
{
	char *text;
	size_t length;
	int result;

	while (broker->state != CHANNEL_LOST) {
		result = frame_read(&broker->sup->channel, &text, &length);
		if (result == 0)
			return;
		if (result > 0) {
			result = read_frame(broker, text, length);
			if (result == 0)
				continue;
			refuse_peer(broker, result);
		}
		lose(broker);
	}
}

static void watch_channel(struct broker *broker)
{
	uint32_t events = EPOLLIN;

	if (frame_pending(&broker->sup->channel))
		events |= EPOLLOUT;
	if (loop_change(&broker->sup->loop, &broker->source, events))
		lose(broker);
}

static void channel_ready(void *owner, uint32_t events)
{
	struct broker *broker = owner;

	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_frames(broker);
	if (broker->state == CHANNEL_LOST)
		return;
	if (frame_flush(&broker->sup->channel))
		lose(broker);
	else
		watch_channel(broker);
}

void broker_send(struct supervisor *sup, const struct json_writer *w)
{
	struct broker *broker = sup->broker;

	if (!broker || broker->state == CHANNEL_LOST)
		return;
	if (frame_send(&sup->channel, w))
		lose(broker);
	else
		watch_channel(broker);
}

static int watch_new_channel(struct broker *broker)
{
	broker->source = (struct loop_source){
		.fd = broker->sup->channel.fd,
		.ready = channel_ready,
		.owner = broker,
	};
	return loop_add(&broker->sup->loop, &broker->source, EPOLLIN);
}

/* Looks for another broker, until one is found or the run ends. */
static void look_again(void *owner)
{
	struct broker *broker = owner;
	struct supervisor *sup = broker->sup;
	AUTO_WRITER struct json_writer w = { 0 };
	const char *what;
	int fd;

	if (sup->exited)
		return;
	if (discover_broker(sup->plan->directory, &fd, &what)) {
		loop_arm(&sup->loop, &broker->retry, BROKER_RETRY_MS);
		return;
	}
	frame_open(&sup->channel, fd, FRAME_MAX);
	broker->state = CHANNEL_GREETING;
	if (watch_new_channel(broker)) {
		lose(broker);
		return;
	}
	write_hello(sup, &w);
	broker_send(sup, &w);
}

int broker_start(struct supervisor *sup)
{
	struct broker *broker = calloc(1, sizeof(*broker));
	int err;

	if (!broker)
		return -ENOMEM;
	broker->sup = sup;
	broker->state = CHANNEL_OPEN;
	broker->retry =
		(struct loop_timer){ .due = look_again, .owner = broker };
	broker->expiry = (struct loop_timer){ .due = expire, .owner = broker };
	err = watch_new_channel(broker);
	if (err) {
		free(broker);
		return err;
	}
	sup->broker = broker;
	return 0;
}

void broker_finish(struct supervisor *sup)
{
	struct broker *broker = sup->broker;

	if (!broker || broker->state == CHANNEL_LOST)
		return;
	broker->state = CHANNEL_LOST;
	loop_remove(&sup->loop, &broker->source);
	/* A broker that no longer reads misses the end, but not its peer's. */
	(void)!frame_flush_wait(&sup->channel, BROKER_FINISH_MS);
	frame_close(&sup->channel);
}
