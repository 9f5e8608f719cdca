/* Lists of listeners, see publishList.h. */
#include "publishList.h"

#include <string.h>

enum { STATE_LISTEN = 0x0a /* TCP_LISTEN, linux/tcp_states.h */ };

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* `digits` hexadecimal ones at *at, which moves on; -1: others. */
static long take_hex(const char **at, int digits)
{
	long value = 0;

	for (int i = 0; i < digits; i++) {
		int digit = digit_of(**at);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
		(*at)++;
	}
	return value;
}

/* Words in our own byte order, as %08X gives what is in network order. */
static bool take_address(const char **at, struct socket_address *ret)
{
	size_t words = strcspn(*at, ":") / 8;
	unsigned char bytes[16];
	long port;

	if (words != 1 && words != 4)
		return false;
	for (size_t i = 0; i < words; i++) {
		long word = take_hex(at, 8);
		uint32_t ours = (uint32_t)word;

		if (word < 0)
			return false;
		memcpy(bytes + 4 * i, &ours, sizeof(ours));
	}
	if (*(*at)++ != ':')
		return false;
	port = take_hex(at, 4);
	if (port < 0)
		return false;
	*ret = (struct socket_address){ 0 };
	if (words == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		memcpy(&ret->v4.sin_addr, bytes, 4);
		ret->length = sizeof(ret->v4);
	} else {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		memcpy(&ret->v6.sin6_addr, bytes, 16);
		ret->length = sizeof(ret->v6);
	}
	return true;
}

/* "  sl: local_address rem_address st …" */
static bool parse_listener(const char *line, struct ip_address *ret_address,
			   uint16_t *ret_port)
{
	struct socket_address local, remote;

	line += strcspn(line, ":\n");
	if (*line++ != ':' || *line++ != ' ')
		return false;
	if (!take_address(&line, &local) || *line++ != ' ' ||
	    !take_address(&line, &remote) || *line++ != ' ')
		return false;
	return take_hex(&line, 2) == STATE_LISTEN &&
	       address_of_socket(&local, ret_address, ret_port) == 0;
}

/* "Any" is reached by its family's own loopback. */
static struct ip_address reachable(const struct ip_address *address)
{
	static const unsigned char any[16];
	struct ip_address loopback = { .family = AF_INET6, .bytes[15] = 1 };

	if (memcmp(address->bytes, any, sizeof(any)) != 0)
		return *address;
	return address->family == AF_INET ? address_v4(INADDR_LOOPBACK)
					  : loopback;
}

size_t find_listener(const char *text, uint16_t port,
		     struct ip_address *ret_address)
{
	const char *line = strchr(text, '\n'); /* after the heading */
	struct ip_address address;
	uint16_t its_port;
	size_t count = 0;

	for (; line && line[1]; line = strchr(line, '\n')) {
		line++;
		if (!parse_listener(line, &address, &its_port) ||
		    its_port != port || !address_is_loopback(&address))
			continue;
		if (count++ == 0)
			*ret_address = reachable(&address);
	}
	return count;
}
