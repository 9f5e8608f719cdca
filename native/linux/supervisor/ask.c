/*
 * Asks and waits. The question belongs to two threads: the loop's, which
 * settles it, and the one that waits. Whoever leaves last frees it.
 */
#include "ask.h"

#include <string.h>
#include <time.h>

struct held {
	struct question question; /* first */
	struct message asking, leaving;
	struct supervisor *sup;
	struct subject subject;
	struct wanted *wanted; /* the asker's strings may go before we do */

	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool settled;
	struct answer answer;
};

static struct held *held_of_leaving(struct message *message)
{
	return (struct held *)((char *)message -
			       offsetof(struct held, leaving));
}

static struct held *held_of_asking(struct message *message)
{
	return (struct held *)((char *)message - offsetof(struct held, asking));
}

/* On the loop's thread. */
static void settle_held(struct question *question, const struct answer *answer)
{
	struct held *held = (struct held *)question;

	(void)pthread_mutex_lock(&held->lock);
	held->answer = *answer;
	held->settled = true;
	(void)pthread_cond_signal(&held->changed);
	(void)pthread_mutex_unlock(&held->lock);
}

static void deliver_question(struct message *message)
{
	struct held *held = held_of_asking(message);

	broker_ask(held->sup, &held->question);
}

/* The last message about it: nothing refers to it any more. */
static void deliver_leaving(struct message *message)
{
	struct held *held = held_of_leaving(message);

	broker_withdraw(held->sup, &held->question);
	(void)pthread_cond_destroy(&held->changed);
	(void)pthread_mutex_destroy(&held->lock);
	free(held->wanted);
	free(held);
}

static struct held *hold(const struct asker *asker, const struct wanted *wanted)
{
	struct held *held = calloc(1, sizeof(*held));
	const char *wider = wanted_wider(wanted);
	pthread_condattr_t attributes;

	if (!held)
		return NULL;
	held->wanted = wanted_copy(wanted);
	if (!held->wanted) {
		free(held);
		return NULL;
	}
	subject_read(asker->thread, asker->sup->init, &held->subject);
	held->question = (struct question){
		.wanted = *held->wanted,
		.subject = &held->subject,
		.settled = settle_held,
	};
	if (wider)
		held->question.judged = identify(wider);
	held->asking.deliver = deliver_question;
	held->leaving.deliver = deliver_leaving;
	held->sup = asker->sup;
	(void)pthread_mutex_init(&held->lock, NULL);
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&held->changed, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	return held;
}

static struct timespec in_ms(long ms)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += ms / 1000;
	at.tv_nsec += ms % 1000 * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

/* Until it is settled (true) or its asker is gone. */
static bool wait_settled(const struct asker *asker, struct held *held)
{
	struct timespec until;
	bool settled, alive = true;

	(void)pthread_mutex_lock(&held->lock);
	while (!held->settled && alive) {
		until = in_ms(ALIVE_CHECK_MS);
		if (pthread_cond_timedwait(&held->changed, &held->lock, &until))
			alive = asker->is_alive(asker->of);
	}
	settled = held->settled;
	(void)pthread_mutex_unlock(&held->lock);
	return settled;
}

int ask_as(const struct asker *asker, const struct wanted *wanted,
	   struct answer *ret_answer)
{
	struct held *held;
	int err = 0;

	if (!wanted_is_plain(wanted))
		return -EACCES; /* nobody could say what it is about */
	held = hold(asker, wanted);
	if (!held)
		return -ENOMEM;
	mailbox_post(&asker->sup->mailbox, &held->asking);
	if (wait_settled(asker, held))
		*ret_answer = held->answer;
	else
		err = -ESRCH;
	mailbox_post(&asker->sup->mailbox, &held->leaving);
	return err;
}

static bool is_waiting(const void *call)
{
	return call_is_alive(call);
}

int ask_and_wait(const struct call *call, const struct wanted *wanted,
		 struct answer *ret_answer)
{
	struct asker asker = { call->sup, call->thread, is_waiting, call };

	return ask_as(&asker, wanted, ret_answer);
}
