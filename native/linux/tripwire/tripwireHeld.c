/*
 * Opens that wait for an answer. They are entries in lists, never threads:
 *
 *   serving thread: held_ask()  → QUEUED   in `queue`
 *   asking thread:                READING  who asks, from /proc
 *                                 ASKED    with the broker (loop's thread)
 *   loop's thread:  settle()    → SETTLED  in `settled`
 *   serving thread: held_answer() answers the request, and parts with it
 *
 * Who asks is read on a thread of its own, because /proc/PID/cmdline is the
 * program's memory, which may be a mapped file of ours: reading it can need
 * the serving thread. A program that is interrupted is answered at once; its
 * entry is then left to whoever has it, who frees it.
 */
#include <string.h>
#include <sys/eventfd.h>

#include "../../common/limits.h"
#include "../supervisor/denial.h"
#include "../supervisor/thread.h"
#include "tripwireService.h"

enum held_state { HELD_QUEUED, HELD_READING, HELD_ASKED, HELD_SETTLED };

struct held {
	struct question question; /* first */
	struct message asking, leaving;
	struct tripwires *tw;
	struct subject subject;
	uint64_t unique, node; /* the request */
	pid_t pid;	       /* inside */
	char path[PATH_BYTES_MAX], folder[PATH_BYTES_MAX];

	struct held *next;	  /* of all that wait, for an interrupt */
	struct held *next_queued; /* in `queue` or in `settled` */
	enum held_state state;
	bool is_left; /* the request is answered */
	bool is_allowed;
};

struct held_opens {
	int wake;	  /* eventfd(2) of the serving thread */
	struct held *all; /* the serving thread's */
	size_t count;
	bool is_asking; /* the thread runs */

	/* The states, is_left, and: */
	pthread_mutex_t lock;
	pthread_cond_t queued;
	struct held *queue, *settled;
};

int held_open(struct tripwires *tw)
{
	struct held_opens *held = calloc(1, sizeof(*held));

	if (!held)
		return -ENOMEM;
	held->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (held->wake < 0) {
		free(held);
		return -errno;
	}
	(void)pthread_mutex_init(&held->lock, NULL);
	(void)pthread_cond_init(&held->queued, NULL);
	tw->held = held;
	return 0;
}

int held_wake(const struct tripwires *tw)
{
	return tw->held->wake;
}

static void append(struct held **list, struct held *entry)
{
	while (*list)
		list = &(*list)->next_queued;
	entry->next_queued = NULL;
	*list = entry;
}

static void unlink_queued(struct held **list, const struct held *entry)
{
	while (*list && *list != entry)
		list = &(*list)->next_queued;
	if (*list)
		*list = entry->next_queued;
}

/* On the loop's thread */

static struct held *held_of_asking(struct message *message)
{
	return (struct held *)((char *)message - offsetof(struct held, asking));
}

static struct held *held_of_leaving(struct message *message)
{
	return (struct held *)((char *)message -
			       offsetof(struct held, leaving));
}

static void settle(struct question *question, const struct answer *answer)
{
	static const uint64_t one = 1;
	struct held *entry = (struct held *)question;
	struct held_opens *held = entry->tw->held;
	struct denial denial = { &entry->subject, &question->wanted,
				 answer->reason };

	if (!answer->allowed && answer_is_untold(answer))
		tell_denial(entry->tw->sup, &denial);
	(void)pthread_mutex_lock(&held->lock);
	entry->state = HELD_SETTLED;
	entry->is_allowed = answer->allowed;
	if (!entry->is_left)
		append(&held->settled, entry);
	(void)pthread_mutex_unlock(&held->lock);
	(void)!write(held->wake, &one, sizeof(one));
}

static void deliver_asking(struct message *message)
{
	struct held *entry = held_of_asking(message);

	broker_ask(entry->tw->sup, &entry->question);
}

/* The last message about it. */
static void deliver_leaving(struct message *message)
{
	struct held *entry = held_of_leaving(message);

	broker_withdraw(entry->tw->sup, &entry->question);
	free(entry);
}

/* On the asking thread */

static struct held *next_queued(struct held_opens *held)
{
	struct held *entry;

	(void)pthread_mutex_lock(&held->lock);
	while (!held->queue)
		(void)pthread_cond_wait(&held->queued, &held->lock);
	entry = held->queue;
	held->queue = entry->next_queued;
	entry->state = HELD_READING;
	(void)pthread_mutex_unlock(&held->lock);
	return entry;
}

/* false: nobody wants it any more, and it is ours to free. */
static bool become_asked(struct held_opens *held, struct held *entry)
{
	bool is_left;

	(void)pthread_mutex_lock(&held->lock);
	is_left = entry->is_left;
	if (!is_left) {
		entry->state = HELD_ASKED;
		mailbox_post(&entry->tw->sup->mailbox, &entry->asking);
	}
	(void)pthread_mutex_unlock(&held->lock);
	return !is_left;
}

