/* address.c and names.c: one spelling an address, one address a name. */
#include <arpa/inet.h>

#include "check.h"
#include "common/limits.h"
#include "linux/network/names.h"

static struct ip_address parsed(const char *text)
{
	struct ip_address address = { 0 };

	if (address_parse(text, &address)) {
		printf("# cannot parse %s\n", text);
		check_failed = true;
	}
	return address;
}

static void mapped_is_v4(void)
{
	struct ip_address v4 = parsed("192.0.2.7");
	struct ip_address mapped = parsed("::ffff:192.0.2.7");
	struct ip_address hex = parsed("::ffff:c000:207");
	struct socket_address socket = { .length = sizeof(socket.v6) };
	struct ip_address of_socket;
	uint16_t port;

	CHECK(address_equal(&v4, &mapped) && address_equal(&v4, &hex));
	socket.v6.sin6_family = AF_INET6;
	socket.v6.sin6_port = htons(443);
	CHECK(inet_pton(AF_INET6, "::ffff:192.0.2.7", &socket.v6.sin6_addr));
	CHECK(address_of_socket(&socket, &of_socket, &port) == 0);
	CHECK(address_equal(&v4, &of_socket) && port == 443);
}

static void no_address(void)
{
	static const char *const texts[] = { "",	  "1.2.3",
					     "1.2.3.4.5", "256.1.1.1",
					     "01.2.3.4",  "::1%lo",
					     "1.2.3.4 ",  "example.com" };
	struct ip_address address;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (address_parse(texts[i], &address) != -EBADMSG) {
			printf("# \"%s\" was taken\n", texts[i]);
			check_failed = true;
		}
}

static void there_and_back(void)
{
	static const char *const texts[] = { "0.0.0.0", "203.0.113.9",
					     "::", "2001:db8::1", "fe80::1:2" };
	char text[ADDRESS_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct ip_address address = parsed(texts[i]), back;
		struct socket_address socket = address_to_socket(&address, 9);
		uint16_t port;

		address_format(&address, text);
		CHECK_STRING(text, texts[i]);
		CHECK(address_of_socket(&socket, &back, &port) == 0);
		CHECK(address_equal(&address, &back) && port == 9);
	}
}

static void short_addresses(void)
{
	struct socket_address socket = { 0 };
	struct ip_address address;
	uint16_t port;

	for (socket.length = 0; socket.length < 16; socket.length++) {
		socket.any.sa_family = AF_INET;
		CHECK(address_of_socket(&socket, &address, &port) == -EINVAL);
	}
	for (socket.length = 0; socket.length < 24; socket.length++) {
		socket.any.sa_family = AF_INET6;
		CHECK(address_of_socket(&socket, &address, &port) == -EINVAL);
	}
	CHECK(address_of_socket(&socket, &address, &port) == 0);
	socket.any.sa_family = AF_UNIX;
	CHECK(address_of_socket(&socket, &address, &port) == -EINVAL);
}

static void networks(void)
{
	static const struct {
		const char *network, *address;
		bool within;
	} cases[] = {
		{ "10.0.0.0/8", "10.255.255.255", true },
		{ "10.0.0.0/8", "11.0.0.0", false },
		{ "192.0.2.128/25", "192.0.2.127", false },
		{ "192.0.2.128/25", "192.0.2.128", true },
		{ "192.0.2.7/32", "192.0.2.7", true },
		{ "192.0.2.7/32", "192.0.2.6", false },
		{ "0.0.0.0/0", "203.0.113.1", true },
		{ "0.0.0.0/0", "::1", false },
		{ "::/0", "10.0.0.1", false },
		{ "::/0", "2001:db8::", true },
		{ "fe80::/10", "febf::1", true },
		{ "fe80::/10", "fec0::1", false },
		{ "10.0.0.0/8", "::ffff:10.1.2.3", true },
		{ "2001:db8::/127", "2001:db8::1", true },
		{ "2001:db8::/127", "2001:db8::2", false },
		{ "2001:db8::2/128", "2001:db8::2", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ip_address address = parsed(cases[i].address);
		struct ip_network network;

		CHECK(parse_ip_network(cases[i].network, &network) == 0);
		if (address_within(&address, &network) == cases[i].within)
			continue;
		printf("# %s in %s\n", cases[i].address, cases[i].network);
		check_failed = true;
	}
}

static void loopback(void)
{
	static const char *const own[] = {
		"127.0.0.1", "127.255.0.9",	 "0.0.0.0",	  "::1",
		"::",	     "::ffff:127.0.0.1", "::ffff:0.0.0.0"
	};
	static const char *const other[] = { "126.0.0.1", "128.0.0.1",
					     "::2",	  "0.0.0.1",
					     "1::1",	  "::ffff:10.0.0.1" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		struct ip_address address = parsed(own[i]);

		CHECK(address_is_loopback(&address));
	}
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		struct ip_address address = parsed(other[i]);

		CHECK(!address_is_loopback(&address));
	}
}

