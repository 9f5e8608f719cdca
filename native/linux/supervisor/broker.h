/*
 * Questions to the broker and their answers. All of it on the loop's thread.
 */
#pragma once

#include "livemount.h"
#include "subject.h"
#include "supervisor.h"
#include "wanted.h"

/* Reason codes of PROTOCOL.md. */
enum reason {
	REASON_RULE,
	REASON_GRANT,
	REASON_USER,
	REASON_NO_ANSWER,
	REASON_NO_INTERFACE,
	REASON_WITHDRAWN,
	REASON_SESSION_CLOSED,
	REASON_AUDIT_FAILED,
	REASON_UNRESOLVED,
	REASON_BROKER_LOST,
	REASON_LIMIT,
	REASON_INTERNAL,
};

const char *reason_name(enum reason reason);

struct answer {
	bool allowed;
	enum reason reason;
	bool told; /* the run's user has read why */
	size_t address_count;
	struct ip_address addresses[ANSWER_ADDRESSES_MAX];
};

struct question {
	/* The asker's, untouched until it is settled or withdrawn. */
	struct wanted wanted;
	struct identity judged; /* of what wanted_wider() names */
	const struct subject *subject;
	/* Once, unless it is withdrawn before. */
	void (*settled)(struct question *question, const struct answer *answer);

	/* broker.c's. */
	struct question *next;
	int64_t id;
	int64_t asked_ms;
	bool answered; /* what the answer opens is not open yet */
};

/* May settle it at once. */
void broker_ask(struct supervisor *sup, struct question *question);
/* Its program is gone; also when it is settled or was never asked. */
void broker_withdraw(struct supervisor *sup, struct question *question);

/* The members "subject", "action", "object" and "rule" of a frame. */
void write_request(struct json_writer *w, const struct subject *subject,
		   const struct wanted *wanted);
