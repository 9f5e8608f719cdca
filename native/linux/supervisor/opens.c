/*
 * The list of what is open, and the live mounts that go with it, see opens.h.
 *
 * One mount never hides another: before a folder gets one, those below it are
 * undone, and whatever then is read-only still (another file system mounted
 * below, or all of it when the outer one is removed) gets its own again. So
 * each can be undone at any time, in any order.
 */
#include "opens.h"

#include <pthread.h>
#include <string.h>

#include "../../common/limits.h"
#include "../files/files.h"
#include "../rules/rules.h"
#include "../tripwire/tripwire.h"

struct entry {
	struct entry *next;
	enum access access;
	bool planned;
	struct live_mount mount;
	char path[];
};

struct opens {
	/* Whoever changes anything; may be held while a mount waits. */
	pthread_mutex_t changing;
	pthread_rwlock_t lock; /* of the list, for those who look */
	struct entry *first;
	size_t count;
	atomic_uint generation;
};

/* The list */

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

static struct entry *create_entry(const struct open *open)
{
	size_t length = strlen(open->path) + 1;
	struct entry *entry = calloc(1, sizeof(*entry) + length);

	if (entry) {
		entry->access = open->access;
		memcpy(entry->path, open->path, length);
	}
	return entry;
}

static void insert(struct opens *opens, struct entry *entry)
{
	(void)pthread_rwlock_wrlock(&opens->lock);
	entry->next = opens->first;
	opens->first = entry;
	opens->count++;
	(void)pthread_rwlock_unlock(&opens->lock);
}

static struct entry *take(struct opens *opens, struct entry **at)
{
	struct entry *entry = *at;

	(void)pthread_rwlock_wrlock(&opens->lock);
	*at = entry->next;
	opens->count--;
	(void)atomic_fetch_add(&opens->generation, 1);
	(void)pthread_rwlock_unlock(&opens->lock);
	return entry;
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

unsigned opens_generation(struct supervisor *sup)
{
	return atomic_load(&sup->opens->generation);
}

/* Mounts, with `changing` held */

static bool has_mounts(enum access access)
{
	return access == ACCESS_WRITE || access == ACCESS_GIT;
}

static int undo_mount(struct supervisor *sup, struct entry *entry,
		      bool *ret_busy)
{
	int err = 0;

	*ret_busy = false;
	if (entry->mount.id)
		err = live_mount_detach(sup, &entry->mount, ret_busy);
	if (!err)
		entry->mount = (struct live_mount){ 0 };
	return err;
}

static int undo_mounts_below(struct supervisor *sup, const char *path)
{
	bool busy;
	int err = 0;

	for (struct entry *e = sup->opens->first; e && !err; e = e->next)
		if (e->mount.id && is_below(e->path, path) &&
		    strcmp(e->path, path) != 0)
			err = undo_mount(sup, e, &busy);
	return err;
}

/*
 * The entries below that have none. One that cannot be mounted is open all
 * the same: its calls are performed on the host's path.
 */
static void renew_mounts_below(struct supervisor *sup, const char *path)
{
	static const struct identity any;

	for (struct entry *e = sup->opens->first; e; e = e->next)
		if (!e->mount.id && has_mounts(e->access) &&
		    is_below(e->path, path))
			(void)!live_mount_attach(sup, e->path, &any, &e->mount);
}

static int mount_entry(struct supervisor *sup, struct entry *entry,
		       const struct identity *judged)
{
	int err = undo_mounts_below(sup, entry->path);

	if (!err)
		err = live_mount_attach(sup, entry->path, judged,
					&entry->mount);
	renew_mounts_below(sup, entry->path);
	return err;
}

/* Changes */

bool is_writable_by_plan(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mount_count; i++)
		if (plan->mounts[i].op == MOUNT_WRITABLE &&
		    strcmp(plan->mounts[i].path, path) == 0)
			return true;
	return false;
}

/*
 * What can be written gets what is protected in a root, also where nothing is
 * yet; the plan has said so already for what it makes writable itself. Without
 * a listener nobody judges.
 */
static int protect(struct supervisor *sup, const struct open *open)
{
	if (open->access != ACCESS_WRITE || !sup->files ||
	    is_writable_by_plan(sup->plan, open->path))
		return 0;
	return rules_add_root(files_rules(sup), open->path);
}

