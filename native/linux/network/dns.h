/*
 * DNS messages (RFC 1035) as values: one question in, one answer out. Bytes
 * come from programs that may be hostile. Never touches the system.
 */
#pragma once

#include "../../common/limits.h"
#include "address.h"

enum {
	DNS_MESSAGE_MAX = 4096, /* a longer question is not read */
	DNS_ANSWER_MAX = 1024,	/* a question of 271 bytes and one record */
};

enum dns_type { DNS_A = 1, DNS_PTR = 12, DNS_AAAA = 28, DNS_ANY = 255 };

/* RCODE, RFC 1035 4.1.1. */
enum dns_result {
	DNS_OK = 0,
	DNS_MALFORMED = 1,
	DNS_FAILED = 2,
	DNS_NO_SUCH_NAME = 3,
	DNS_NOT_SUPPORTED = 4,
	DNS_REFUSED = 5,
};

struct dns_question {
	unsigned char head[12 + HOST_MAX + 2 + 4]; /* as it was asked */
	size_t head_length;
	uint16_t type;
	char host[HOST_BYTES_MAX]; /* lower case, no trailing dot; "": root */
};

/*
 * Reads a question. 0 with *ret_result DNS_OK, or with another result when
 * only that can be answered; -EBADMSG when there is nothing to answer.
 */
MUST_CHECK int dns_read(const unsigned char *message, size_t length,
			struct dns_question *ret_question,
			enum dns_result *ret_result);

/* What is answered: no record, or the one that is not NULL. */
struct dns_record {
	const struct ip_address *address; /* to an A or AAAA question */
	const char *host;		  /* to a PTR question; a valid name */
};

/* The answer's length. */
size_t dns_write(const struct dns_question *question, enum dns_result result,
		 const struct dns_record *record,
		 unsigned char ret_answer[DNS_ANSWER_MAX]);

/* d.c.b.a.in-addr.arpa → a.b.c.d; -EINVAL for any other name. */
MUST_CHECK int dns_reverse(const char *host, struct ip_address *ret_address);
