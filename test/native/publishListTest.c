/* publishList.c: who listens, in the words of proc(5). */
#include "linux/network/publishList.h"

#include "check.h"

#define HEADING                                                               \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when " \
	"retrnsmt   uid  timeout inode\n"
#define REST \
	" 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0\n"
#define NOBODY "00000000:0000"
#define NOBODY_V6 "00000000000000000000000000000000:0000"

/* "" when nobody does. */
static const char *find(const char *text, uint16_t port)
{
	static char found[ADDRESS_TEXT_MAX];
	struct ip_address address;

	found[0] = '\0';
	if (find_listener(text, port, &address))
		address_format(&address, found);
	return found;
}

static void finds_listeners(void)
{
	struct ip_address address;
	const char *text = HEADING "   0: 0100007F:1538 " NOBODY " 0A" REST
				   "   1: 00000000:1F90 " NOBODY " 0A" REST
				   " 200: 0200007F:0BB8 " NOBODY " 0A" REST;

	CHECK_STRING(find(text, 0x1538), "127.0.0.1");
	CHECK_STRING(find(text, 8080), "127.0.0.1");
	CHECK_STRING(find(text, 3000), "127.0.0.2");
	CHECK_STRING(find(text, 3001), "");
	text = HEADING "   0: 0100007F:1538 " NOBODY " 0A" REST
		       "   1: 00000000:1538 " NOBODY " 0A" REST;
	CHECK(find_listener(text, 0x1538, &address) == 2);
}

static void finds_listeners_of_v6(void)
{
	const char *text =
		HEADING "   0: 00000000000000000000000001000000:1538 " NOBODY_V6
			" 0A" REST
			"   1: 00000000000000000000000000000000:1F90 " NOBODY_V6
			" 0A" REST
			"   2: 0000000000000000FFFF00000100007F:0BB8 " NOBODY_V6
			" 0A" REST;

	CHECK_STRING(find(text, 0x1538), "::1");
	CHECK_STRING(find(text, 8080), "::1");
	CHECK_STRING(find(text, 3000), "127.0.0.1");
}

static void passes_others_over(void)
{
	/* Connected, and bound to what is not loopback. */
	const char *text = HEADING "   0: 0100007F:1538 0100007F:1000 01" REST
				   "   1: 010012C6:1538 " NOBODY " 0A" REST;

	CHECK_STRING(find(text, 0x1538), "");
}

static void takes_no_broken_lines(void)
{
	static const char line[] = "   0: 0100007F:1538 " NOBODY " 0A";
	char text[sizeof(HEADING) + sizeof(line)];

	CHECK_STRING(find("", 1), "");
	CHECK_STRING(find(HEADING, 1), "");
	CHECK_STRING(find("\n\n\n:\n: \n", 0), "");
	for (size_t length = 0; length < sizeof(line) - 1; length++) {
		(void)snprintf(text, sizeof(text), "%s%.*s", HEADING,
			       (int)length, line);
		CHECK_STRING(find(text, 0x1538), "");
	}
	(void)snprintf(text, sizeof(text), "%s%s", HEADING, line);
	CHECK_STRING(find(text, 0x1538), "127.0.0.1");
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "a listener is found with where it can be reached",
		  finds_listeners },
		{ "IPv6 and mapped addresses are understood",
		  finds_listeners_of_v6 },
		{ "connections and other addresses are passed over",
		  passes_others_over },
		{ "lines that are cut are passed over", takes_no_broken_lines },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
