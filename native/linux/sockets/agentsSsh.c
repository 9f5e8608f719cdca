/* Messages of the ssh-agent protocol, see agentsSsh.h. */
#include "agentsSsh.h"

#include <stdio.h>
#include <string.h>

#include "../../common/sha256.h"

enum {
	SSH_MSG_USERAUTH_REQUEST = 50, /* RFC 4252, 6 */
	WORD_BYTES_MAX = 128,	       /* of a name that is shown */
};

/* A cursor over bytes that somebody else wrote. */
struct reader {
	struct ssh_bytes left;
	bool failed;
};

static struct ssh_bytes read_bytes(struct reader *r, size_t length)
{
	struct ssh_bytes bytes = { r->left.at, length };

	if (r->failed || r->left.length < length) {
		r->failed = true;
		return (struct ssh_bytes){ 0 };
	}
	r->left.at += length;
	r->left.length -= length;
	return bytes;
}

static unsigned char read_byte(struct reader *r)
{
	struct ssh_bytes byte = read_bytes(r, 1);

	return byte.length ? byte.at[0] : 0;
}

static uint32_t read_number(struct reader *r)
{
	struct ssh_bytes b = read_bytes(r, 4);

	return b.length ? (uint32_t)b.at[0] << 24 | (uint32_t)b.at[1] << 16 |
				  (uint32_t)b.at[2] << 8 | b.at[3]
			: 0;
}

/* RFC 4251, 5: a length and that many bytes. */
static struct ssh_bytes read_string(struct reader *r)
{
	return read_bytes(r, read_number(r));
}

/* All was there, and nothing else. */
static bool is_whole(const struct reader *r)
{
	return !r->failed && r->left.length == 0;
}

static bool equal(struct ssh_bytes a, struct ssh_bytes b)
{
	return a.length == b.length &&
	       (a.length == 0 || memcmp(a.at, b.at, a.length) == 0);
}

static bool is_text(struct ssh_bytes bytes, const char *text)
{
	return bytes.length == strlen(text) &&
	       memcmp(bytes.at, text, bytes.length) == 0;
}

/* Requests */

static struct ssh_request parse_sign(struct reader *r)
{
	struct ssh_request sign = { .kind = SSH_SIGN };

	sign.key = read_string(r);
	sign.data = read_string(r);
	(void)read_number(r); /* flags: which hash */
	if (!is_whole(r) || sign.key.length == 0)
		sign.kind = SSH_REFUSED;
	return sign;
}

static struct ssh_request parse_extension(struct reader *r)
{
	struct ssh_request bind = { .kind = SSH_BIND };

	if (!is_text(read_string(r), "session-bind@openssh.com"))
		return (struct ssh_request){ .kind = SSH_REFUSED };
	bind.host_key = read_string(r);
	bind.session_id = read_string(r);
	(void)read_string(r); /* a signature, which the agent checks */
	(void)read_byte(r);   /* whether the agent is forwarded there */
	if (!is_whole(r) || bind.host_key.length == 0 ||
	    bind.session_id.length == 0 ||
	    bind.session_id.length > SSH_SESSION_ID_MAX)
		bind.kind = SSH_REFUSED;
	return bind;
}

struct ssh_request ssh_parse_request(const unsigned char *message,
				     size_t length)
{
	struct reader r = { .left = { message, length } };

	switch (read_byte(&r)) {
	case SSH_AGENTC_REQUEST_IDENTITIES:
		return (struct ssh_request){
			.kind = is_whole(&r) ? SSH_LIST : SSH_REFUSED,
		};
	case SSH_AGENTC_SIGN_REQUEST:
		return parse_sign(&r);
	case SSH_AGENTC_EXTENSION:
		return parse_extension(&r);
	default:
		return (struct ssh_request){ .kind = SSH_REFUSED };
	}
}

/* For a person */

/* As ssh-keygen(1) -l shows a key: base64 (RFC 4648, 4) without padding. */
static void write_fingerprint(struct ssh_bytes key,
			      char ret_text[SSH_FINGERPRINT_BYTES])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char digest[SHA256_BYTES + 1] = { 0 };
	size_t at = strlen("SHA256:");

	sha256(key.at, key.length, digest);
	memcpy(ret_text, "SHA256:", at);
	for (size_t bit = 0; bit < SHA256_BYTES * 8UL; bit += 6) {
		unsigned two =
			(unsigned)digest[bit / 8] << 8 | digest[bit / 8 + 1];

		ret_text[at++] = digits[two >> (10 - bit % 8) & 0x3f];
	}
	ret_text[at] = '\0';
}

/* A name in somebody else's words: one line, and not too long. */
static void write_word(struct ssh_bytes word, char ret_text[WORD_BYTES_MAX])
{
	size_t length = word.length;

	if (length > WORD_BYTES_MAX - 1)
		length = WORD_BYTES_MAX - 1;
	for (size_t i = 0; i < length; i++)
		ret_text[i] = (char)(word.at[i] < 0x20 || word.at[i] == 0x7f
					     ? '?'
					     : word.at[i]);
	ret_text[length] = '\0';
}

