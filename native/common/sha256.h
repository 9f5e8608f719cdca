/* SHA-256, FIPS 180-4, of bytes that are all there. */
#pragma once

#include "cordon.h"

enum { SHA256_BYTES = 32 };

void sha256(const unsigned char *bytes, size_t length,
	    unsigned char ret_digest[SHA256_BYTES]);