static void *ask_queued(void *argument)
{
	struct tripwires *tw = argument;

	for (;;) {
		struct held *entry = next_queued(tw->held);

		subject_read(find_host_pid(tw, entry->pid), tw->sup->init,
			     &entry->subject);
		if (!become_asked(tw->held, entry))
			free(entry);
	}
	return NULL;
}

/* On the serving thread */

static int start_asking(struct tripwires *tw)
{
	int err;

	if (tw->held->is_asking)
		return 0;
	err = start_thread(ask_queued, tw, CALL_STACK_BYTES);
	tw->held->is_asking = err == 0;
	return err;
}

/*
 * What a wider answer opens: the place, or of one with mounts inside, such as
 * a home, only the file's own folder.
 */
static const char *choose_folder(const struct place *place,
				 const struct held *entry,
				 char folder[PATH_BYTES_MAX])
{
	char *slash;

	if (!place->is_directory)
		return NULL;
	if (!place->has_mounts_below)
		return place->mount->path;
	(void)strcpy(folder, entry->path);
	slash = strrchr(folder, '/');
	slash[slash == folder] = '\0';
	return folder;
}

static int create_held(struct tripwires *tw, const struct fuse_in_header *in,
		       const char *path, struct held **ret_entry)
{
	const struct node *node = nodes_find(&tw->nodes, in->nodeid);
	const struct place *place =
		innermost_place(tw, place_of(tw, node), path);
	struct held *entry = calloc(1, sizeof(*entry));
	struct wanted *wanted;

	if (!entry)
		return -ENOMEM;
	*entry = (struct held){
		.question = { .wanted = { .action = ACTION_READ },
			      .subject = &entry->subject,
			      .settled = settle },
		.asking = { .deliver = deliver_asking },
		.leaving = { .deliver = deliver_leaving },
		.tw = tw,
		.unique = in->unique,
		.node = in->nodeid,
		.pid = (pid_t)in->pid,
	};
	(void)strcpy(entry->path, path);
	wanted = &entry->question.wanted;
	wanted->path = entry->path;
	wanted->folder = choose_folder(place, entry, entry->folder);
	if (!wanted_is_plain(wanted)) {
		free(entry);
		return -EACCES; /* nobody could say what it is about */
	}
	*ret_entry = entry;
	return 0;
}

int held_ask(struct tripwires *tw, const struct fuse_in_header *in,
	     const char *path)
{
	struct held_opens *held = tw->held;
	struct held *entry;
	int err;

	if (held->count >= TRIPWIRE_HELD_MAX || start_asking(tw))
		return -EAGAIN;
	err = create_held(tw, in, path, &entry);
	if (err)
		return err;
	entry->next = held->all;
	held->all = entry;
	held->count++;
	(void)pthread_mutex_lock(&held->lock);
	append(&held->queue, entry);
	(void)pthread_cond_signal(&held->queued);
	(void)pthread_mutex_unlock(&held->lock);
	return 0;
}

/* Its request is answered: whoever has it now may free it. */
static void leave(struct held_opens *held, struct held *entry)
{
	struct held **at = &held->all;
	enum held_state state;

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	held->count--;
	(void)pthread_mutex_lock(&held->lock);
	state = entry->state;
	entry->is_left = true;
	if (state == HELD_QUEUED)
		unlink_queued(&held->queue, entry);
	if (state == HELD_SETTLED)
		unlink_queued(&held->settled, entry);
	(void)pthread_mutex_unlock(&held->lock);
	if (state == HELD_QUEUED)
		free(entry);
	else if (state != HELD_READING)
		mailbox_post(&entry->tw->sup->mailbox, &entry->leaving);
}

void held_interrupt(struct tripwires *tw, uint64_t unique)
{
	struct held *entry = tw->held->all;

	while (entry && entry->unique != unique)
		entry = entry->next;
	if (!entry)
		return; /* answered already */
	reply(tw, unique, -EINTR, NULL, 0);
	leave(tw->held, entry);
}

static struct held *next_settled(struct held_opens *held)
{
	struct held *entry;

	(void)pthread_mutex_lock(&held->lock);
	entry = held->settled;
	(void)pthread_mutex_unlock(&held->lock);
	return entry;
}

void held_answer(struct tripwires *tw)
{
	struct held *entry;
	uint64_t count;

	(void)!read(tw->held->wake, &count, sizeof(count));
	while ((entry = next_settled(tw->held))) {
		finish_open(tw, entry->unique, entry->node, entry->is_allowed);
		leave(tw->held, entry);
	}
}
