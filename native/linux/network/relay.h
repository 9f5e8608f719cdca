/*
 * Carries the bytes of allowed connections between the sandbox and the
 * outside, on a thread of its own. It dials nothing: a connection for which
 * no dialled one is kept is reset.
 */
#pragma once

#include "decide.h"

struct relay;

/* Starts its thread. The listener stays the caller's. */
MUST_CHECK int relay_start(int listener, struct relay **ret_relay);

/*
 * Keeps `dialled` for the connection that the sandbox is about to make to
 * `address`; `label` says what was allowed, for revoking. Takes `dialled`
 * over, on failure too. -EAGAIN: too many are kept.
 */
MUST_CHECK int relay_expect(struct relay *relay,
			    const struct ip_address *address, uint16_t port,
			    const struct destination *label, int dialled,
			    uint64_t *ret_ticket);
/* The sandbox's connection failed: closes what was kept for it. */
void relay_forget(struct relay *relay, uint64_t ticket);

/*
 * Carries a connection whose two ends are there; takes both over. They are
 * reset when that cannot be.
 */
void relay_carry(struct relay *relay, int inner, int outer,
		 const struct destination *label);

/* Resets all connections with that label. Waits for no one. */
void relay_revoke(struct relay *relay, const struct destination *label);

/*
 * Once nothing in the sandbox lives: until what its programs had sent is
 * passed on, or the time is over.
 */
void relay_drain(struct relay *relay, int timeout_ms);
