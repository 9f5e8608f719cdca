/* Carrying out what the broker opens and closes, see opening.h. */
#include "opening.h"

#include <semaphore.h>
#include <string.h>

#include "../common/limits.h"
#include "thread.h"

struct opening {
	pthread_mutex_t lock;
	pthread_cond_t added;
	struct opening_job *first, **last;
	bool ended;
	sem_t gone; /* its thread */
};

void opening_free(struct opening_job *job)
{
	free(job);
}

/* One piece of memory: the entries, then their paths. */
int opening_parse(const struct json *opens, struct opening_job **ret_job)
{
	struct opening_job *job;
	struct open open;
	size_t size, length;
	char *at;
	int err;

	if (!opens || opens->type != JSON_ARRAY)
		return -EBADMSG;
	if (opens->length > OPENS_MAX)
		return -E2BIG;
	size = sizeof(*job) + opens->length * sizeof(job->entries[0]);
	for (const struct json *o = opens->first; o; o = o->next) {
		err = open_parse(o, &open);
		if (err)
			return err;
		size += strlen(open.path) + 1;
	}
	job = calloc(1, size);
	if (!job)
		return -ENOMEM;
	at = (char *)&job->entries[opens->length];
	for (const struct json *o = opens->first; o; o = o->next) {
		err = open_parse(o, &open);
		if (err) {
			free(job);
			return err;
		}
		length = strlen(open.path) + 1;
		open.path = memcpy(at, open.path, length);
		at += length;
		job->entries[job->count++].open = open;
	}
	*ret_job = job;
	return 0;
}

/* On the thread of its own */

static void add_each(struct opening_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		struct opening_entry *entry = &job->entries[i];

		entry->err = opens_add(job->sup, entry->open.access,
				       entry->open.path, &entry->judged);
	}
}

static void remove_each(struct opening_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		struct opening_entry *entry = &job->entries[i];

		entry->err = opens_remove(job->sup, entry->open.access,
					  entry->open.path, &entry->busy);
		if (entry->err && entry->err != -ENOENT)
			job->err = entry->err;
	}
}

static void add_all(struct opening_job *job)
{
	bool added[OPENS_MAX];
	size_t i;

	for (i = 0; i < job->count; i++) {
		struct opening_entry *entry = &job->entries[i];

		added[i] = !opens_has(job->sup, entry->open.access,
				      entry->open.path);
		entry->err = opens_add(job->sup, entry->open.access,
				       entry->open.path, &entry->judged);
		if (entry->err)
			break;
	}
	if (i == job->count)
		return;
	while (i-- > 0) {
		struct opening_entry *entry = &job->entries[i];

		entry->err = -ECANCELED;
		if (added[i])
			(void)!opens_remove(job->sup, entry->open.access,
					    entry->open.path, &entry->busy);
	}
}

static bool is_listed(const struct open *open, const void *of)
{
	const struct opening_job *job = of;

	for (size_t i = 0; i < job->count; i++)
		if (job->entries[i].open.access == open->access &&
		    strcmp(job->entries[i].open.path, open->path) == 0)
			return true;
	return false;
}

static void carry_out(struct opening_job *job)
{
	switch (job->kind) {
	case OPENING_ADD:
		add_each(job);
		break;
	case OPENING_ADD_ALL:
		add_all(job);
		break;
	case OPENING_REMOVE:
		remove_each(job);
		break;
	case OPENING_KEEP:
		job->err = opens_keep(job->sup, is_listed, job);
		break;
	case OPENING_PLANNED:
		opens_mount_planned(job->sup);
		break;
	}
}

/* The next one; NULL: there will be none. */
static struct opening_job *wait_for_job(struct opening *opening)
{
	struct opening_job *job;

	(void)pthread_mutex_lock(&opening->lock);
	while (!opening->first && !opening->ended)
		(void)pthread_cond_wait(&opening->added, &opening->lock);
	job = opening->first;
	if (job)
		opening->first = job->next;
	if (!opening->first)
		opening->last = &opening->first;
	(void)pthread_mutex_unlock(&opening->lock);
	return job;
}

static void *carry_out_all(void *argument)
{
	struct opening *opening = argument;
	struct opening_job *job;

	while ((job = wait_for_job(opening))) {
		carry_out(job);
		mailbox_post(&job->sup->mailbox, &job->message);
	}
	(void)sem_post(&opening->gone);
	return NULL;
}

/* On the loop's thread */

static void deliver(struct message *message)
{
	struct opening_job *job = (struct opening_job *)message;

	job->done(job);
}

/* Most runs open nothing: the thread begins with the first job. */
static int start(struct supervisor *sup)
{
	struct opening *opening;
	int err;

	if (sup->opening)
		return 0;
	opening = calloc(1, sizeof(*opening));
	if (!opening)
		return -ENOMEM;
	(void)pthread_mutex_init(&opening->lock, NULL);
	(void)pthread_cond_init(&opening->added, NULL);
	(void)sem_init(&opening->gone, 0, 0);
	opening->last = &opening->first;
	err = start_thread(carry_out_all, opening, CALL_STACK_BYTES);
	if (err)
		free(opening);
	else
		sup->opening = opening;
	return err;
}

int opening_begin(struct supervisor *sup, struct opening_job *job)
{
	int err = start(sup);

	if (err)
		return err;
	job->message.deliver = deliver;
	job->sup = sup;
	job->next = NULL;
	(void)pthread_mutex_lock(&sup->opening->lock);
	*sup->opening->last = job;
	sup->opening->last = &job->next;
	(void)pthread_cond_signal(&sup->opening->added);
	(void)pthread_mutex_unlock(&sup->opening->lock);
	return 0;
}

int opening_start(struct supervisor *sup)
{
	struct opening_job *job;
	int err;

	if (sup->plan->open_count == 0)
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job)
		return -ENOMEM;
	job->kind = OPENING_PLANNED;
	job->done = opening_free;
	err = opening_begin(sup, job);
	if (err)
		opening_free(job);
	return err;
}

void opening_finish(struct supervisor *sup)
{
	struct opening *opening = TAKE(sup->opening);

	if (!opening)
		return;
	(void)pthread_mutex_lock(&opening->lock);
	opening->ended = true;
	(void)pthread_cond_signal(&opening->added);
	(void)pthread_mutex_unlock(&opening->lock);
	(void)RETRY(sem_wait(&opening->gone));
	(void)sem_destroy(&opening->gone);
	(void)pthread_cond_destroy(&opening->added);
	(void)pthread_mutex_destroy(&opening->lock);
	free(opening);
}