void ssh_bind_session(struct ssh_sessions *sessions,
		      const struct ssh_request *binding)
{
	struct ssh_session *session;

	if (sessions->count == SSH_SESSIONS_MAX)
		return;
	session = &sessions->known[sessions->count++];
	session->id_length = binding->session_id.length;
	memcpy(session->id, binding->session_id.at, session->id_length);
	write_fingerprint(binding->host_key, session->host_key);
}

void ssh_describe_key(struct ssh_bytes key, const unsigned char *identities,
		      size_t length, char ret_text[SSH_KEY_TEXT_MAX])
{
	struct reader r = { .left = { identities, length } };
	char fingerprint[SSH_FINGERPRINT_BYTES], word[WORD_BYTES_MAX] = "";
	struct ssh_bytes known, comment;
	uint32_t count;

	if (read_byte(&r) != SSH_AGENT_IDENTITIES_ANSWER)
		r.failed = true;
	count = read_number(&r);
	for (uint32_t i = 0; i < count && !r.failed; i++) {
		known = read_string(&r);
		comment = read_string(&r);
		if (!r.failed && equal(known, key)) {
			write_word(comment, word);
			break;
		}
	}
	write_fingerprint(key, fingerprint);
	(void)snprintf(ret_text, SSH_KEY_TEXT_MAX, "%s%s%s", fingerprint,
		       word[0] ? " " : "", word);
}

static const struct ssh_session *find_session(
	const struct ssh_sessions *sessions, struct ssh_bytes id)
{
	for (size_t i = 0; i < sessions->count; i++)
		if (equal((struct ssh_bytes){ sessions->known[i].id,
					      sessions->known[i].id_length },
			  id))
			return &sessions->known[i];
	return NULL;
}

/* What a client signs to log in: RFC 4252, 7. */
struct log_in {
	struct ssh_bytes session_id, user, service;
	struct ssh_bytes host_key; /* hostbound: PROTOCOL of OpenSSH, 2.8 */
};

static bool parse_log_in(const struct ssh_request *sign, struct log_in *ret)
{
	struct reader r = { .left = sign->data };
	struct log_in log_in = { 0 };
	struct ssh_bytes method, key;
	bool is_bound;

	log_in.session_id = read_string(&r);
	if (read_byte(&r) != SSH_MSG_USERAUTH_REQUEST)
		return false;
	log_in.user = read_string(&r);
	log_in.service = read_string(&r);
	method = read_string(&r);
	is_bound = is_text(method, "publickey-hostbound-v00@openssh.com");
	if (!is_bound && !is_text(method, "publickey"))
		return false;
	if (read_byte(&r) != 1)
		return false;
	(void)read_string(&r); /* the name of the algorithm */
	key = read_string(&r);
	if (is_bound)
		log_in.host_key = read_string(&r);
	if (!is_whole(&r) || !equal(key, sign->key))
		return false;
	*ret = log_in;
	return true;
}

static void describe_log_in(const struct log_in *log_in,
			    const struct ssh_sessions *sessions,
			    char ret_text[SSH_PURPOSE_MAX])
{
	const struct ssh_session *session =
		find_session(sessions, log_in->session_id);
	char user[WORD_BYTES_MAX], service[WORD_BYTES_MAX];
	char fingerprint[SSH_FINGERPRINT_BYTES] = "";

	write_word(log_in->user, user);
	write_word(log_in->service, service);
	/* The signature is of no use to a server with another key. */
	if (log_in->host_key.length)
		write_fingerprint(log_in->host_key, fingerprint);
	else if (session)
		memcpy(fingerprint, session->host_key, sizeof(fingerprint));
	if (fingerprint[0])
		(void)snprintf(ret_text, SSH_PURPOSE_MAX,
			       "log in as %s at the host with the key %s", user,
			       fingerprint);
	else
		(void)snprintf(ret_text, SSH_PURPOSE_MAX, "log in as %s (%s)",
			       user, service);
}

/* The namespace of what ssh-keygen -Y sign signs: PROTOCOL.sshsig. */
static bool parse_namespace(struct ssh_bytes data, struct ssh_bytes *ret)
{
	struct reader r = { .left = data };
	struct ssh_bytes magic = read_bytes(&r, strlen("SSHSIG")), name;

	if (!is_text(magic, "SSHSIG"))
		return false;
	name = read_string(&r);
	(void)read_string(&r); /* reserved */
	(void)read_string(&r); /* the name of the hash */
	(void)read_string(&r); /* the message's hash */
	*ret = name;
	return is_whole(&r) && name.length > 0;
}

void ssh_describe_purpose(const struct ssh_request *sign,
			  const struct ssh_sessions *sessions,
			  char ret_text[SSH_PURPOSE_MAX])
{
	char word[WORD_BYTES_MAX];
	struct ssh_bytes name;
	struct log_in log_in;

	ret_text[0] = '\0';
	if (parse_namespace(sign->data, &name)) {
		write_word(name, word);
		(void)snprintf(ret_text, SSH_PURPOSE_MAX, "sign for %s", word);
	} else if (parse_log_in(sign, &log_in)) {
		describe_log_in(&log_in, sessions, ret_text);
	}
}
