/* agentsSsh.c: what passes, what is refused, and what a signature is for. */
#include "linux/sockets/agentsSsh.h"

#include "check.h"
#include "common/sha256.h"

/* Messages are written as a client would. */
struct text {
	unsigned char bytes[4096];
	size_t length;
};

static void add(struct text *t, const void *bytes, size_t length)
{
	memcpy(t->bytes + t->length, bytes, length);
	t->length += length;
}

static void add_byte(struct text *t, unsigned char byte)
{
	add(t, &byte, 1);
}

static void add_number(struct text *t, size_t number)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		add_byte(t, (unsigned char)(number >> shift));
}

static void add_bytes(struct text *t, const void *bytes, size_t length)
{
	add_number(t, length);
	add(t, bytes, length);
}

static void add_string(struct text *t, const char *string)
{
	add_bytes(t, string, strlen(string));
}

/* A copy of its own size, so that ASan sees each read beyond the end. */
static struct ssh_request parse(const struct text *t)
{
	static unsigned char *copy;

	free(copy);
	copy = malloc(t->length ? t->length : 1);
	memcpy(copy, t->bytes, t->length);
	return ssh_parse_request(copy, t->length);
}

static struct text sign_request(const char *key, const struct text *data)
{
	struct text t = { 0 };

	add_byte(&t, SSH_AGENTC_SIGN_REQUEST);
	add_string(&t, key);
	add_bytes(&t, data->bytes, data->length);
	add_number(&t, 4);
	return t;
}

static struct text log_in(const char *session, const char *method,
			  const char *key)
{
	struct text t = { 0 };

	add_string(&t, session);
	add_byte(&t, 50);
	add_string(&t, "git");
	add_string(&t, "ssh-connection");
	add_string(&t, method);
	add_byte(&t, 1);
	add_string(&t, "ssh-ed25519");
	add_string(&t, key);
	return t;
}

static struct text binding(const char *host_key, const char *session)
{
	struct text t = { 0 };

	add_byte(&t, SSH_AGENTC_EXTENSION);
	add_string(&t, "session-bind@openssh.com");
	add_string(&t, host_key);
	add_string(&t, session);
	add_string(&t, "signature");
	add_byte(&t, 0);
	return t;
}

static const char *purpose(const struct text *data, const char *key,
			   const struct ssh_sessions *sessions)
{
	static const struct ssh_sessions none;
	static char text[SSH_PURPOSE_MAX];
	struct text message = sign_request(key, data);
	struct ssh_request sign = parse(&message);

	CHECK(sign.kind == SSH_SIGN);
	ssh_describe_purpose(&sign, sessions ? sessions : &none, text);
	return text;
}

/* FIPS 180-4's examples, and lengths around the end of a block. */
static void hashes(void)
{
	static const struct {
		const char *text, *digest;
	} known[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb924"
		      "27ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223"
			 "b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039"
		  "a33ce45964ff2167f6ecedd419db06c1" },
		{ "0123456789012345678901234567890123456789012345678901234",
		  "f34d5a0f80c0cbf84c8c0b90218c2263"
		  "7abd199965249da736a20143c8c9c9d9" },
		{ "0123456789012345678901234567890123456789012345678901234567"
		  "890123",
		  "9674d9e078535b7cec43284387a6ee39"
		  "956188e735a85452b0050b55341cda56" },
	};
	unsigned char digest[SHA256_BYTES];
	char hex[2 * SHA256_BYTES + 1];

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		sha256((const unsigned char *)known[i].text,
		       strlen(known[i].text), digest);
		for (size_t at = 0; at < sizeof(digest); at++)
			(void)snprintf(hex + 2 * at, 3, "%02x", digest[at]);
		CHECK_STRING(hex, known[i].digest);
	}
}

static void lists_are_free(void)
{
	struct text t = { 0 };

	add_byte(&t, SSH_AGENTC_REQUEST_IDENTITIES);
	CHECK(parse(&t).kind == SSH_LIST);
	add_byte(&t, 0);
	CHECK(parse(&t).kind == SSH_REFUSED);
}

static void all_else_is_refused(void)
{
	for (unsigned type = 0; type < 256; type++) {
		struct text t = { 0 };

		add_byte(&t, (unsigned char)type);
		if (type == SSH_AGENTC_REQUEST_IDENTITIES)
			continue;
		CHECK(parse(&t).kind == SSH_REFUSED);
		add_string(&t, "key");
		add_string(&t, "comment");
		CHECK(parse(&t).kind == SSH_REFUSED);
	}
	CHECK(parse(&(struct text){ 0 }).kind == SSH_REFUSED);
}

static void other_extensions_are_refused(void)
{
	static const char *const names[] = { "query", "", "restrict-x",
					     "session-bind@openssh.co" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct text t = { 0 };

		add_byte(&t, SSH_AGENTC_EXTENSION);
		add_string(&t, names[i]);
		CHECK(parse(&t).kind == SSH_REFUSED);
	}
}

static void cut_messages_are_refused(void)
{
	struct text data = log_in("s", "publickey", "key");
	struct text messages[] = { sign_request("key", &data),
				   binding("host", "s") };

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		struct text longer = messages[i];

		CHECK(parse(&messages[i]).kind != SSH_REFUSED);
		add_byte(&longer, 0);
		CHECK(parse(&longer).kind == SSH_REFUSED);
		while (messages[i].length-- > 0)
			CHECK(parse(&messages[i]).kind == SSH_REFUSED);
	}
}

