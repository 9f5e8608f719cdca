/* Refusals, see denial.h. */
#include "denial.h"

#include <stdio.h>
#include <string.h>

#include "network.h"

enum { PLACE_BYTES_MAX = PATH_BYTES_MAX + 16, WHY_BYTES_MAX = 512 };

static void write_place(const struct destination *to, const char *path,
			char *ret_text, size_t size)
{
	char address[ADDRESS_TEXT_MAX];

	if (path[0]) {
		(void)snprintf(ret_text, size, "the socket %s", path);
	} else if (to->host) {
		(void)snprintf(ret_text, size, "%s:%u", to->host, to->port);
	} else {
		address_format(&to->address, address);
		(void)snprintf(ret_text, size,
			       to->address.family == AF_INET ? "%s:%u"
							     : "[%s]:%u",
			       address, to->port);
	}
}

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

static void write_why(const struct plan *plan, const struct denial *denial,
		      const char *place, char *ret_text, size_t size)
{
	char rule[WHY_BYTES_MAX];

	switch (denial->reason) {
	case REASON_RULE:
		if (denial->path[0]) {
			(void)snprintf(
				ret_text, size,
				"it is not a socket of this run; programs "
				"in the sandbox reach only their own");
		} else if (denial->rule == RULE_MODE) {
			(void)snprintf(ret_text, size,
				       "the network is off; to allow it, add "
				       "\"%s\" to the setting "
				       "cordon.network.allow",
				       place);
		} else {
			write_rule_text(&plan->rules[denial->rule], rule,
					sizeof(rule));
			(void)snprintf(ret_text, size,
				       "%s; to allow it, change the setting "
				       "cordon.network.deny",
				       rule);
		}
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
	char place[PLACE_BYTES_MAX], why[PLACE_BYTES_MAX + WHY_BYTES_MAX];

	write_place(&denial->to, denial->path, place, sizeof(place));
	write_why(plan, denial, place, why, sizeof(why));
	(void)snprintf(ret_line, size, "cordon: denied: %s to %s (%s)",
		       subject_name(&denial->subject), place, why);
}

/* FNV-1a over program and place. */
static uint64_t hash_of(const struct denial *denial)
{
	char text[2 * PATH_BYTES_MAX + 32];
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t length;

	(void)snprintf(text, sizeof(text), "%s ", denial->subject.executable);
	length = strlen(text);
	write_place(&denial->to, denial->path, text + length,
		    sizeof(text) - length);
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

static void send_frame(const struct denial *denial)
{
	AUTO_WRITER struct json_writer w = { 0 };

	json_open_frame(&w, "denial");
	if (denial->path[0]) {
		subject_write(&w, &denial->subject);
		json_member_string(&w, "action", "connect");
		json_key(&w, "object");
		json_open_object(&w);
		json_member_string(&w, "path", denial->path);
		json_close_object(&w);
	} else {
		write_request(&w, &denial->subject, denial->action,
			      &denial->to);
	}
	json_member_string(&w, "reason", reason_name(denial->reason));
	write_rule(&w, denial->rule);
	json_close_object(&w);
	broker_send(denial->sup, &w);
}

void denial_report(struct denial *denial)
{
	struct supervisor *sup = denial->sup;
	char line[2 * PLACE_BYTES_MAX + WHY_BYTES_MAX + PATH_BYTES_MAX];
	unsigned news =
		denials_note(network_denials(sup), denial, loop_now_ms());

	if (news & DENIAL_RECORD)
		send_frame(denial);
	if (news & DENIAL_NEW && !denial->told) {
		denial_write_line(sup->plan, denial, line, sizeof(line));
		print_line(sup, line);
	}
	if (news & DENIAL_FULL)
		print_line(sup, "cordon: denied: more connections than are "
				"listed here; the rest is not shown");
	if (denial->reported)
		(void)sem_post(denial->reported);
	free(denial);
}
