/* Messages to the thread of a loop, see mailbox.h. */
#include "mailbox.h"

#include <sys/eventfd.h>

#include "../../common/limits.h"

static void deliver_all(void *owner, uint32_t events)
{
	struct mailbox *mailbox = owner;
	struct message *message, *next;
	uint64_t count;

	(void)events;
	(void)!read(mailbox->source.fd, &count, sizeof(count));
	(void)pthread_mutex_lock(&mailbox->lock);
	message = mailbox->first;
	mailbox->first = NULL;
	mailbox->last = &mailbox->first;
	mailbox->count = 0;
	(void)pthread_mutex_unlock(&mailbox->lock);
	for (; message; message = next) {
		next = message->next;
		message->deliver(message);
	}
}

int mailbox_open(struct mailbox *mailbox, struct loop *loop)
{
	int err, fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	*mailbox = (struct mailbox){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.loop = loop,
		.source = { .fd = fd, .ready = deliver_all, .owner = mailbox },
	};
	mailbox->last = &mailbox->first;
	err = loop_add(loop, &mailbox->source, EPOLLIN);
	if (err)
		close_quietly(fd);
	return err;
}

void mailbox_post(struct mailbox *mailbox, struct message *message)
{
	static const uint64_t one = 1;
	bool was_empty;

	message->next = NULL;
	(void)pthread_mutex_lock(&mailbox->lock);
	was_empty = !mailbox->first;
	*mailbox->last = message;
	mailbox->last = &message->next;
	mailbox->count++;
	(void)pthread_mutex_unlock(&mailbox->lock);
	/* Cannot fail: the counter is far from its end. */
	if (was_empty)
		(void)!write(mailbox->source.fd, &one, sizeof(one));
}

bool mailbox_is_full(struct mailbox *mailbox)
{
	bool full;

	(void)pthread_mutex_lock(&mailbox->lock);
	full = mailbox->count >= MAILBOX_FULL;
	(void)pthread_mutex_unlock(&mailbox->lock);
	return full;
}
