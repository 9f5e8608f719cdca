/* The list of what is open, see opens.h. */
#include "opens.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "../common/limits.h"

struct entry {
	struct entry *next;
	enum access access;
	bool planned;
	char path[];
};

struct opens {
	pthread_rwlock_t lock;
	struct entry *first;
	size_t count;
	atomic_uint generation;
};

static bool is_same(const struct entry *entry, const struct open *open)
{
	return entry->access == open->access &&
	       strcmp(entry->path, open->path) == 0;
}

static struct entry **find(struct opens *opens, const struct open *open)
{
	struct entry **at = &opens->first;

	while (*at && !is_same(*at, open))
		at = &(*at)->next;
	return at;
}

static int add(struct opens *opens, const struct open *open, bool planned)
{
	size_t length = strlen(open->path) + 1;
	struct entry *entry;

	if (*find(opens, open))
		return 0;
	if (opens->count == OPENS_MAX)
		return -ENOSPC;
	entry = malloc(sizeof(*entry) + length);
	if (!entry)
		return -ENOMEM;
	entry->access = open->access;
	entry->planned = planned;
	memcpy(entry->path, open->path, length);
	entry->next = opens->first;
	opens->first = entry;
	opens->count++;
	return 0;
}

bool opens_cover_within(struct supervisor *sup, enum access access,
			const char *path, const char *within)
{
	struct opens *opens = sup->opens;
	bool covered =
		access == ACCESS_GIT && sup->plan->files.git == GIT_ALLOW;

	(void)pthread_rwlock_rdlock(&opens->lock);
	for (const struct entry *e = opens->first; e && !covered; e = e->next)
		covered = e->access == access && is_below(path, e->path) &&
			  is_below(e->path, within);
	(void)pthread_rwlock_unlock(&opens->lock);
	return covered;
}

bool opens_cover(struct supervisor *sup, enum access access, const char *path)
{
	return opens_cover_within(sup, access, path, "/");
}

int opens_add(struct supervisor *sup, enum access access, const char *path)
{
	struct opens *opens = sup->opens;
	struct open open = { access, path };
	int err;

	(void)pthread_rwlock_wrlock(&opens->lock);
	err = add(opens, &open, false);
	(void)pthread_rwlock_unlock(&opens->lock);
	return err;
}

static void take(struct opens *opens, struct entry **at)
{
	*at = (*at)->next;
	opens->count--;
	(void)atomic_fetch_add(&opens->generation, 1);
}

int opens_remove(struct supervisor *sup, enum access access, const char *path,
		 bool *ret_busy)
{
	struct opens *opens = sup->opens;
	struct open open = { access, path };
	struct entry **at, *entry;

	(void)pthread_rwlock_wrlock(&opens->lock);
	at = find(opens, &open);
	entry = *at;
	if (entry)
		take(opens, at);
	(void)pthread_rwlock_unlock(&opens->lock);
	if (!entry)
		return -ENOENT;
	free(entry);
	*ret_busy = false;
	return 0;
}

const char *opens_explain(int err)
{
	switch (-err) {
	case ENOSPC:
		return "too many places are open to this run already";
	case ECANCELED:
		return "another place of the same answer could not be opened";
	default:
		return strerror(-err);
	}
}

bool opens_has(struct supervisor *sup, enum access access, const char *path)
{
	struct opens *opens = sup->opens;
	struct open open = { access, path };
	bool found;

	(void)pthread_rwlock_rdlock(&opens->lock);
	found = *find(opens, &open) != NULL;
	(void)pthread_rwlock_unlock(&opens->lock);
	return found;
}

/* Takes the first that does not stay off the list; NULL: all do. */
static struct entry *take_unwanted(struct opens *opens,
				   bool (*stays)(const struct open *open,
						 const void *of),
				   const void *of)
{
	struct entry **at, *entry;

	(void)pthread_rwlock_wrlock(&opens->lock);
	for (at = &opens->first; *at; at = &(*at)->next) {
		struct open open = { (*at)->access, (*at)->path };

		if (!(*at)->planned && !stays(&open, of))
			break;
	}
	entry = *at;
	if (entry)
		take(opens, at);
	(void)pthread_rwlock_unlock(&opens->lock);
	return entry;
}

void opens_keep(struct supervisor *sup,
		bool (*stays)(const struct open *open, const void *of),
		const void *of)
{
	struct entry *entry;

	while ((entry = take_unwanted(sup->opens, stays, of)))
		free(entry);
}

unsigned opens_generation(struct supervisor *sup)
{
	return atomic_load(&sup->opens->generation);
}

int opens_start(struct supervisor *sup)
{
	struct opens *opens = calloc(1, sizeof(*opens));
	int err = 0;

	if (!opens)
		return -ENOMEM;
	(void)pthread_rwlock_init(&opens->lock, NULL);
	for (size_t i = 0; i < sup->plan->open_count && !err; i++)
		err = add(opens, &sup->plan->opens[i], true);
	sup->opens = opens;
	return err;
}

void opens_finish(struct supervisor *sup)
{
	struct opens *opens = TAKE(sup->opens);
	struct entry *entry;

	while ((entry = opens->first)) {
		opens->first = entry->next;
		free(entry);
	}
	(void)pthread_rwlock_destroy(&opens->lock);
	free(opens);
}