static void tells_log_ins(void)
{
	struct text data = log_in("session", "publickey", "key");
	struct ssh_sessions sessions = { 0 };
	struct text bound = binding("a host key", "session");
	struct ssh_request bind;

	CHECK_STRING(purpose(&data, "key", NULL),
		     "log in as git (ssh-connection)");
	bind = parse(&bound);
	CHECK(bind.kind == SSH_BIND);
	ssh_bind_session(&sessions, &bind);
	CHECK_STRING(purpose(&data, "key", &sessions),
		     "log in as git at the host with the key "
		     "SHA256:Kc2KTQtnsJ2PIobDGM/Pvy1NZK9sRKn1cFGObV5FhwQ");
	data = log_in("another", "publickey", "key");
	CHECK_STRING(purpose(&data, "key", &sessions),
		     "log in as git (ssh-connection)");
}

static void tells_the_host_that_the_data_are_bound_to(void)
{
	struct text data =
		log_in("session", "publickey-hostbound-v00@openssh.com", "key");

	/* Without the host's key they are not what they say. */
	CHECK_STRING(purpose(&data, "key", NULL), "");
	add_string(&data, "a host key");
	CHECK_STRING(purpose(&data, "key", NULL),
		     "log in as git at the host with the key "
		     "SHA256:Kc2KTQtnsJ2PIobDGM/Pvy1NZK9sRKn1cFGObV5FhwQ");
}

static void tells_namespaces(void)
{
	struct text data = { 0 };

	add(&data, "SSHSIG", 6);
	add_string(&data, "git\n");
	add_string(&data, "");
	add_string(&data, "sha512");
	CHECK_STRING(purpose(&data, "key", NULL), "");
	add_string(&data, "hash");
	CHECK_STRING(purpose(&data, "key", NULL), "sign for git?");
	add_byte(&data, 0);
	CHECK_STRING(purpose(&data, "key", NULL), "");
}

/* Data that only look like a log-in must not be told as one. */
static void tells_nothing_of_other_data(void)
{
	struct text data = log_in("session", "publickey", "another key");

	CHECK_STRING(purpose(&data, "key", NULL), "");
	data = log_in("session", "password", "key");
	CHECK_STRING(purpose(&data, "key", NULL), "");
	data = log_in("session", "publickey", "key");
	add_byte(&data, 0);
	CHECK_STRING(purpose(&data, "key", NULL), "");
	data.length = 0;
	CHECK_STRING(purpose(&data, "key", NULL), "");
}

static void names_keys(void)
{
	static const unsigned char key[] = "a host key";
	struct ssh_bytes blob = { key, sizeof(key) - 1 };
	char name[SSH_KEY_TEXT_MAX];
	struct text t = { 0 };

	add_byte(&t, SSH_AGENT_IDENTITIES_ANSWER);
	add_number(&t, 2);
	add_string(&t, "another");
	add_string(&t, "wrong");
	add_string(&t, "a host key");
	add_string(&t, "me@\033here");
	ssh_describe_key(blob, t.bytes, t.length, name);
	CHECK_STRING(name, "SHA256:Kc2KTQtnsJ2PIobDGM/Pvy1NZK9sRKn1cFGObV5FhwQ "
			   "me@?here");
	/* An answer that is cut, or none, leaves the fingerprint. */
	while (t.length-- > 0) {
		ssh_describe_key(blob, t.bytes, t.length, name);
		CHECK_STRING(name, "SHA256:"
				   "Kc2KTQtnsJ2PIobDGM/"
				   "Pvy1NZK9sRKn1cFGObV5FhwQ");
	}
}

static void keeps_so_many_sessions(void)
{
	struct text bound = binding("host", "session");
	struct ssh_sessions sessions = { 0 };
	struct ssh_request bind = parse(&bound);

	for (size_t i = 0; i < SSH_SESSIONS_MAX + 2; i++)
		ssh_bind_session(&sessions, &bind);
	CHECK(sessions.count == SSH_SESSIONS_MAX);
}

/* Each byte of a valid message changed to several others: no crash. */
static void survives_changed_bytes(void)
{
	struct text data = log_in("session", "publickey", "key");
	struct text message = sign_request("key", &data);
	static const struct ssh_sessions none;
	char text[SSH_PURPOSE_MAX], name[SSH_KEY_TEXT_MAX];

	for (size_t at = 0; at < message.length; at++)
		for (unsigned change = 1; change < 256; change++) {
			struct text changed = message;
			struct ssh_request request;

			changed.bytes[at] ^= (unsigned char)change;
			request = parse(&changed);
			if (request.kind != SSH_SIGN)
				continue;
			ssh_describe_purpose(&request, &none, text);
			ssh_describe_key(request.key, changed.bytes,
					 changed.length, name);
			CHECK(strlen(text) < sizeof(text));
		}
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "SHA-256 gives the standard's digests", hashes },
		{ "keys are listed without a question", lists_are_free },
		{ "a request that is not known is refused",
		  all_else_is_refused },
		{ "an extension other than session-bind is refused",
		  other_extensions_are_refused },
		{ "a message that is too short or too long is refused",
		  cut_messages_are_refused },
		{ "a log-in is told with the user, and the host once it is "
		  "proven",
		  tells_log_ins },
		{ "a log-in bound to a host is told with that host's key",
		  tells_the_host_that_the_data_are_bound_to },
		{ "a signature over data is told with its namespace",
		  tells_namespaces },
		{ "data that are neither are told as nothing",
		  tells_nothing_of_other_data },
		{ "a key has a fingerprint and the agent's comment",
		  names_keys },
		{ "bound sessions are counted", keeps_so_many_sessions },
		{ "changed bytes are parsed or refused",
		  survives_changed_bytes },
	};

	return check_run(tests, ARRAY_SIZE(tests));
}