static void one_address_a_name(void)
{
	struct ip_address first, second, again, other = parsed("198.18.0.1");
	struct names *names;

	CHECK(names_open(&names) == 0);
	CHECK(names_take(names, "a.test", &first) == 0);
	CHECK(names_take(names, "b.test", &second) == 0);
	CHECK(names_take(names, "a.test", &again) == 0);
	CHECK(address_equal(&first, &again) && !address_equal(&first, &second));
	CHECK_STRING(names_find(names, &second), "b.test");
	CHECK(!names_find(names, &other)); /* the sandbox's own */
	other = parsed("198.18.0.4");
	CHECK(!names_find(names, &other)); /* not given yet */
	other = parsed("2001:db8::1");
	CHECK(!names_find(names, &other));
	names_close(names);
}

static void names_end(void)
{
	struct ip_address address, first;
	struct names *names;
	char host[32];

	CHECK(names_open(&names) == 0);
	CHECK(names_take(names, "n0", &first) == 0);
	for (int i = 0; i < NAMES_MAX; i++) {
		(void)snprintf(host, sizeof(host), "n%d", i);
		CHECK(names_take(names, host, &address) == 0);
		CHECK_STRING(names_find(names, &address), host);
	}
	CHECK(names_take(names, "one.more", &address) == -ENOSPC);
	CHECK(names_take(names, "n0", &address) == 0);
	CHECK(address_equal(&first, &address));
	names_close(names);
}

static void host_names(void)
{
	static const char *const valid[] = { "a", "localhost",
					     "a-b.c_d.example",
					     "xn--bcher-kva.example", "1.2" };
	static const char *const invalid[] = { "",    ".",    "a.",
					       ".a",  "a..b", "A.test",
					       "a b", "a*",   "\xc3\xa9" };
	char label[80], host[400];

	for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
		CHECK(is_host_name(valid[i]));
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		CHECK(!is_host_name(invalid[i]));
	memset(label, 'x', sizeof(label));
	label[63] = '\0';
	CHECK(is_host_name(label));
	(void)snprintf(host, sizeof(host), "%s.%s.%s.%.61s", label, label,
		       label, label);
	CHECK(strlen(host) == HOST_MAX && is_host_name(host));
	(void)snprintf(host, sizeof(host), "%s.%s.%s.%.62s", label, label,
		       label, label);
	CHECK(!is_host_name(host));
	label[63] = 'x';
	label[64] = '\0';
	CHECK(!is_host_name(label));
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "an IPv4-mapped address is the IPv4 address", mapped_is_v4 },
		{ "what is no numeric address is refused", no_address },
		{ "an address is the same after text and socket",
		  there_and_back },
		{ "an address that is cut short is refused", short_addresses },
		{ "an address is within a network by its bits", networks },
		{ "loopback is what the kernel takes for it", loopback },
		{ "a name has one address and an address one name",
		  one_address_a_name },
		{ "the number of names is bounded", names_end },
		{ "a host name is labels of known letters", host_names },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