static int add(struct supervisor *sup, const struct open *open,
	       const struct identity *judged)
{
	struct opens *opens = sup->opens;
	struct entry *entry;
	int err;

	if (*find(opens, open))
		return 0;
	if (opens->count == OPENS_MAX)
		return -ENOSPC;
	entry = create_entry(open);
	if (!entry)
		return -ENOMEM;
	err = protect(sup, open);
	if (!err && has_mounts(open->access))
		err = mount_entry(sup, entry, judged);
	if (err)
		free(entry);
	else
		insert(opens, entry);
	return err;
}

int opens_add(struct supervisor *sup, enum access access, const char *path,
	      const struct identity *judged)
{
	struct open open = { access, path };
	int err;

	(void)pthread_mutex_lock(&sup->opens->changing);
	err = add(sup, &open, judged);
	(void)pthread_mutex_unlock(&sup->opens->changing);
	return err;
}

/* Off the list first: nobody is let by while the mount goes. */
static struct entry *close_entry(struct supervisor *sup, struct entry **at,
				 int *ret_err, bool *ret_busy)
{
	struct entry *entry = take(sup->opens, at);

	*ret_err = undo_mount(sup, entry, ret_busy);
	if (has_mounts(entry->access))
		renew_mounts_below(sup, entry->path);
	else if (entry->access == ACCESS_READ)
		tripwire_revoked(sup);
	return entry;
}

int opens_remove(struct supervisor *sup, enum access access, const char *path,
		 bool *ret_busy)
{
	struct opens *opens = sup->opens;
	struct open open = { access, path };
	struct entry **at;
	int err = -ENOENT;

	(void)pthread_mutex_lock(&opens->changing);
	at = find(opens, &open);
	if (*at)
		free(close_entry(sup, at, &err, ret_busy));
	(void)pthread_mutex_unlock(&opens->changing);
	return err;
}

void opens_keep(struct supervisor *sup, const struct opens_keeping *keeping)
{
	struct opens *opens = sup->opens;
	struct entry **at = &opens->first;
	struct entry *entry;
	bool busy;
	int err;

	(void)pthread_mutex_lock(&opens->changing);
	while (*at) {
		struct open open = { (*at)->access, (*at)->path };

		if ((*at)->planned || keeping->stays(&open, keeping->of)) {
			at = &(*at)->next;
			continue;
		}
		entry = close_entry(sup, at, &err, &busy);
		keeping->removed(&open, err, busy, keeping->of);
		free(entry);
	}
	(void)pthread_mutex_unlock(&opens->changing);
}

const char *opens_explain(int err)
{
	switch (-err) {
	case ENOSPC:
		return "too many places are open to this run, or the limit of "
		       "mounts (fs.mount-max) is reached";
	case ECANCELED:
		return "another place of the same answer could not be opened";
	case ESTALE:
		return "it is another folder by now than the one that was "
		       "asked about, or the sandbox has something else there";
	case ELOOP:
		return "a part of the path is a symbolic link";
	case EINVAL:
		return "the whole file system cannot be opened at once";
	case EROFS:
		return "its file system is mounted read-only";
	case EPERM:
		return "it was mounted read-only before the sandbox was made";
	default:
		return strerror(-err);
	}
}

/* Begin and end */

static int add_planned(struct supervisor *sup, const struct open *open)
{
	struct entry *entry = create_entry(open);

	if (!entry)
		return -ENOMEM;
	entry->planned = true;
	insert(sup->opens, entry);
	return protect(sup, open);
}

int opens_start(struct supervisor *sup)
{
	struct opens *opens = calloc(1, sizeof(*opens));
	int err = 0;

	if (!opens)
		return -ENOMEM;
	(void)pthread_mutex_init(&opens->changing, NULL);
	(void)pthread_rwlock_init(&opens->lock, NULL);
	sup->opens = opens;
	for (size_t i = 0; i < sup->plan->open_count && !err; i++)
		if (!*find(opens, &sup->plan->opens[i]))
			err = add_planned(sup, &sup->plan->opens[i]);
	return err;
}

void opens_mount_planned(struct supervisor *sup)
{
	(void)pthread_mutex_lock(&sup->opens->changing);
	renew_mounts_below(sup, "/");
	(void)pthread_mutex_unlock(&sup->opens->changing);
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
	(void)pthread_mutex_destroy(&opens->changing);
	free(opens);
}
