/*
 * Messages of the ssh-agent protocol (draft-ietf-sshm-ssh-agent): which of
 * them may pass, which are a use of a key, and what that use is for. All
 * bytes come from a program of the sandbox or from the agent and are checked
 * as such. Never touches the system.
 */
#pragma once

#include "../../common/cordon.h"

enum {
	SSH_MESSAGE_MAX = 256 << 10, /* without its length; as OpenSSH has it */
	SSH_SESSIONS_MAX = 16,	     /* that one connection binds */
	SSH_SESSION_ID_MAX = 128,
	SSH_FINGERPRINT_BYTES = 51, /* "SHA256:" and 43 digits, with the zero */
	SSH_KEY_TEXT_MAX = 256,	    /* fingerprint and comment */
	SSH_PURPOSE_MAX = 512,
};

/* Messages that we write ourselves: their one byte. */
enum ssh_message {
	SSH_AGENT_FAILURE = 5,
	SSH_AGENT_SUCCESS = 6,
	SSH_AGENTC_REQUEST_IDENTITIES = 11,
	SSH_AGENT_IDENTITIES_ANSWER = 12,
	SSH_AGENTC_SIGN_REQUEST = 13,
	SSH_AGENTC_EXTENSION = 27,
};

struct ssh_bytes {
	const unsigned char *at;
	size_t length;
};

enum ssh_kind {
	SSH_REFUSED, /* changes the agent, or is not known here */
	SSH_LIST,
	SSH_SIGN,
	SSH_BIND, /* session-bind@openssh.com, PROTOCOL.agent of OpenSSH */
};

/* Points into the message. */
struct ssh_request {
	enum ssh_kind kind;
	struct ssh_bytes key, data;	       /* sign */
	struct ssh_bytes host_key, session_id; /* bind */
};

/* The sessions whose server has proven its key to the agent. */
struct ssh_sessions {
	size_t count;
	struct ssh_session {
		size_t id_length;
		unsigned char id[SSH_SESSION_ID_MAX];
		char host_key[SSH_FINGERPRINT_BYTES];
	} known[SSH_SESSIONS_MAX];
};

/* What is not exactly as it should be is SSH_REFUSED. */
struct ssh_request ssh_parse_request(const unsigned char *message,
				     size_t length);

/* After the agent took the binding. More than we keep are forgotten. */
void ssh_bind_session(struct ssh_sessions *sessions,
		      const struct ssh_request *binding);

/*
 * The key for a person: its fingerprint, and its comment out of the agent's
 * answer to SSH_AGENTC_REQUEST_IDENTITIES when that has one.
 */
void ssh_describe_key(struct ssh_bytes key, const unsigned char *identities,
		      size_t length, char ret_text[SSH_KEY_TEXT_MAX]);

/* What a signature is for, as far as its data tells; "" when they do not. */
void ssh_describe_purpose(const struct ssh_request *sign,
			  const struct ssh_sessions *sessions,
			  char ret_text[SSH_PURPOSE_MAX]);
