/* Carrying out what the broker opens and closes, see opening.h. */
#include "opening.h"

#include <semaphore.h>
#include <string.h>

#include "../../common/limits.h"
#include "thread.h"
#include "wanted.h"

struct opening {
	pthread_mutex_t lock;
	pthread_cond_t added;
	struct opening_job *first, **last;
	bool ended;
	sem_t gone; /* its thread */
};

void opening_free(struct opening_job *job)
{
	json_writer_free(&job->told);
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

static void begin_frame(struct opening_job *job, const char *kind)
{
	json_open_frame(&job->told, kind);
	json_key(&job->told, "opens");
	json_open_array(&job->told);
}

static void end_frame(struct opening_job *job)
{
	json_close_array(&job->told);
	json_close_object(&job->told);
}

static void tell_added(struct opening_job *job, const struct open *open,
		       int err)
{
	struct json_writer *w = &job->told;

	json_open_object(w);
	write_open(w, open);
	json_key(w, "error");
	if (err)
		json_string(w, opens_explain(err));
	else
		json_null(w);
	json_close_object(w);
}

static void tell_removed(struct opening_job *job, const struct open *open,
			 int err, bool busy)
{
	struct json_writer *w = &job->told;

	json_open_object(w);
	write_open(w, open);
	json_key(w, "busy");
	json_boolean(w, busy);
	json_close_object(w);
	if (err && err != -ENOENT)
		job->err = err;
}

static int add(struct opening_job *job, size_t i)
{
	const struct opening_entry *entry = &job->entries[i];

	return opens_add(job->sup, entry->open.access, entry->open.path,
			 &entry->judged);
}

static void add_each(struct opening_job *job)
{
	begin_frame(job, "opened");
	for (size_t i = 0; i < job->count; i++)
		tell_added(job, &job->entries[i].open, add(job, i));
	end_frame(job);
}

static void add_all(struct opening_job *job)
{
	bool added[OPENS_MAX], busy;
	size_t failed = 0;

	for (; failed < job->count && !job->err; failed += !job->err) {
		const struct open *open = &job->entries[failed].open;

		added[failed] = !opens_has(job->sup, open->access, open->path);
		job->err = add(job, failed);
	}
	for (size_t i = 0; job->err && i < failed; i++)
		if (added[i])
			(void)!opens_remove(job->sup,
					    job->entries[i].open.access,
					    job->entries[i].open.path, &busy);
	begin_frame(job, "opened");
	for (size_t i = 0; i < job->count; i++)
		tell_added(job, &job->entries[i].open,
			   job->err && i != failed ? -ECANCELED : job->err);
	end_frame(job);
}

static void remove_each(struct opening_job *job)
{
	begin_frame(job, "revoked");
	for (size_t i = 0; i < job->count; i++) {
		const struct open *open = &job->entries[i].open;
		bool busy = false;
		int err =
			opens_remove(job->sup, open->access, open->path, &busy);

		tell_removed(job, open, err, busy);
	}
	end_frame(job);
}

static bool is_listed(const struct open *open, void *of)
{
	const struct opening_job *job = of;

	for (size_t i = 0; i < job->count; i++)
		if (job->entries[i].open.access == open->access &&
		    strcmp(job->entries[i].open.path, open->path) == 0)
			return true;
	return false;
}

static void note_removed(const struct open *open, int err, bool busy, void *of)
{
	tell_removed(of, open, err, busy);
}

static void keep(struct opening_job *job)
{
	const struct opens_keeping keeping = { is_listed, note_removed, job };

	begin_frame(job, "revoked");
	opens_keep(job->sup, &keeping);
	end_frame(job);
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
		keep(job);
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

/* Whether some of what the plan opens may want a mount. */
static bool wants_mounts(const struct plan *plan)
{
	for (size_t i = 0; i < plan->open_count; i++)
		if (!is_writable_by_plan(plan, plan->opens[i].path))
			return true;
	return false;
}

int opening_start(struct supervisor *sup)
{
	struct opening_job *job;
	int err;

	if (!wants_mounts(sup->plan))
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
