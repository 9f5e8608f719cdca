/* dns.c: questions from programs that may be hostile, and their answers. */
#include "linux/network/dns.h"
#include "check.h"

struct message {
	unsigned char bytes[600];
	size_t length;
};

/* Header with one question for `labels` (as on the wire), type and class. */
static struct message ask(const char *labels, size_t length, unsigned type,
			  unsigned class)
{
	struct message m = {
		.bytes = { 0x12, 0x34, 0x01, 0x20, 0, 1 },
		.length = 12,
	};

	memcpy(m.bytes + m.length, labels, length);
	m.length += length;
	m.bytes[m.length++] = (unsigned char)(type >> 8);
	m.bytes[m.length++] = (unsigned char)type;
	m.bytes[m.length++] = (unsigned char)(class >> 8);
	m.bytes[m.length++] = (unsigned char)class;
	return m;
}

#define LABELS(literal) (literal), sizeof(literal) /* with the root's zero */

static int read_message(const struct message *m, struct dns_question *question,
			enum dns_result *result)
{
	return dns_read(m->bytes, m->length, question, result);
}

static void plain_question(void)
{
	struct message m = ask(LABELS("\3wWw\7EXAMPLE\3com"), DNS_A, 1);
	struct dns_question question;
	enum dns_result result;

	CHECK(read_message(&m, &question, &result) == 0);
	CHECK(result == DNS_OK && question.type == DNS_A);
	CHECK_STRING(question.host, "www.example.com");
	/* What follows the question (EDNS) is left out of the answer. */
	m.bytes[11] = 1;
	m.length += 11;
	CHECK(read_message(&m, &question, &result) == 0 && result == DNS_OK);
	CHECK(question.head_length == m.length - 11);
}

static void address_answer(void)
{
	static const unsigned char wanted[] = {
		0x12, 0x34, 0x85, 0x80, 0,  1, 0, 1,	0,  0, 0, 0,
		1,    'A',  0,	  0,	1,  0, 1, 0xc0, 12, 0, 1, 0,
		1,    0,    0,	  0,	60, 0, 4, 198,	18, 0, 2,
	};
	struct message m = ask(LABELS("\1A"), DNS_A, 1);
	struct ip_address address = address_v4(0xc6120002);
	struct dns_record record = { .address = &address };
	unsigned char answer[DNS_ANSWER_MAX];
	struct dns_question question;
	enum dns_result result;

	CHECK(read_message(&m, &question, &result) == 0);
	CHECK_STRING(question.host, "a"); /* and its spelling is kept */
	CHECK(dns_write(&question, DNS_OK, &record, answer) == sizeof(wanted));
	CHECK(memcmp(answer, wanted, sizeof(wanted)) == 0);
}

static void empty_answer(void)
{
	static const struct dns_record none;
	struct message m = ask(LABELS("\1a"), DNS_AAAA, 1);
	unsigned char answer[DNS_ANSWER_MAX];
	struct dns_question question;
	enum dns_result result;
	size_t length;

	CHECK(read_message(&m, &question, &result) == 0);
	length = dns_write(&question, DNS_NO_SUCH_NAME, &none, answer);
	CHECK(length == m.length && answer[7] == 0 && answer[11] == 0);
	CHECK(answer[3] == (0x80 | DNS_NO_SUCH_NAME));
}

static void longest_name(void)
{
	struct dns_record record = { 0 };
	unsigned char answer[DNS_ANSWER_MAX];
	struct dns_question question;
	enum dns_result result;
	char labels[256];
	struct message m;

	memset(labels, 'x', sizeof(labels));
	labels[0] = labels[64] = labels[128] = 63;
	labels[192] = 61;
	labels[254] = '\0';
	m = ask(labels, 255, DNS_PTR, 1);
	CHECK(read_message(&m, &question, &result) == 0 && result == DNS_OK);
	CHECK(strlen(question.host) == HOST_MAX);
	record.host = question.host;
	CHECK(dns_write(&question, DNS_OK, &record, answer) ==
	      m.length + 12 + 255);
	labels[192] = 62; /* one more */
	labels[255] = '\0';
	m = ask(labels, 256, DNS_A, 1);
	CHECK(read_message(&m, &question, &result) == 0);
	CHECK(result == DNS_MALFORMED);
}

