/* Refusals, see denial.h. */
#include "denial.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

enum {
	PLACE_BYTES_MAX = PATH_BYTES_MAX + 64,
	DEED_BYTES_MAX = 2 * PATH_BYTES_MAX + 64,
	WHY_BYTES_MAX = 512,
};

/* What the program wanted, after its name */

static void write_destination(const struct destination *to, char *ret_text,
			      size_t size)
{
	char address[ADDRESS_TEXT_MAX];

	if (to->host) {
		(void)snprintf(ret_text, size, "%s:%u", to->host, to->port);
		return;
	}
	address_format(&to->address, address);
	(void)snprintf(ret_text, size,
		       to->address.family == AF_INET ? "%s:%u" : "[%s]:%u",
		       address, to->port);
}

/* What a file call does, in words before the path. */
static const char *describe_call(const char *call)
{
	static const struct {
		const char *call, *words;
	} calls[] = {
		{ "create", "create" },
		{ "open", "write to" },
		{ "mkdir", "make the folder" },
		{ "remove", "remove" },
		{ "rename", "rename" },
		{ "link", "link" },
		{ "symlink", "make the symbolic link" },
		{ "mknod", "make the special file" },
		{ "truncate", "cut" },
		{ "mode", "change the mode of" },
		{ "owner", "change the owner of" },
		{ "times", "change the times of" },
		{ "attribute", "change an attribute of" },
		{ "bind", "make the socket" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (strcmp(calls[i].call, call) == 0)
			return calls[i].words;
	return "change";
}

static void write_deed(const struct wanted *wanted, char *ret_text, size_t size)
{
	size_t length;

	switch (wanted->action) {
	case ACTION_CONNECT:
	case ACTION_LOOKUP:
		(void)snprintf(ret_text, size, "to ");
		write_destination(&wanted->to, ret_text + 3, size - 3);
		return;
	case ACTION_WRITE:
		(void)snprintf(ret_text, size, "%s %s",
			       describe_call(wanted->call), wanted->path);
		length = strlen(ret_text);
		if (wanted->other)
			(void)snprintf(ret_text + length, size - length,
				       " (with %s)", wanted->other);
		return;
	case ACTION_GIT:
		(void)snprintf(ret_text, size,
			       "change the git repository %s (%s)",
			       wanted->other, wanted->path);
		return;
	case ACTION_READ:
		(void)snprintf(ret_text, size, "read %s", wanted->path);
		return;
	case ACTION_SOCKET:
		(void)snprintf(ret_text, size, "%s the socket %s",
			       strcmp(wanted->call, "bind") == 0 ? "make"
								 : "connect to",
			       wanted->path);
		return;
	case ACTION_SIGN:
		(void)snprintf(ret_text, size, "sign with the %s key %s",
			       wanted->agent, wanted->key);
		return;
	case ACTION_PUBLISH:
		(void)snprintf(ret_text, size, "publish port %u",
			       wanted->to.port);
		return;
	}
}

/* Why, and what to do */

static void write_rule_text(const struct rule *rule, char *ret_text,
			    size_t size)
{
	struct ip_address address = { .family = rule->network.family };
	char where[HOST_BYTES_MAX + 8], ports[16] = "";

	if (rule->host) {
		(void)snprintf(where, sizeof(where), "%s", rule->host);
	} else {
		char text[ADDRESS_TEXT_MAX];

		memcpy(address.bytes, rule->network.bytes,
		       sizeof(address.bytes));
		address_format(&address, text);
		(void)snprintf(where, sizeof(where), "%s/%u", text,
			       rule->network.prefix);
	}
	if (rule->from == rule->to)
		(void)snprintf(ports, sizeof(ports), ":%u", rule->from);
	else if (rule->from != 1 || rule->to != 65535)
		(void)snprintf(ports, sizeof(ports), ":%u-%u", rule->from,
			       rule->to);
	(void)snprintf(ret_text, size, "rule: deny %s%s", where, ports);
}

static void write_network_why(const struct plan *plan,
			      const struct wanted *wanted, char *ret_text,
			      size_t size)
{
	char text[HOST_BYTES_MAX + WHY_BYTES_MAX];

	if (wanted->rule == RULE_MODE) {
		write_destination(&wanted->to, text, sizeof(text));
		(void)snprintf(ret_text, size,
			       "the network is off; to allow it, add \"%s\" to "
			       "the setting cordon.network.allow",
			       text);
		return;
	}
	write_rule_text(&plan->rules[wanted->rule], text, sizeof(text));
	(void)snprintf(ret_text, size,
		       "%s; to allow it, change the setting "
		       "cordon.network.deny",
		       text);
}

/* A refusal by the plan, without a question. */
static void write_rule_why(const struct plan *plan, const struct wanted *wanted,
			   char *ret_text, size_t size)
{
	switch (wanted->action) {
	case ACTION_CONNECT:
	case ACTION_LOOKUP:
		write_network_why(plan, wanted, ret_text, size);
		return;
	case ACTION_WRITE:
		(void)snprintf(ret_text, size,
			       "what lies there runs outside the sandbox "
			       "later, or decides about it; to allow it, "
			       "change the setting "
			       "cordon.filesystem.protectedPaths");
		return;
	case ACTION_GIT:
		(void)snprintf(ret_text, size,
			       "git's own folders are protected; to be asked, "
			       "change the setting cordon.filesystem.git");
		return;
	case ACTION_READ:
		(void)snprintf(ret_text, size,
			       "it is closed; to allow it, add \"!%s\" to the "
			       "setting cordon.filesystem.denyRead",
			       wanted->path);
		return;
	case ACTION_SOCKET:
		(void)snprintf(ret_text, size,
			       "sockets of this machine lead out of the "
			       "sandbox; to allow it, add \"%s\" to the "
			       "setting cordon.sockets.allow",
			       wanted->path);
		return;
	case ACTION_SIGN:
		(void)snprintf(ret_text, size,
			       "the key agents are closed; to be asked, "
			       "change the setting cordon.sockets.agents");
		return;
	case ACTION_PUBLISH:
		(void)snprintf(ret_text, size,
			       "servers stay in the sandbox; to allow it, add "
			       "%u to the setting cordon.network.publish",
			       wanted->to.port);
		return;
	}
}

static void write_why(const struct plan *plan, const struct denial *denial,
		      char *ret_text, size_t size)
{
	switch (denial->reason) {
	case REASON_RULE:
		write_rule_why(plan, denial->wanted, ret_text, size);
		return;
	case REASON_LIMIT:
		(void)snprintf(ret_text, size,
			       "%d calls are waiting for an answer already; "
			       "answer the open questions first",
			       CALLS_MAX);
		return;
	case REASON_BROKER_LOST:
		(void)snprintf(ret_text, size,
			       "nobody is there to ask: the editor or session "
			       "of this run is gone; start the run again");
		return;
	case REASON_NO_ANSWER:
		(void)snprintf(ret_text, size,
			       "nobody answered in time; try again and answer "
			       "the question in the editor");
		return;
	case REASON_GRANT:
	case REASON_USER:
	case REASON_NO_INTERFACE:
	case REASON_WITHDRAWN:
	case REASON_SESSION_CLOSED:
	case REASON_AUDIT_FAILED:
	case REASON_UNRESOLVED:
	case REASON_INTERNAL:
		break;
	}
	(void)snprintf(ret_text, size, "reason: %s",
		       reason_name(denial->reason));
}

void denial_write_line(const struct plan *plan, const struct denial *denial,
		       char *ret_line, size_t size)
{
	char deed[DEED_BYTES_MAX], why[PLACE_BYTES_MAX + WHY_BYTES_MAX];

	write_deed(denial->wanted, deed, sizeof(deed));
	write_why(plan, denial, why, sizeof(why));
	(void)snprintf(ret_line, size, "cordon: denied: %s %s (%s)",
		       subject_name(denial->subject), deed, why);
}

/* Each once */

/* FNV-1a over program and deed. */
static uint64_t hash_of(const struct denial *denial)
{
	char text[PATH_BYTES_MAX + DEED_BYTES_MAX];
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t length;

	(void)snprintf(text, sizeof(text), "%s ", denial->subject->executable);
	length = strlen(text);
	write_deed(denial->wanted, text + length, sizeof(text) - length);
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

/* One that finds no room: said once, recorded now and then. */
static unsigned note_without_room(struct denials *denials, int64_t now_ms)
{
	unsigned news = denials->full_told ? 0 : DENIAL_FULL;

	denials->full_told = true;
	if (now_ms - denials->full_recorded_ms < DENIAL_REPEAT_MS)
		return news;
	denials->full_recorded_ms = now_ms;
	return news | DENIAL_RECORD;
}

unsigned denials_note(struct denials *denials, const struct denial *denial,
		      int64_t now_ms)
{
	uint64_t what = hash_of(denial);

	for (size_t i = 0; i < DENIALS_KEPT_MAX; i++) {
		size_t at = (what + i) % DENIALS_KEPT_MAX;

		if (denials->kept[at].what == what &&
		    now_ms - denials->kept[at].recorded_ms < DENIAL_REPEAT_MS)
			return 0;
		if (denials->kept[at].what == what) {
			denials->kept[at].recorded_ms = now_ms;
			return DENIAL_RECORD;
		}
		if (denials->kept[at].what == 0) {
			denials->kept[at].what = what;
			denials->kept[at].recorded_ms = now_ms;
			return DENIAL_NEW | DENIAL_RECORD;
		}
	}
	return note_without_room(denials, now_ms);
}

int denials_start(struct supervisor *sup)
{
	sup->denials = calloc(1, sizeof(*sup->denials));
	return sup->denials ? 0 : -ENOMEM;
}

/* To the loop, and told there */

struct told {
	struct message message; /* first */
	struct supervisor *sup;
	struct subject subject;
	struct wanted *wanted;
	enum reason reason;
	sem_t *reported; /* posted then; NULL: nobody waits */
};

static void send_frame(struct supervisor *sup, const struct denial *denial)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "denial");
	write_request(&w, denial->subject, denial->wanted);
	json_member_string(&w, "reason", reason_name(denial->reason));
	json_close_object(&w);
	broker_send(sup, &w);
}

/*
 * The desktop's own, which libraries try without anybody's wish: nothing that
 * a person has to read.
 */
static bool is_tried_by_libraries(const struct denial *denial)
{
	static const char *const places[] = { "/run/user", "/run/dbus",
					      "/tmp/.X11-unix" };

	if (denial->wanted->action != ACTION_SOCKET ||
	    denial->reason != REASON_RULE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (is_below(denial->wanted->path, places[i]))
			return true;
	return false;
}

void tell_denial(struct supervisor *sup, const struct denial *denial)
{
	char line[PATH_BYTES_MAX + DEED_BYTES_MAX + PLACE_BYTES_MAX +
		  WHY_BYTES_MAX];
	unsigned news = denials_note(sup->denials, denial, loop_now_ms());

	if (is_tried_by_libraries(denial))
		news = news & DENIAL_NEW ? DENIAL_RECORD : 0;
	if (news & DENIAL_RECORD)
		send_frame(sup, denial);
	if (news & DENIAL_NEW) {
		denial_write_line(sup->plan, denial, line, sizeof(line));
		print_line(sup, line);
	}
	if (news & DENIAL_FULL)
		print_line(sup, "cordon: denied: more than is listed here; "
				"the rest is not shown");
}

static void deliver(struct message *message)
{
	struct told *told = (struct told *)message;
	struct denial denial = { &told->subject, told->wanted, told->reason };

	tell_denial(told->sup, &denial);
	if (told->reported)
		(void)sem_post(told->reported);
	free(told->wanted);
	free(told);
}

static struct told *prepare(struct supervisor *sup, pid_t thread,
			    const struct wanted *wanted, enum reason reason)
{
	struct told *told;

	/* When it cannot be told it is refused all the same. */
	if (mailbox_is_full(&sup->mailbox) || !wanted_is_plain(wanted))
		return NULL;
	told = calloc(1, sizeof(*told));
	if (!told)
		return NULL;
	told->wanted = wanted_copy(wanted);
	if (!told->wanted) {
		free(told);
		return NULL;
	}
	told->message.deliver = deliver;
	told->sup = sup;
	told->reason = reason;
	subject_read(thread, sup->init, &told->subject);
	return told;
}

void post_denial(struct supervisor *sup, pid_t thread,
		 const struct wanted *wanted, enum reason reason)
{
	struct told *told = prepare(sup, thread, wanted, reason);

	if (told)
		mailbox_post(&sup->mailbox, &told->message);
}

void report_denial(struct supervisor *sup, pid_t thread,
		   const struct wanted *wanted, enum reason reason)
{
	struct told *told = prepare(sup, thread, wanted, reason);
	sem_t reported;

	if (!told)
		return;
	if (sem_init(&reported, 0, 0)) {
		mailbox_post(&sup->mailbox, &told->message);
		return;
	}
	told->reported = &reported;
	mailbox_post(&sup->mailbox, &told->message);
	(void)RETRY(sem_wait(&reported));
	(void)sem_destroy(&reported);
}

bool answer_is_untold(const struct answer *answer)
{
	return !answer->told && (answer->reason == REASON_BROKER_LOST ||
				 answer->reason == REASON_NO_ANSWER);
}

void report_answer(struct supervisor *sup, pid_t thread,
		   const struct wanted *wanted, const struct answer *answer)
{
	if (answer_is_untold(answer))
		report_denial(sup, thread, wanted, answer->reason);
}
