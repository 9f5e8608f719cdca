/* DNS messages as values, see dns.h. */
#include "dns.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	HEADER = 12,
	LABEL_MAX = 63,
	CLASS_IN = 1,
	TTL_SECONDS = 60,

	FLAG_RESPONSE = 0x80, /* byte 2 */
	FLAG_OPCODE = 0x78,
	FLAG_AUTHORITATIVE = 0x04,
	FLAG_RECURSION_DESIRED = 0x01,
	FLAG_RECURSION_AVAILABLE = 0x80, /* byte 3 */
};

static uint16_t read_u16(const unsigned char *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static void write_u16(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

/*
 * A name without compression: questions have nothing to point to. Bytes that
 * no host name has are kept, except that a dot or a zero inside a label
 * would change where it ends and is refused.
 */
static int read_name(const unsigned char *message, size_t length, size_t *at,
		     char ret_host[HOST_BYTES_MAX])
{
	size_t written = 0, label;

	for (;;) {
		if (*at >= length)
			return -EBADMSG;
		label = message[(*at)++];
		if (label == 0)
			break;
		if (label > LABEL_MAX || label > length - *at ||
		    written + label + 2 > HOST_BYTES_MAX)
			return -EBADMSG;
		if (written)
			ret_host[written++] = '.';
		for (size_t i = 0; i < label; i++) {
			unsigned char c = message[(*at)++];

			if (c == '.' || c == '\0')
				return -EBADMSG;
			ret_host[written++] =
				(char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
		}
	}
	ret_host[written] = '\0';
	return 0;
}

int dns_read(const unsigned char *message, size_t length,
	     struct dns_question *ret_question, enum dns_result *ret_result)
{
	struct dns_question question = { .head_length = HEADER };
	enum dns_result result = DNS_OK;
	size_t at = HEADER;

	if (length < HEADER || message[2] & FLAG_RESPONSE)
		return -EBADMSG;
	if (message[2] & FLAG_OPCODE) {
		result = DNS_NOT_SUPPORTED;
	} else if (read_u16(message + 4) != 1 ||
		   read_name(message, length, &at, question.host) != 0 ||
		   length - at < 4) {
		result = DNS_MALFORMED;
		question.host[0] = '\0';
	} else {
		question.type = read_u16(message + at);
		if (read_u16(message + at + 2) != CLASS_IN)
			result = DNS_REFUSED;
		question.head_length = at + 4;
	}
	memcpy(question.head, message, question.head_length);
	*ret_question = question;
	*ret_result = result;
	return 0;
}

/* A host name as labels, with its length before each; returns their length. */
static size_t write_name(unsigned char *to, const char *host)
{
	size_t at = 0, label;

	for (; *host; host += label + (host[label] == '.')) {
		label = strcspn(host, ".");
		to[at++] = (unsigned char)label;
		memcpy(to + at, host, label);
		at += label;
	}
	to[at++] = 0;
	return at;
}

static size_t write_record(const struct dns_question *question,
			   const struct dns_record *record, unsigned char *to)
{
	size_t data;

	write_u16(to, 0xc000 | HEADER); /* the name is the question's */
	write_u16(to + 2, question->type);
	write_u16(to + 4, CLASS_IN);
	write_u16(to + 6, 0);
	write_u16(to + 8, TTL_SECONDS);
	if (record->host) {
		data = write_name(to + 12, record->host);
	} else {
		data = record->address->family == AF_INET ? 4 : 16;
		memcpy(to + 12, record->address->bytes, data);
	}
	write_u16(to + 10, (unsigned)data);
	return 12 + data;
}

size_t dns_write(const struct dns_question *question, enum dns_result result,
		 const struct dns_record *record,
		 unsigned char ret_answer[DNS_ANSWER_MAX])
{
	size_t length = question->head_length;
	bool has_record = record->address || record->host;

	memcpy(ret_answer, question->head, length);
	ret_answer[2] =
		(unsigned char)(FLAG_RESPONSE | FLAG_AUTHORITATIVE |
				(question->head[2] &
				 (FLAG_OPCODE | FLAG_RECURSION_DESIRED)));
	ret_answer[3] = (unsigned char)(FLAG_RECURSION_AVAILABLE | result);
	write_u16(ret_answer + 4, length > HEADER);
	write_u16(ret_answer + 6, has_record);
	write_u16(ret_answer + 8, 0);
	write_u16(ret_answer + 10, 0);
	if (has_record)
		length += write_record(question, record, ret_answer + length);
	return length;
}

int dns_reverse(const char *host, struct ip_address *ret_address)
{
	static const char suffix[] = ".in-addr.arpa";
	unsigned part, digits;
	uint32_t address = 0;

	for (int i = 0; i < 4; i++) {
		if (i && *host++ != '.')
			return -EINVAL;
		part = 0;
		for (digits = 0; digits < 3 && isdigit((unsigned char)*host);
		     digits++)
			part = part * 10 + (unsigned)(*host++ - '0');
		if (digits == 0 || part > 255)
			return -EINVAL;
		address |= part << (8 * i);
	}
	if (strcmp(host, suffix) != 0)
		return -EINVAL;
	*ret_address = address_v4(address);
	return 0;
}
