/* What a program wants, see wanted.h. */
#include "wanted.h"

#include <string.h>

static const char *const ACTIONS[] = {
	[ACTION_CONNECT] = "connect", [ACTION_LOOKUP] = "lookup",
	[ACTION_WRITE] = "write",     [ACTION_GIT] = "git",
	[ACTION_READ] = "read",	      [ACTION_SOCKET] = "socket",
	[ACTION_SIGN] = "sign",	      [ACTION_PUBLISH] = "publish",
};

static const char *const ACCESSES[] = {
	[ACCESS_WRITE] = "write",
	[ACCESS_READ] = "read",
	[ACCESS_GIT] = "git",
	[ACCESS_SOCKET] = "socket",
};

const char *action_name(enum action action)
{
	return ACTIONS[action];
}

const char *access_name(enum access access)
{
	return ACCESSES[access];
}

int access_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(ACCESSES); i++)
		if (strcmp(ACCESSES[i], name) == 0)
			return (int)i;
	return -EBADMSG;
}

bool wanted_is_plain(const struct wanted *wanted)
{
	const char *const paths[] = { wanted->path, wanted->other,
				      wanted->folder };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (paths[i] && !is_plain_path(paths[i]))
			return false;
	return true;
}

const char *wanted_wider(const struct wanted *wanted)
{
	if (wanted->action == ACTION_GIT)
		return wanted->other;
	if (wanted->action != ACTION_WRITE)
		return NULL;
	return wanted->folder ? wanted->folder : wanted->path;
}

/* Copies */

enum { STRINGS = 10 };

static void list_strings(struct wanted *wanted, const char **list[STRINGS])
{
	list[0] = &wanted->to.host;
	list[1] = &wanted->path;
	list[2] = &wanted->call;
	list[3] = &wanted->other;
	list[4] = &wanted->folder;
	list[5] = &wanted->change;
	list[6] = &wanted->agent;
	list[7] = &wanted->key;
	list[8] = &wanted->purpose;
	list[9] = &wanted->because;
}

struct wanted *wanted_copy(const struct wanted *wanted)
{
	struct wanted source = *wanted, *copy;
	const char **strings[STRINGS];
	size_t size = sizeof(*copy), length;
	char *at;

	list_strings(&source, strings);
	for (int i = 0; i < STRINGS; i++)
		if (*strings[i])
			size += strlen(*strings[i]) + 1;
	copy = malloc(size);
	if (!copy)
		return NULL;
	at = (char *)(copy + 1);
	for (int i = 0; i < STRINGS; i++) {
		if (!*strings[i])
			continue;
		length = strlen(*strings[i]) + 1;
		*strings[i] = memcpy(at, *strings[i], length);
		at += length;
	}
	*copy = source;
	return copy;
}

/* Frames */

static void write_text_or_null(struct json_writer *w, const char *key,
			       const char *text)
{
	json_key(w, key);
	if (text)
		json_string(w, text);
	else
		json_null(w);
}

static void write_destination(struct json_writer *w,
			      const struct destination *to)
{
	char text[ADDRESS_TEXT_MAX];

	if (to->host) {
		json_member_string(w, "host", to->host);
		return;
	}
	address_format(&to->address, text);
	json_member_string(w, "address", text);
}

static void write_change(struct json_writer *w, const struct wanted *wanted)
{
	json_member_string(w, "path", wanted->path);
	json_member_string(w, "call", wanted->call);
	write_text_or_null(w, "to", wanted->other);
	write_text_or_null(w, "folder", wanted->folder);
	json_key(w, "protected");
	json_boolean(w, wanted->is_protected);
	write_text_or_null(w, "change", wanted->change);
}

static void write_signature(struct json_writer *w, const struct wanted *wanted)
{
	json_member_string(w, "agent", wanted->agent);
	json_member_string(w, "key", wanted->key);
	json_member_string(w, "purpose", wanted->purpose);
}

static void write_members(struct json_writer *w, const struct wanted *wanted)
{
	switch (wanted->action) {
	case ACTION_CONNECT:
		write_destination(w, &wanted->to);
		json_member_integer(w, "port", wanted->to.port);
		return;
	case ACTION_LOOKUP:
		write_destination(w, &wanted->to);
		return;
	case ACTION_WRITE:
		write_change(w, wanted);
		return;
	case ACTION_GIT:
		json_member_string(w, "repository", wanted->other);
		json_member_string(w, "path", wanted->path);
		json_member_string(w, "call", wanted->call);
		return;
	case ACTION_READ:
		json_member_string(w, "path", wanted->path);
		write_text_or_null(w, "folder", wanted->folder);
		return;
	case ACTION_SOCKET:
		json_member_string(w, "path", wanted->path);
		json_member_string(w, "call", wanted->call);
		return;
	case ACTION_SIGN:
		write_signature(w, wanted);
		return;
	case ACTION_PUBLISH:
		json_member_integer(w, "port", wanted->to.port);
		return;
	}
}

void write_open(struct json_writer *w, const struct open *open)
{
	json_member_string(w, "access", access_name(open->access));
	json_member_string(w, "path", open->path);
}

void wanted_write(struct json_writer *w, const struct wanted *wanted)
{
	json_member_string(w, "action", action_name(wanted->action));
	json_key(w, "object");
	json_open_object(w);
	write_members(w, wanted);
	json_close_object(w);
}