static void malformed(void)
{
	static const struct {
		const char *why, *labels;
		size_t length;
	} cases[] = {
		{ "a pointer", "\xc0\x0c", 2 },
		{ "a pointer behind a label", "\1a\xc0\x0c", 4 },
		{ "a reserved label type",
		  "\x40"
		  "a",
		  2 },
		{ "a label that runs out",
		  "\x20"
		  "abc",
		  4 },
		{ "no root", "\1a", 2 },
		{ "a dot inside a label", "\3a.b", 5 },
		{ "a zero inside a label", "\3a\0b", 5 },
	};
	struct dns_question question;
	enum dns_result result;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct message m =
			ask(cases[i].labels, cases[i].length, DNS_A, 1);

		m.length -= cases[i].labels[cases[i].length - 1] ? 4 : 0;
		if (read_message(&m, &question, &result) == 0 &&
		    result == DNS_MALFORMED && question.head_length == 12)
			continue;
		printf("# %s\n", cases[i].why);
		check_failed = true;
	}
}

static void other_requests(void)
{
	struct message m = ask(LABELS("\1a"), DNS_A, 1);
	struct dns_question question;
	enum dns_result result;

	m.bytes[2] = 0x81; /* an answer is not answered: it would go on */
	CHECK(read_message(&m, &question, &result) == -EBADMSG);
	m.bytes[2] = 0x29; /* UPDATE */
	CHECK(read_message(&m, &question, &result) == 0);
	CHECK(result == DNS_NOT_SUPPORTED);
	m.bytes[2] = 0x01;
	m.bytes[5] = 2; /* two questions */
	CHECK(read_message(&m, &question, &result) == 0);
	CHECK(result == DNS_MALFORMED);
	m = ask(LABELS("\1a"), DNS_A, 3); /* class CHAOS */
	CHECK(read_message(&m, &question, &result) == 0);
	CHECK(result == DNS_REFUSED);
}

static void cut_anywhere(void)
{
	struct message m = ask(LABELS("\3www\7example\3com"), DNS_A, 1);
	struct dns_question question;
	enum dns_result result;

	for (size_t length = 0; length < m.length; length++) {
		/* On the heap, so that reading beyond the end is noticed. */
		unsigned char *copy = malloc(length ? length : 1);

		memcpy(copy, m.bytes, length);
		if (length < 12)
			CHECK(dns_read(copy, length, &question, &result));
		else
			CHECK(dns_read(copy, length, &question, &result) == 0 &&
			      result == DNS_MALFORMED);
		free(copy);
	}
}

/* Random bytes, and questions with some bytes changed. */
static void random_bytes(void)
{
	static const struct dns_record none;
	unsigned char answer[DNS_ANSWER_MAX];
	struct dns_question question;
	enum dns_result result;
	uint32_t seed = 1;

	for (int i = 0; i < 200000; i++) {
		struct message m = ask(LABELS("\3www\1e\3com"), DNS_A, 1);
		unsigned char *copy;
		size_t changes = i % 2 ? sizeof(m.bytes) : 3;

		for (size_t n = 0; n < changes; n++) {
			seed = seed * 1103515245 + 12345;
			m.bytes[i % 2 ? n : 2 + seed / 7 % 30] =
				(unsigned char)(seed >> 16);
		}
		if (i % 2)
			m.length = seed % 300;
		copy = malloc(m.length ? m.length : 1);
		memcpy(copy, m.bytes, m.length);
		if (dns_read(copy, m.length, &question, &result) == 0) {
			CHECK(question.head_length <= m.length);
			CHECK(strlen(question.host) <= HOST_MAX);
			CHECK(dns_write(&question, result, &none, answer) ==
			      question.head_length);
		}
		free(copy);
	}
}

static void reverse_names(void)
{
	static const char *const others[] = {
		"",
		"in-addr.arpa",
		"1.2.3.in-addr.arpa",
		"1.2.3.4.5.in-addr.arpa",
		"256.2.3.4.in-addr.arpa",
		"1.2.3.4.ip6.arpa",
		"1.2.3.4.in-addr.arpa.x",
		"1..3.4.in-addr.arpa",
		"1234.2.3.4.in-addr.arpa",
	};
	struct ip_address address, wanted = address_v4(0xc6120003);

	CHECK(dns_reverse("3.0.18.198.in-addr.arpa", &address) == 0);
	CHECK(address_equal(&address, &wanted));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CHECK(dns_reverse(others[i], &address) == -EINVAL);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "a question is read in lower case", plain_question },
		{ "an answer has the question and one record", address_answer },
		{ "an answer may have no record", empty_answer },
		{ "a name has 253 characters at most", longest_name },
		{ "a malformed name is answered as such", malformed },
		{ "answers, updates and odd classes are not looked up",
		  other_requests },
		{ "a question cut anywhere is malformed", cut_anywhere },
		{ "random bytes do no harm", random_bytes },
		{ "reverse names are IPv4 addresses", reverse_names },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
