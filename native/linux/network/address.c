/* IP addresses as values, see address.h. */
#include "address.h"

#include <arpa/inet.h>
#include <string.h>

/* RFC 4291, 2.5.5.2: ::ffff:a.b.c.d */
static const unsigned char MAPPED[12] = { [10] = 0xff, [11] = 0xff };

struct ip_address address_v4(uint32_t host_order)
{
	struct ip_address address = { .family = AF_INET };

	for (int i = 0; i < 4; i++)
		address.bytes[i] = (unsigned char)(host_order >> (24 - 8 * i));
	return address;
}

static struct ip_address address_v6(const struct in6_addr *from)
{
	struct ip_address address = { .family = AF_INET6 };

	if (memcmp(from->s6_addr, MAPPED, sizeof(MAPPED)) == 0) {
		address.family = AF_INET;
		memcpy(address.bytes, from->s6_addr + sizeof(MAPPED), 4);
	} else {
		memcpy(address.bytes, from->s6_addr, 16);
	}
	return address;
}

int address_of_socket(const struct socket_address *from,
		      struct ip_address *ret_address, uint16_t *ret_port)
{
	if (from->length < sizeof(from->any.sa_family))
		return -EINVAL;
	if (from->any.sa_family == AF_INET &&
	    from->length >= sizeof(from->v4)) {
		*ret_address = address_v4(ntohl(from->v4.sin_addr.s_addr));
		*ret_port = ntohs(from->v4.sin_port);
		return 0;
	}
	/* As short as RFC 2133 had it, without the scope: ipv6(7). */
	if (from->any.sa_family == AF_INET6 &&
	    from->length >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		*ret_address = address_v6(&from->v6.sin6_addr);
		*ret_port = ntohs(from->v6.sin6_port);
		return 0;
	}
	return -EINVAL;
}

struct socket_address address_to_socket(const struct ip_address *address,
					uint16_t port)
{
	struct socket_address to = { .length = sizeof(to.v4) };

	to.any.sa_family = address->family;
	if (address->family == AF_INET) {
		to.v4.sin_port = htons(port);
		memcpy(&to.v4.sin_addr, address->bytes, 4);
	} else {
		to.v6.sin6_port = htons(port);
		memcpy(&to.v6.sin6_addr, address->bytes, 16);
		to.length = sizeof(to.v6);
	}
	return to;
}

int address_parse(const char *text, struct ip_address *ret)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (inet_pton(AF_INET, text, &v4) == 1)
		*ret = address_v4(ntohl(v4.s_addr));
	else if (inet_pton(AF_INET6, text, &v6) == 1)
		*ret = address_v6(&v6);
	else
		return -EBADMSG;
	return 0;
}

void address_format(const struct ip_address *address,
		    char ret_text[ADDRESS_TEXT_MAX])
{
	/* Cannot fail: the family is one of two and the text is long enough. */
	if (!inet_ntop(address->family, address->bytes, ret_text,
		       ADDRESS_TEXT_MAX))
		ret_text[0] = '\0';
}

bool address_equal(const struct ip_address *a, const struct ip_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool address_within(const struct ip_address *address,
		    const struct ip_network *network)
{
	unsigned whole = network->prefix / 8, rest = network->prefix % 8;
	unsigned char mask = (unsigned char)(0xff00U >> rest);

	if (address->family != network->family)
		return false;
	if (memcmp(address->bytes, network->bytes, whole) != 0)
		return false;
	return rest == 0 ||
	       ((address->bytes[whole] ^ network->bytes[whole]) & mask) == 0;
}

bool address_is_loopback(const struct ip_address *address)
{
	static const unsigned char zero[16];

	if (address->family == AF_INET)
		return address->bytes[0] == 127 ||
		       memcmp(address->bytes, zero, 4) == 0;
	return memcmp(address->bytes, zero, 15) == 0 && address->bytes[15] <= 1;
}
