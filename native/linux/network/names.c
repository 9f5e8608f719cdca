/*
 * Names and their synthetic addresses, see names.h. The number of names is
 * bounded and so is each one's length, so that a program that looks up
 * names for ever runs into a limit of its own.
 */
#include "names.h"

#include <pthread.h>
#include <string.h>

#include "../../common/limits.h"

enum { NAMES_TABLE = 2 * NAMES_MAX }; /* slots: a power of two, half empty */

struct names {
	pthread_mutex_t lock;
	unsigned count;
	char *hosts[NAMES_MAX];	     /* by address, from SANDBOX_ADDRESS + 1 */
	uint32_t slots[NAMES_TABLE]; /* index of the name + 1; 0: free */
};

int names_open(struct names **ret_names)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	names->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	*ret_names = names;
	return 0;
}

void names_close(struct names *names)
{
	if (!names)
		return;
	for (unsigned i = 0; i < names->count; i++)
		free(names->hosts[i]);
	free(names);
}

/* FNV-1a; a program that makes names collide slows down its own lookups. */
static uint32_t hash_of(const char *host)
{
	uint32_t hash = 2166136261U;

	for (; *host; host++)
		hash = (hash ^ (unsigned char)*host) * 16777619U;
	return hash;
}

/* Its index, or -ENOSPC, or -ENOMEM. */
static int take_locked(struct names *names, const char *host)
{
	uint32_t slot = hash_of(host) % NAMES_TABLE;

	for (; names->slots[slot]; slot = (slot + 1) % NAMES_TABLE)
		if (strcmp(names->hosts[names->slots[slot] - 1], host) == 0)
			return (int)names->slots[slot] - 1;
	if (names->count == NAMES_MAX)
		return -ENOSPC;
	names->hosts[names->count] = strdup(host);
	if (!names->hosts[names->count])
		return -ENOMEM;
	names->slots[slot] = ++names->count;
	return (int)names->count - 1;
}

int names_take(struct names *names, const char *host,
	       struct ip_address *ret_address)
{
	int index;

	(void)pthread_mutex_lock(&names->lock);
	index = take_locked(names, host);
	(void)pthread_mutex_unlock(&names->lock);
	if (index < 0)
		return index;
	*ret_address = address_v4(SANDBOX_ADDRESS + 1 + (uint32_t)index);
	return 0;
}

const char *names_find(struct names *names, const struct ip_address *address)
{
	const unsigned char *b = address->bytes;
	const char *host = NULL;
	uint32_t index;

	if (address->family != AF_INET)
		return NULL;
	index = ((uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
		 (uint32_t)b[2] << 8 | b[3]) -
		(SANDBOX_ADDRESS + 1);
	(void)pthread_mutex_lock(&names->lock);
	if (index < names->count)
		host = names->hosts[index];
	(void)pthread_mutex_unlock(&names->lock);
	return host;
}

bool is_host_name(const char *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t length = strlen(text), label;

	if (length == 0 || length > HOST_MAX)
		return false;
	for (const char *at = text;; at += label + 1) {
		label = strspn(at, allowed);
		if (label == 0 || label > 63)
			return false;
		if (at[label] == '\0')
			return true;
		if (at[label] != '.')
			return false;
	}
}
