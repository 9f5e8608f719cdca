/* SHA-256 as FIPS 180-4 has it: section 6.2, constants of 4.2.2 and 5.3.3. */
#include "sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 64, LENGTH_BYTES = 8 };

static const uint32_t K[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t word, unsigned by)
{
	return word >> by | word << (32 - by);
}

static uint32_t word_at(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	       (uint32_t)bytes[2] << 8 | bytes[3];
}

static void write_word(unsigned char *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = (unsigned char)(word >> (24 - 8 * i));
}

static void add_block(uint32_t hash[8], const unsigned char *block)
{
	uint32_t w[ROUNDS], s[8], t1, t2;

	for (size_t i = 0; i < ROUNDS; i++)
		w[i] = i < 16 ? word_at(block + 4 * i)
			      : (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^
				 w[i - 2] >> 10) +
					w[i - 7] +
					(rotated(w[i - 15], 7) ^
					 rotated(w[i - 15], 18) ^
					 w[i - 15] >> 3) +
					w[i - 16];
	memcpy(s, hash, sizeof(s));
	for (size_t i = 0; i < ROUNDS; i++) {
		t1 = s[7] +
		     (rotated(s[4], 6) ^ rotated(s[4], 11) ^
		      rotated(s[4], 25)) +
		     ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
		t2 = (rotated(s[0], 2) ^ rotated(s[0], 13) ^
		      rotated(s[0], 22)) +
		     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (size_t i = 0; i < 8; i++)
		hash[i] += s[i];
}

void sha256(const unsigned char *bytes, size_t length,
	    unsigned char ret_digest[SHA256_BYTES])
{
	uint32_t hash[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	unsigned char last[2 * BLOCK_BYTES] = { 0 };
	uint64_t bits = (uint64_t)length * 8;
	size_t rest = length % BLOCK_BYTES;
	size_t end = rest < BLOCK_BYTES - LENGTH_BYTES ? BLOCK_BYTES
						       : 2 * BLOCK_BYTES;

	for (size_t i = 0; i + BLOCK_BYTES <= length; i += BLOCK_BYTES)
		add_block(hash, bytes + i);
	if (rest)
		memcpy(last, bytes + length - rest, rest);
	last[rest] = 0x80;
	write_word(last + end - 8, (uint32_t)(bits >> 32));
	write_word(last + end - 4, (uint32_t)bits);
	for (size_t i = 0; i < end; i += BLOCK_BYTES)
		add_block(hash, last + i);
	for (size_t i = 0; i < 8; i++)
		write_word(ret_digest + 4 * i, hash[i]);
}
