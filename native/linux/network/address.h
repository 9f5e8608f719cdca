/*
 * IP addresses as values. An IPv4-mapped IPv6 address is the IPv4 address,
 * everywhere: what is checked and what is dialled must not differ by its
 * spelling. Never touches the system.
 */
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include "../launch/plan.h"

enum { ADDRESS_TEXT_MAX = INET6_ADDRSTRLEN };

struct ip_address {
	sa_family_t family;	 /* AF_INET or AF_INET6 */
	unsigned char bytes[16]; /* network order; AF_INET: 4, the rest zero */
};

/* An address as bind(2) and connect(2) take it. */
struct socket_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_storage storage;
	};
	socklen_t length;
};

struct ip_address address_v4(uint32_t host_order);

/* Of a complete AF_INET or AF_INET6 address; -EINVAL for anything else. */
MUST_CHECK int address_of_socket(const struct socket_address *from,
				 struct ip_address *ret_address,
				 uint16_t *ret_port);
struct socket_address address_to_socket(const struct ip_address *address,
					uint16_t port);

/* Numeric text, without a scope; -EBADMSG. */
MUST_CHECK int address_parse(const char *text, struct ip_address *ret);
void address_format(const struct ip_address *address,
		    char ret_text[ADDRESS_TEXT_MAX]);

bool address_equal(const struct ip_address *a, const struct ip_address *b);
bool address_within(const struct ip_address *address,
		    const struct ip_network *network);
/* What a sandbox's own loopback answers: 127/8, ::1, and "any". */
bool address_is_loopback(const struct ip_address *address);
