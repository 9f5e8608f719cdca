/* What a program may ask for beforehand: one entry of a request's "want". */
#pragma once

#include "../supervisor/broker.h"
#include "../supervisor/serving.h"

enum wish_kind { WISH_PATH, WISH_CONNECT, WISH_PUBLISH };

/* Its strings live in the frame. */
struct wish {
	enum wish_kind kind;
	enum access access; /* path */
	const char *path;
	struct destination to; /* connect; publish: only its port */
};

struct wish_result {
	bool allowed;
	enum reason reason;
};

/* -EBADMSG: none as PROTOCOL.md has it. Pure. */
MUST_CHECK int parse_wish(const struct json *value, struct wish *ret_wish);

/* By rule, by what is open already, or by an answer, which may take long. */
struct wish_result grant_wish(const struct served *served,
			      const struct wish *wish, const char *because);
