/*
 * The names that programs looked up, each with a synthetic address of its
 * own (198.18.0.0/15, RFC 2544: never a real destination), so that a later
 * connect tells the name. Safe to be used by several threads.
 */
#pragma once

#include "address.h"

/* The sandbox's own address that is not loopback; names come after it. */
#define SANDBOX_ADDRESS UINT32_C(0xc6120001) /* 198.18.0.1 */

struct names;

MUST_CHECK int names_open(struct names **ret_names);
void names_close(struct names *names);

/* The address of a valid name, given now or before; -ENOSPC: no more names. */
MUST_CHECK int names_take(struct names *names, const char *host,
			  struct ip_address *ret_address);

/* The name behind an address; it lives as long as `names`; NULL: none. */
const char *names_find(struct names *names, const struct ip_address *address);

/*
 * Whether it is a host name as frames carry it: labels of a-z 0-9 - _, each
 * 1 to 63 long, 253 in all, without a trailing dot.
 */
bool is_host_name(const char *text);
